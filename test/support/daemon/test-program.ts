import { fileURLToPath } from 'node:url';
import { productRoot } from '../../../lib/product/product-root.js';

/** Path of a program of tests as it is built. @param name `test-daemon.js`, for example */
export function testProgram(name: string): string {
  return fileURLToPath(new URL(`dist/programs/${name}`, productRoot()));
}
