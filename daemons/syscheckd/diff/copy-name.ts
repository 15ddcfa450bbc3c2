import { createHash } from 'node:crypto';

/** Name of the folder with the copy of a file: SHA1 of its path in hex (integrity-and-inventory.md 3.10). @param path byte string */
export function copyName(path: string): string {
  return createHash('sha1').update(path, 'latin1').digest('hex');
}
