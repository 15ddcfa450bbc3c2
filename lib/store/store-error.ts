/**
 * - `damaged`: the file or an entry in it is not what it should be
 * - `too_new`: a newer version of the program has written it
 * - `in_use`: another living process has it open
 * - `full`: the disk is full, or a quota or file size limit is reached; nothing was changed
 * - `failed`: the disk does not take a commit; what it holds is the state before
 * - `closed`: it was closed
 */
export type StoreErrorCode = 'damaged' | 'too_new' | 'in_use' | 'full' | 'failed' | 'closed';

/** A store that cannot be opened, or a commit that did not happen. */
export class StoreError extends Error {
  override readonly name = 'StoreError';

  /** @param message names the directory of the store */
  constructor(
    readonly code: StoreErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
