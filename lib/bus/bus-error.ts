/**
 * Codes the bus itself uses; a daemon may answer codes of its own beside them.
 *
 * - `unavailable`: the daemon does not run, cannot be reached, or went away during the call (`isUnclear` then)
 * - `unresponsive`: the daemon is connected and does nothing; whether the call was carried out is not known
 * - `timeout`: no answer within the deadline; whether the call was carried out is not known
 * - `unknown_method`, `bad_params`, `too_large`: the request was refused before anything was done
 * - `busy`: a limit on calls or on unacknowledged events is reached; nothing was done, try again later
 * - `refused`: events that no sink has taken; they were withdrawn, so that none will
 * - `unconfirmed`: events of which some may have been taken; the others were withdrawn
 * - `internal`: the daemon failed while it answered, or answered something its contract does not allow
 * - `closed`: this side was closed; a call that was sent may be carried out (`isUnclear` then)
 * - `in_use`, `bad_path`: the socket cannot be bound
 */
export type BusErrorCode =
  | 'unavailable'
  | 'unresponsive'
  | 'timeout'
  | 'unknown_method'
  | 'bad_params'
  | 'too_large'
  | 'busy'
  | 'refused'
  | 'unconfirmed'
  | 'internal'
  | 'closed'
  | 'in_use'
  | 'bad_path';

/** A failed call, send or bind. A handler throws one to answer the caller with its code and message. */
export class BusError extends Error {
  override readonly name = 'BusError';
  /** Whether the daemon may have carried the call out all the same, or may still do so. */
  readonly isUnclear: boolean;

  /**
   * @param code one of {@link BusErrorCode} or a code of the daemon's own (lower case, underscores)
   * @param message what a user may read: no secrets, no stack
   */
  constructor(
    readonly code: BusErrorCode | (string & {}),
    message: string,
    options?: ErrorOptions & { readonly isUnclear?: boolean },
  ) {
    super(message, options);
    this.isUnclear = options?.isUnclear ?? (code === 'timeout' || code === 'unresponsive');
  }
}
