import { statSync } from 'node:fs';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { productRoot } from '../../../lib/product/product-root.js';

/** A daemon and when it was ready, epoch milliseconds; undefined while it does not run. */
type Started = { readonly daemon: DaemonName; readonly status: { readonly startedAt?: number } };

/**
 * Daemons that still run what was there before an update: they became ready before the product's programs were built or
 * copied here. None where the product does not tell when that was.
 */
export function restartDue(daemons: readonly Started[], updatedAt = productUpdatedAt()): DaemonName[] {
  return daemons
    .filter(({ status: { startedAt } }) => startedAt !== undefined && startedAt < updatedAt)
    .map(({ daemon }) => daemon);
}

/** Written last by a build, and anew by an installation: epoch milliseconds. */
function productUpdatedAt(): number {
  try {
    return statSync(new URL('dist/.build.json', productRoot())).mtimeMs;
  } catch {
    return 0;
  }
}
