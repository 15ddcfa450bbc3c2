import { readFileSync } from 'node:fs';
import { productRoot } from '../../lib/product/product-root.js';

/** Content of a file of test/vectors: what the reference was seen to do, recorded once (test/vectors/README.md). */
export function readVectors<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`test/vectors/${name}`, productRoot()), 'utf8')) as T;
}
