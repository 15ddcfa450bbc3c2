import { BusError } from '../../lib/bus/bus-error.js';
import type { CallParams, CallResult, Contract, MethodName } from '../../lib/bus/contract.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import type { Home } from '../../lib/home/home.js';
import type { DaemonName } from '../../lib/product/daemon-names.js';
import type { ApiRequest } from '../http/api-request.js';
import { daemonFailure } from './daemon-failure.js';

/** Longest wait for a daemon when the client lifted the request time limit, milliseconds; else what is left of it is the longest. */
const MAX_DEADLINE_MS = 600_000;

export type DaemonClientParts<C extends Contract> = {
  readonly home: Home;
  /** Name of this node. */
  readonly node: () => string;
  readonly daemon: DaemonName;
  readonly client: RequestClient<C>;
};

export type DaemonCallOptions = {
  /** Milliseconds; otherwise the request's own time limit ends the wait. */
  readonly deadlineMs?: number;
  /** Gives the call up, in place of the request's own signal. */
  readonly signal?: AbortSignal;
  /** What a client is told of an error; undefined for those that mean the same for all daemons. */
  readonly refusal?: (error: BusError) => Error | undefined | Promise<Error | undefined>;
};

/** Asks another daemon on behalf of a request, and says its failures in the API's codes. */
export class DaemonClient<C extends Contract> {
  constructor(private readonly parts: DaemonClientParts<C>) {}

  /** @throws Error of `refusal`; ApiError 1017 when the daemon does not run, others of {@link daemonFailure} */
  async call<K extends MethodName<C>>(
    request: ApiRequest,
    method: K,
    params: CallParams<C, K>,
    {
      deadlineMs = Math.min(request.leftMs, MAX_DEADLINE_MS),
      signal = request.signal,
      refusal,
    }: DaemonCallOptions = {},
  ): Promise<CallResult<C, K>> {
    const { home, node, daemon, client } = this.parts;
    try {
      return await client.call(method, params, { deadlineMs, signal });
    } catch (error) {
      const refused = error instanceof BusError ? await refusal?.(error) : undefined;
      const failed = { home, node: request.nodeName(node()), daemon, isChange: request.isChange };
      throw refused ?? (await daemonFailure(error, failed));
    }
  }
}
