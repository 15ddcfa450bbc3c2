import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { productRoot } from '../../lib/product/product-root.js';

/**
 * Path of a file or directory of the shared test data, which stand beside the checkout or where `SVC_SHARED_DATA` says;
 * undefined where they are not. A test that needs them is then skipped.
 */
export function sharedData(...segments: string[]): string | undefined {
  const root = process.env['SVC_SHARED_DATA'] ?? fileURLToPath(new URL('../shared/data', productRoot()));
  const path = join(root, ...segments);
  return existsSync(path) ? path : undefined;
}
