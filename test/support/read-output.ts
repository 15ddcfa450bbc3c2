import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { ifPresentSync } from '../../lib/files/if-present.js';
import { compressedPath } from '../../lib/output/dated-files.js';

/**
 * What a dated file holds, by its plain name: svc-monitord compresses it when its day is over. Nothing where there is none.
 * @throws Error of the file system, or of a damaged file
 */
export function readOutput(path: string): Buffer {
  const plain = ifPresentSync(() => readFileSync(path));
  if (plain !== undefined) return plain;
  // The plain file goes when the other one is whole.
  const compressed = ifPresentSync(() => readFileSync(compressedPath(path)));
  return compressed === undefined ? Buffer.alloc(0) : gunzipSync(compressed);
}
