import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { CommandModuleConfig } from '../../../lib/config/sections/modules.js';
import { describeError } from '../../../lib/log/describe-error.js';

/** In the order in which they are checked. */
const CHECKSUMS = [
  { name: 'MD5', algorithm: 'md5', element: 'verify_md5' },
  { name: 'SHA1', algorithm: 'sha1', element: 'verify_sha1' },
  { name: 'SHA256', algorithm: 'sha256', element: 'verify_sha256' },
] as const;

type Sums = Pick<CommandModuleConfig, (typeof CHECKSUMS)[number]['element']>;

/** Names of the checksums that a program does not have. @throws Error when it cannot be read */
export async function wrongChecksums(path: string, wanted: Sums, signal: AbortSignal): Promise<string[]> {
  const checked = CHECKSUMS.filter(({ element }) => wanted[element] !== undefined);
  if (checked.length === 0) return [];
  const hashes = checked.map(({ algorithm }) => createHash(algorithm));
  try {
    for await (const chunk of createReadStream(path, { signal })) {
      for (const hash of hashes) hash.update(chunk as Buffer);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`'${path}' cannot be read to be verified: ${describeError(error)}`, { cause: error });
  }
  const sums = hashes.map((hash) => hash.digest('hex'));
  return checked.filter(({ element }, index) => sums[index] !== wanted[element]).map(({ name }) => name);
}
