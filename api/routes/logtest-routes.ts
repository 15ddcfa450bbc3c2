import type { analysisdContract } from '../../lib/bus/contracts/analysisd.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import type { Home } from '../../lib/home/home.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, Handlers } from '../http/api-request.js';
import { type ApiResult, dataResult } from '../http/envelope.js';
import { daemonFailure } from './daemon-call.js';

/** Longest wait for the engine when the client lifted the request time limit, milliseconds. */
const MAX_DEADLINE_MS = 600_000;

export type LogtestRouteParts = {
  readonly home: Home;
  readonly node: () => string;
  readonly analysisd: RequestClient<typeof analysisdContract>;
};

type Reply = { readonly error: number; readonly message?: string | undefined; readonly data: Record<string, unknown> };

/** Test sessions of the engine (rest-api.md 6.8). The answer is the engine's. */
export function logtestRoutes(parts: LogtestRouteParts): Handlers {
  const ask = async (request: ApiRequest, call: () => Promise<Reply>): Promise<ApiResult> => {
    request.caller.permissions.require('logtest:run');
    let reply: Reply;
    try {
      reply = await call();
    } catch (error) {
      throw await daemonFailure(error, parts.home, request.nodeName(parts.node()), 'svc-analysisd');
    }
    if (reply.error !== 0) {
      const text = reply.message ?? '';
      throw new ApiError(7000, { extra: text.startsWith('ERROR: ') ? text : `ERROR: ${text}` });
    }
    // The engine leaves out an empty list, which clients of the API rely on.
    return dataResult({ messages: [], ...reply.data });
  };
  return {
    putLogtest: (request) =>
      ask(request, () =>
        parts.analysisd.call('logtest.run', request.body, {
          deadlineMs: MAX_DEADLINE_MS,
          signal: request.signal,
        }),
      ),
    deleteLogtestSessionsToken: (request) =>
      ask(request, () =>
        parts.analysisd.call('logtest.close', { token: request.parameters.token }, { signal: request.signal }),
      ),
  };
}
