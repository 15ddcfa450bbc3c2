import type { analysisdContract } from '../../lib/bus/contracts/analysisd.js';
import type { DaemonClient } from '../daemons/daemon-client.js';
import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import { type ApiResult, dataResult } from '../http/envelope.js';
import { deniedRuleset } from '../rbac/denied-error.js';

/** What the engine may take to end a session, milliseconds. */
const CLOSE_DEADLINE_MS = 10_000;

/** What the engine says of a session. */
type LogtestAnswer = {
  readonly error: number;
  readonly message?: string | undefined;
  readonly data: Record<string, unknown>;
};

/** Test sessions of the engine (rest-api.md 6.8). The answer is the engine's. */
export function logtestRoutes(analysisd: DaemonClient<typeof analysisdContract>): OperationHandlers {
  const ask = async (call: () => Promise<LogtestAnswer>): Promise<ApiResult> => {
    const reply = await call();
    if (reply.error !== 0) {
      const text = reply.message ?? '';
      throw new ApiError(7000, { extra: text.startsWith('ERROR: ') ? text : `ERROR: ${text}` });
    }
    // The engine leaves out an empty list, which clients of the API rely on.
    return dataResult({ messages: [], ...reply.data });
  };
  return {
    putLogtest: (request) => {
      const { explain = false, why } = request.body.options ?? {};
      // Both tell what is in rules, decoders and lists, also of those that the line does not come to.
      if ((explain || why !== undefined) && !request.permitted.whole) throw deniedRuleset();
      return ask(() => analysisd.call(request, 'logtest.run', request.body));
    },
    deleteLogtestSessionsToken: (request) =>
      ask(() =>
        analysisd.call(
          request,
          'logtest.close',
          { token: request.parameters.token },
          { deadlineMs: CLOSE_DEADLINE_MS },
        ),
      ),
  };
}
