import * as z from 'zod';
import { describeError } from '../log/describe-error.js';
import type { Home } from './home.js';
import { checkTrustedDirectory, readTrustedFile, UntrustedFileError } from './trusted-file.js';

/** What a home is for: fixed by `svc-control init [--agent]`, never by configuration (architecture.md 4 "Home"). */
export type HomeRole = 'server' | 'agent';

const schema = z.strictObject({
  version: z.literal(1),
  role: z.enum(['server', 'agent']),
  user: z.string().min(1).max(64).optional(),
  group: z.string().min(1).max(64).optional(),
  uid: z.int().min(0).optional(),
  gid: z.int().min(0).optional(),
});

/**
 * `etc/home.json`: role of the home and, for an installed one, the service user and group (names and numbers).
 * Without a user every daemon runs as whoever starts it.
 */
export type HomeRecord = z.infer<typeof schema>;

/** Thrown when a directory is not a home that can be used; the message is one clear line. */
export class HomeError extends Error {
  override readonly name = 'HomeError';
  readonly code = 'bad_home';
}

/** Longest path of a unix socket that can be bound (sun_path of Linux, without its NUL). */
const MAX_SOCKET_PATH_BYTES = 107;

/** Largest record read. */
const MAX_RECORD_BYTES = 16_384;

/** Longest socket file name a home has to hold, below `var/run/`. */
const LONGEST_SOCKET_NAME = 'svc-logcollector.sock';

/**
 * Refuses a home in which sockets could not be bound.
 * @throws HomeError
 */
export function checkHomePath(home: Home): void {
  const longest = home.path('var', 'run', LONGEST_SOCKET_NAME);
  const bytes = Buffer.byteLength(longest);
  if (bytes > MAX_SOCKET_PATH_BYTES) {
    throw new HomeError(
      `'${home.root}' is too long for a home: socket '${longest}' has ${bytes} bytes, the limit is ${MAX_SOCKET_PATH_BYTES}`,
    );
  }
}

/**
 * Reads and checks `etc/home.json`. It says as which user daemons run, so root takes it only from root (see
 * `readTrustedFile`), and only where nobody else could replace root's files of `var/run`.
 * @throws HomeError when the directory is no home, its path is too long, the record is malformed or not root's
 */
export function readHomeRecord(home: Home): HomeRecord {
  checkHomePath(home);
  const path = home.path('etc', 'home.json');
  let text: string;
  try {
    text = readTrustedFile(home, 'etc/home.json', MAX_RECORD_BYTES).toString('utf8');
    checkTrustedDirectory(home, 'var/run');
  } catch (error) {
    if (error instanceof UntrustedFileError) throw new HomeError(error.message);
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new HomeError(`'${home.root}' is not a home (make one with: svc-control init --home ${home.root})`);
    }
    throw new HomeError(`the home cannot be read: ${describeError(error)}`);
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new HomeError(`'${path}' is not valid JSON: ${(error as Error).message}`);
  }
  const result = schema.safeParse(parsed);
  if (!result.success) {
    const issue = result.error.issues[0];
    throw new HomeError(`'${path}': ${issue?.path.join('.') || 'content'}: ${issue?.message ?? 'invalid'}`);
  }
  return result.data;
}
