import { BusError } from '../../lib/bus/bus-error.js';
import type { CallParams, CallResult } from '../../lib/bus/contract.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import { queryErrorOf } from '../../lib/bus/contracts/db-agents.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import type { Home } from '../../lib/home/home.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest } from '../http/api-request.js';
import { daemonFailure } from '../routes/daemon-call.js';

/** Longest wait for svc-db when the client lifted the request time limit, milliseconds. */
const MAX_DEADLINE_MS = 600_000;

type Methods = keyof typeof dbContract.methods;

/** Asks svc-db for a request, and says its failures in the API's codes. */
export class AgentDirectory {
  constructor(
    private readonly home: Home,
    private readonly client: RequestClient<typeof dbContract>,
    private readonly node: () => string,
  ) {}

  /** @throws ApiError of the list parameters, 1710, 1017 when svc-db does not run */
  async call<K extends Methods & string>(
    request: ApiRequest,
    method: K,
    params: CallParams<typeof dbContract, K>,
  ): Promise<CallResult<typeof dbContract, K>> {
    try {
      return await this.client.call(method, params, { deadlineMs: MAX_DEADLINE_MS, signal: request.signal });
    } catch (error) {
      const query = queryErrorOf(error);
      if (query !== undefined) {
        throw new ApiError(query.code, query.extra === undefined ? {} : { extra: query.extra });
      }
      if (error instanceof BusError && error.code === 'unknown_group') throw new ApiError(1710);
      throw await daemonFailure(error, this.home, request.nodeName(this.node()), 'svc-db');
    }
  }
}
