import { readFileSync } from 'node:fs';
import { ifPresentSync } from '../files/if-present.js';
import { NotRegularFileError, withRegularFileSync } from '../files/regular-file.js';
import { writeFileAtomically } from '../files/write-file-atomically.js';
import type { Home } from '../home/home.js';

/** Name and password for the search engine; an empty one is not set. */
export type IndexerSecret = { readonly username: string; readonly password: string };

/** What was read, and whether it is to be told that others can read it, too. */
export type ReadSecret = IndexerSecret & { readonly worldReadable: boolean };

/** Two lines: more is no secret file. */
const MAX_BYTES = 16_384;
const MODE = 0o640;
const OTHERS_WRITE = 0o022;
const OTHERS_READ = 0o004;
/** `password=...`; the value is the rest of the line. */
const LINE = /^(username|password)=(.*)$/;

/** `etc/indexer.secret` (indexer.md 4.2). */
export function indexerSecretPath(home: Home): string {
  return home.path('etc', 'indexer.secret');
}

/**
 * Reads the secret file.
 * @returns undefined when there is none
 * @throws Error naming file and line, never what stands there
 */
export function readIndexerSecret(path: string): ReadSecret | undefined {
  return ifPresentSync(() => {
    try {
      return withRegularFileSync(path, (fd, { mode, size }) => {
        if ((mode & OTHERS_WRITE) !== 0) {
          throw new Error(`'${path}' may be written by its group or by others: its mode has to be 0640`);
        }
        if (size > MAX_BYTES) throw new Error(`'${path}' has more than ${String(MAX_BYTES)} bytes`);
        return { ...parse(path, readFileSync(fd, 'utf8')), worldReadable: (mode & OTHERS_READ) !== 0 };
      });
    } catch (error) {
      if (error instanceof NotRegularFileError) throw new Error(`'${path}' is no regular file`, { cause: error });
      throw error;
    }
  });
}

/**
 * Replaces the secret file whole; it is for its owner and its group alone.
 * @param owner whose it is to be, where this process may say so
 * @throws the file system's error
 */
export function writeIndexerSecret(
  path: string,
  { username, password }: IndexerSecret,
  { uid, gid }: { readonly uid: number; readonly gid: number },
): void {
  const owner = process.geteuid?.() === 0 ? { uid, gid } : undefined;
  writeFileAtomically(path, `username=${username}\npassword=${password}\n`, {
    mode: MODE,
    durable: true,
    ...(owner === undefined ? {} : { owner }),
  });
}

function parse(path: string, text: string): IndexerSecret {
  const secret = { username: '', password: '' };
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, name, value = ''] = LINE.exec(line) ?? [];
    if (name === undefined) {
      throw new Error(`'${path}' line ${String(index + 1)}: it has to be 'username=...' or 'password=...'`);
    }
    secret[name === 'username' ? 'username' : 'password'] = value;
  }
  return secret;
}
