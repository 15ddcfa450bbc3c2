import { fileURLToPath } from 'node:url';
import { productRoot } from '../../../lib/product/product-root.js';

/** Path of a program as users call it, in bin/. */
export function productProgram(name: string): string {
  return fileURLToPath(new URL(`bin/${name}`, productRoot()));
}
