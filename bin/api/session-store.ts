import { mkdirSync, readFileSync, rmSync, type Stats } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import * as z from 'zod';
import { ifPresentSync } from '../../lib/files/if-present.js';
import { NotRegularFileError, withRegularFileSync } from '../../lib/files/regular-file.js';
import { writeFileAtomically } from '../../lib/files/write-file-atomically.js';
import { ApiUsageError } from './usage-error.js';

/** A token is some hundred bytes, a chain of certificates some thousand. */
const MAX_BYTES = 262_144;
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

const trust = z.discriminatedUnion('kind', [
  /** Signed by an authority: of the system, or one that was given. */
  z.object({ kind: z.literal('authority'), pem: z.string().optional() }),
  /** This very certificate. SHA-256 as OpenSSL writes it. */
  z.object({ kind: z.literal('certificate'), fingerprint: z.string() }),
  /** No encryption; on this host alone. */
  z.object({ kind: z.literal('loopback') }),
]);

const session = z.object({
  version: z.literal(1),
  user: z.string(),
  token: z.string(),
  /** Where the API is; on the manager's own host the home says so each time. */
  api: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('home'), root: z.string() }),
    z.object({ kind: z.literal('url'), url: z.string(), trust }),
  ]),
  /** Made without being asked, with the first password of a new manager. */
  initial: z.boolean(),
});

/** How a client knows that it speaks with the right API. */
export type ApiTrust = z.infer<typeof trust>;
/** A login: whose, where, and the token it gave. */
export type ApiSession = z.infer<typeof session>;

/** The login of whoever names none. */
export const DEFAULT_SESSION = 'default';

/** The command that logs in under a name of a login. */
export function loginCommand(name: string): string {
  return name === DEFAULT_SESSION ? 'svc-api login' : `svc-api login --session ${name}`;
}

/** A file of a session that must not be used; the message says what to do. */
export class SessionError extends Error {
  override readonly name = 'SessionError';
}

/** Keeps logins in files of whoever is logged in: `$XDG_STATE_HOME/security-manager/api-sessions/NAME.json`. */
export class SessionStore {
  readonly #directory: string;
  readonly path: string;

  /** @param name for who works with several logins @throws ApiUsageError for what can be no name */
  constructor(name: string, environment: NodeJS.ProcessEnv) {
    if (!NAME.test(name)) throw new ApiUsageError(`'${name}' is no name of a session: letters, digits, _, - and .`);
    const given = environment['XDG_STATE_HOME'] ?? '';
    const state = isAbsolute(given) ? given : join(environment['HOME'] ?? homedir(), '.local', 'state');
    this.#directory = join(state, 'security-manager', 'api-sessions');
    this.path = join(this.#directory, `${name}.json`);
  }

  /**
   * The login; undefined when there is none.
   * @throws SessionError for a file that others could have read or written, or that is damaged
   */
  read(): ApiSession | undefined {
    try {
      return ifPresentSync(() => withRegularFileSync(this.path, (file, stats) => this.#parse(file, stats)));
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof z.ZodError) throw this.#unusable('is damaged');
      if (error instanceof NotRegularFileError) throw this.#unusable(error.isLink ? 'is a link' : 'is no file');
      throw error;
    }
  }

  #parse(file: number, { mode, size, uid }: Stats): ApiSession {
    if (size > MAX_BYTES) throw this.#unusable('is no small file');
    if (uid !== process.geteuid?.()) throw this.#unusable('belongs to another user');
    if ((mode & 0o077) !== 0) throw this.#unusable('can be read or written by others');
    return session.parse(JSON.parse(readFileSync(file, 'utf8')));
  }

  /** @throws the file system's error */
  write(value: ApiSession): void {
    mkdirSync(this.#directory, { recursive: true, mode: DIRECTORY_MODE });
    writeFileAtomically(this.path, `${JSON.stringify(value)}\n`, { mode: FILE_MODE });
  }

  /** Takes the login away, also one that must not be used. */
  remove(): void {
    rmSync(this.path, { force: true });
  }

  #unusable(reason: string): SessionError {
    return new SessionError(`'${this.path}' is not used: it ${reason}. Log in again: svc-api logout; svc-api login`);
  }
}
