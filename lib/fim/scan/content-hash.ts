import { createHash, type Hash, hash } from 'node:crypto';
import { CHECKS } from '../checks.js';
import type { ContentHashes } from '../entry-checksum.js';

const ALGORITHMS = [
  ['md5', CHECKS.hash_md5],
  ['sha1', CHECKS.hash_sha1],
  ['sha256', CHECKS.hash_sha256],
] as const;

/** Hashes of a whole content in memory. @param wanted bits of `CHECKS` */
export function hashesOf(content: Buffer, wanted: number): ContentHashes {
  const hashes: { -readonly [Name in keyof ContentHashes]: string } = {};
  for (const [name, bit] of ALGORITHMS) if (wanted & bit) hashes[name] = hash(name, content, 'hex');
  return hashes;
}

/** Several hashes of a content that comes in pieces: it is read once. */
export class ContentHash {
  readonly #hashes: (readonly [keyof ContentHashes, Hash])[];

  /** @param wanted bits of `CHECKS` */
  constructor(wanted: number) {
    this.#hashes = ALGORITHMS.filter(([, bit]) => wanted & bit).map(([name]) => [name, createHash(name)]);
  }

  update(piece: Buffer): void {
    for (const [, hash] of this.#hashes) hash.update(piece);
  }

  /** Ends the hashes. */
  digest(): ContentHashes {
    return Object.fromEntries(this.#hashes.map(([name, hash]) => [name, hash.digest('hex')]));
  }
}
