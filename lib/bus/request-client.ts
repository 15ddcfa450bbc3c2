import { BusError } from './bus-error.js';
import type { CallParams, CallResult, Contract, MethodName } from './contract.js';

export type RequestClientOptions<C extends Contract> = {
  readonly contract: C;
  /** Socket path, `home.socket(daemon)`. */
  readonly path: string;
};

export type CallOptions = {
  /** Milliseconds until the call fails with `timeout`; default `DEFAULT_DEADLINE_MS`. */
  readonly deadlineMs?: number;
  /** Gives the call up: it fails with the signal's reason. The daemon may still carry it out. */
  readonly signal?: AbortSignal;
};

/** Calls one daemon. Many calls run at once; it connects when first used, and again after the daemon was restarted. */
export class RequestClient<C extends Contract> {
  constructor(private readonly options: RequestClientOptions<C>) {}

  /**
   * @throws BusError `unavailable` (within 2 s), `timeout`, `bad_params` (the message names the field), `too_large`,
   * `busy`, `internal`, `closed`, or a code of the daemon's own
   */
  call<K extends MethodName<C>>(
    method: K,
    _params: CallParams<C, K>,
    _options?: CallOptions,
  ): Promise<CallResult<C, K>> {
    return Promise.reject(new BusError('unavailable', `not built yet: ${method} on ${this.options.path}`));
  }

  /** Closes the socket; calls under way fail with `closed`. */
  close(): void {}
}
