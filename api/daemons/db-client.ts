import type { BusError } from '../../lib/bus/bus-error.js';
import type { CallParams, CallResult, MethodName } from '../../lib/bus/contract.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import { queryErrorOf } from '../../lib/bus/contracts/db-agents.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest } from '../http/api-request.js';
import type { DaemonCallOptions, DaemonClient } from './daemon-client.js';

/** Asks svc-db for what is stored of agents, groups, files, findings and alerts. */
export class DbClient {
  constructor(private readonly db: DaemonClient<typeof dbContract>) {}

  /** @throws ApiError of the list parameters, 1710, 8000, 8001, 8003, 1017 when svc-db does not run */
  call<K extends MethodName<typeof dbContract>>(
    request: ApiRequest,
    method: K,
    params: CallParams<typeof dbContract, K>,
    options: Pick<DaemonCallOptions, 'deadlineMs' | 'signal'> = {},
  ): Promise<CallResult<typeof dbContract, K>> {
    return this.db.call(request, method, params, { ...options, refusal });
  }
}

function refusal(error: BusError): ApiError | undefined {
  const query = queryErrorOf(error);
  if (query !== undefined) return new ApiError(query.code, query.extra === undefined ? {} : { extra: query.extra });
  switch (error.code) {
    case 'unknown_group':
      return new ApiError(1710);
    case 'disabled':
      return new ApiError(8000);
    case 'unknown_alert':
      return new ApiError(8001);
    case 'bad_search':
      return new ApiError(8003, { extra: error.message });
    default:
      return undefined;
  }
}
