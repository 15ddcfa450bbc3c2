import { StoreError, type StoreErrorCode } from '../../lib/store/store-error.js';

/** The store cannot be used: damaged, or written by a newer version. */
export class RbacStoreError extends Error {
  override readonly name = 'RbacStoreError';
  readonly code = 2012;

  /** @param reason why, as `StoreErrorCode`; `new` when there is nobody in it where somebody should be */
  constructor(
    readonly reason: StoreErrorCode | 'new',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What is no fault of the store itself keeps its own error. */
export function unusable(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error;
  const text =
    error.code === 'damaged' ? 'Error while attempting to check RBAC database integrity' : 'Error in the RBAC database';
  return new RbacStoreError(error.code, `2012 - ${text}: ${error.message}`, { cause: error });
}
