import { createHash } from 'node:crypto';
import { accessSync, constants, createReadStream, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { CommandModuleConfig } from '../../../lib/config/sections/modules.js';
import { describeError } from '../../../lib/log/describe-error.js';
import { PROGRAM_PATH } from '../../../lib/process/process-group.js';

/** In the order in which they are checked. */
const CHECKSUMS = [
  { name: 'MD5', algorithm: 'md5', element: 'verify_md5' },
  { name: 'SHA1', algorithm: 'sha1', element: 'verify_sha1' },
  { name: 'SHA256', algorithm: 'sha256', element: 'verify_sha256' },
] as const;

/** Whole path of a program: as it is given, from the home, or where the system has its programs. @throws Error */
export function findProgram(name: string, home: string): string {
  if (isAbsolute(name)) return name;
  if (name.includes('/')) return resolve(home, name);
  const found = PROGRAM_PATH.split(':')
    .map((directory) => join(directory, name))
    .find(isProgram);
  if (found === undefined) throw new Error(`there is no program '${name}' in ${PROGRAM_PATH}`);
  return found;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

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
