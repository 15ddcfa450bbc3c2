import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolveHome } from '../../lib/home/resolve-home.js';
import { ApiClient, showCertificate } from './api-client.js';
import type { ApiStreams } from './api-streams.js';
import { type ApiEndpoint, homeEndpoint, INITIAL_USER, initialPassword } from './manager-host.js';
import { firstLine, readPassword } from './password.js';
import { refusalText } from './refusal.js';
import {
  type ApiSession,
  type ApiTrust,
  DEFAULT_SESSION,
  loginCommand,
  SessionError,
  SessionStore,
} from './session-store.js';
import { ApiUsageError } from './usage-error.js';

/** What all commands have: which login, and of which manager. */
export type SessionOptions = { readonly session: string; readonly home?: string };

export type LoginOptions = SessionOptions & {
  readonly url?: string;
  readonly user?: string;
  readonly passwordFile?: string;
  readonly caFile?: string;
  readonly fingerprint?: string;
};

/** The name or the password is wrong, or this address is blocked for a while. */
export class LoginError extends Error {
  override readonly name = 'LoginError';
}

/**
 * Logs in and keeps the token, never the password.
 * @returns the login as it was kept
 * @throws ApiUsageError, SessionError, LoginError, ApiConnectionError, CalledOffError
 */
export async function login(options: LoginOptions, streams: ApiStreams): Promise<ApiSession> {
  const store = new SessionStore(options.session, streams.environment);
  const endpoint = await loginEndpoint(options, streams);
  const user = options.user ?? INITIAL_USER;
  const initial = options.user === undefined && options.passwordFile === undefined && endpoint.home !== undefined;
  const first = initial && endpoint.home !== undefined ? initialPassword(endpoint.home) : undefined;
  const question = `Password of ${user} at ${endpoint.url.origin}: `;
  const password = first ?? (await readPassword(streams, options.passwordFile, question));
  return logInAs({ store, endpoint, user, password, initial: first !== undefined });
}

/** Ends the login: its token, with all others of this user, and the file. */
export async function logout(options: SessionOptions, streams: ApiStreams): Promise<string> {
  const store = new SessionStore(options.session, streams.environment);
  let ended: string;
  try {
    const kept = store.read();
    if (kept === undefined) return 'There was no login.';
    const answer = await new ApiClient(endpointOf(kept), kept.token).send({
      method: 'DELETE',
      path: '/security/user/authenticate',
    });
    if (answer.status === 200) ended = `Logged out: all tokens of ${kept.user} have ended.`;
    else if (answer.status === 401) ended = 'Logged out: the token had ended before.';
    else ended = `The login is forgotten here; its token was not ended: ${refusalText(answer)}`;
  } catch (error) {
    ended = `The login is forgotten here; its token was not ended: ${(error as Error).message}`;
  } finally {
    store.remove();
  }
  return ended;
}

/** A login that is kept, with a way to make it anew where that needs nobody. */
export class ApiLogin {
  #client: ApiClient;

  private constructor(
    readonly session: ApiSession,
    private readonly store: SessionStore,
  ) {
    this.#client = new ApiClient(endpointOf(session), session.token);
  }

  /**
   * The login that was named. Where none was, whoever may read the first password of a manager on this host needs none;
   * but never in place of a login that somebody made: nobody becomes the administrator by a wrong name or home.
   * @throws SessionError when there is none, or when it is one to another API than the home that was chosen
   */
  static async open(options: SessionOptions, streams: ApiStreams): Promise<ApiLogin> {
    const store = new SessionStore(options.session, streams.environment);
    const isNamed = options.session !== DEFAULT_SESSION;
    // A name says more than the environment, and less than an option.
    const chosen = options.home ?? (isNamed ? undefined : streams.environment['SVC_HOME']);
    const home = resolveHome(options.home, streams.environment);
    const kept = store.read();
    if (kept !== undefined) {
      const isThere = kept.api.kind === 'home' && kept.api.root === home.root;
      if (chosen === undefined || isThere) return new ApiLogin(kept, store);
      if (!kept.initial) {
        const where = kept.api.kind === 'home' ? kept.api.root : kept.api.url;
        throw new SessionError(
          `the login '${options.session}' is to ${where}, not to '${home.root}'; --session NAME keeps another one beside it`,
        );
      }
    }
    if (isNamed) {
      throw new SessionError(`there is no login '${options.session}': ${loginCommand(options.session)}`);
    }
    const endpoint = homeEndpoint(home);
    const password = initialPassword(home);
    if (password === undefined) {
      throw new SessionError(`not logged in${chosen === undefined ? '' : ` to '${home.root}'`}: svc-api login`);
    }
    streams.writeError(`svc-api: logged in as ${INITIAL_USER} with the password that the manager began with\n`);
    return new ApiLogin(await logInAs({ store, endpoint, user: INITIAL_USER, password, initial: true }), store);
  }

  get client(): ApiClient {
    return this.#client;
  }

  /** Makes a login anew that was made without being asked. @returns whether there is another token now */
  async renew(): Promise<boolean> {
    const { session, store } = this;
    const endpoint = endpointOf(session);
    const password = session.initial && endpoint.home !== undefined ? initialPassword(endpoint.home) : undefined;
    if (password === undefined) return false;
    const { token } = await logInAs({ store, endpoint, user: session.user, password, initial: true });
    this.#client = new ApiClient(endpoint, token);
    return true;
  }
}

type LoginParts = {
  readonly store: SessionStore;
  readonly endpoint: ApiEndpoint;
  readonly user: string;
  readonly password: string;
  readonly initial: boolean;
};

async function logInAs({ store, endpoint, user, password, initial }: LoginParts): Promise<ApiSession> {
  if (user.includes(':')) throw new ApiUsageError('a name of a user has no colon');
  const answer = await new ApiClient(endpoint).send({
    method: 'POST',
    path: '/security/user/authenticate',
    query: new Map([['raw', 'true']]),
    headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` },
  });
  if (answer.status === 401) throw new LoginError(`name or password of '${user}' is wrong (${endpoint.url.origin})`);
  if (answer.status !== 200) throw new LoginError(refusalText(answer));
  const { home, trust, url } = endpoint;
  const session: ApiSession = {
    version: 1,
    user,
    token: answer.text.trim(),
    api: home === undefined ? { kind: 'url', url: url.origin, trust } : { kind: 'home', root: home.root },
    initial,
  };
  store.write(session);
  return session;
}

function endpointOf({ api }: ApiSession): ApiEndpoint {
  return api.kind === 'home' ? homeEndpoint(resolveHome(api.root)) : { url: new URL(api.url), trust: api.trust };
}

async function loginEndpoint(options: LoginOptions, streams: ApiStreams): Promise<ApiEndpoint> {
  if (options.url === undefined) {
    if (options.caFile !== undefined || options.fingerprint !== undefined) {
      throw new ApiUsageError('--ca-file and --fingerprint need --url: the certificate of this host is known');
    }
    return homeEndpoint(resolveHome(options.home, streams.environment));
  }
  const url = parseUrl(options.url);
  return { url, trust: await trustOf(url, options, streams) };
}

function parseUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text.includes('://') ? text : `https://${text}`);
  } catch {
    throw new ApiUsageError(`'${text}' is no address of an API: https://HOST:55000`);
  }
  const plain = url.protocol === 'http:';
  if (!plain && url.protocol !== 'https:') throw new ApiUsageError(`'${text}' is no address of an API: https://...`);
  if (url.username !== '' || url.password !== '') throw new ApiUsageError('no name and password in --url: --user');
  if (url.pathname !== '/' || url.search !== '') throw new ApiUsageError(`no path in --url: ${url.origin}`);
  if (plain && !isLoopback(url.hostname)) {
    throw new ApiUsageError('without encryption everybody on the way reads the password: https://');
  }
  return url;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Whom this program believes to be the API; somebody has to say so when no authority does. */
async function trustOf(url: URL, options: LoginOptions, streams: ApiStreams): Promise<ApiTrust> {
  if (url.protocol === 'http:') return { kind: 'loopback' };
  if (options.caFile !== undefined) return { kind: 'authority', pem: readCertificates(options.caFile) };
  const shown = await showCertificate(url);
  if (options.fingerprint !== undefined) {
    if (bare(options.fingerprint) !== bare(shown.fingerprint)) {
      throw new SessionError(`${url.origin} has another certificate: ${shown.fingerprint}. Nothing was sent`);
    }
    return { kind: 'certificate', fingerprint: shown.fingerprint };
  }
  if (shown.authorized) return { kind: 'authority' };
  const text =
    `No authority of this system vouches for ${url.origin}. The SHA-256 of its certificate is\n  ${shown.fingerprint}\n` +
    'On the manager, this shows what it should be:\n' +
    '  openssl x509 -noout -fingerprint -sha256 -in HOME/api/configuration/ssl/server.crt\n';
  streams.writeError(text);
  if (streams.terminalInput === undefined) {
    throw new ApiUsageError('no terminal to ask whether this is right: --fingerprint SHA256 or --ca-file FILE');
  }
  streams.writeError('Is it the same? [y/N]: ');
  if (!/^y(es)?$/i.test((await firstLine(streams.input)) ?? '')) throw new SessionError('not logged in');
  return { kind: 'certificate', fingerprint: shown.fingerprint };
}

function readCertificates(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ApiUsageError(`the certificates cannot be read: ${(error as Error).message}`);
  }
}

/** A fingerprint without colons and case. */
function bare(fingerprint: string): string {
  return fingerprint.replace(/^sha-?256[:=]|:/gi, '').toUpperCase();
}
