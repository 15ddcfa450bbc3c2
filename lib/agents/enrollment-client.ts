import { X509Certificate } from 'node:crypto';
import { connect, type ConnectionOptions } from 'node:tls';
import { describeError } from '../log/describe-error.js';
import { certificateNames } from '../tls/certificate-host.js';
import { type KeyText, parseKeyText } from './key-text.js';

/** From connecting to the last byte of the answer: a server that says nothing must not hold an agent for ever. */
const DEADLINE_MS = 30_000;
/** Longest answer read: four fields of at most 127 characters, or an error. Stops a server from filling memory. */
const MAX_REPLY_BYTES = 4096;
const ERROR_HEAD = 'ERROR: ';

/** What an agent asks for (agents-and-groups.md 2.3). */
export type EnrollmentRequest = {
  readonly name: string;
  /** `v4.14.7`. */
  readonly version: string;
  readonly password?: string | undefined;
  /** As the manager takes them: separated by commas. */
  readonly groups?: string | undefined;
  /** An address, a network, `any`, or `src`: the one the manager sees. */
  readonly address?: string | undefined;
  /** `enrollmentKeyHash` of the key the agent holds already. */
  readonly keyHash?: string | undefined;
};

/** Where to ask, and how the channel is made. */
export type EnrollmentServer = {
  readonly host: string;
  readonly port: number;
  /** Versions, ciphers, own certificate, and `ca` when the manager's certificate is to be verified. */
  readonly tls: ConnectionOptions;
};

/** No key was given; the message is one clear line without a secret. */
export class EnrollmentError extends Error {
  override readonly name = 'EnrollmentError';
}

/** A quote or a line feed would end the field or the request. */
const BREAKS = /['\n\r\0]/;

/** The line that is sent. @throws EnrollmentError for a value that would break it */
export function enrollmentRequestText(request: EnrollmentRequest): string {
  const { name, version, password, groups, address, keyHash } = request;
  if (password !== undefined && (password === '' || /[\n\0]/.test(password))) {
    throw new EnrollmentError('The password is empty or has more than one line.');
  }
  const field = (letter: string, what: string, value: string | undefined): string => {
    if (value === undefined) return '';
    if (value === '' || BREAKS.test(value)) throw new EnrollmentError(`Invalid ${what}: '${value}'.`);
    return ` ${letter}:'${value}'`;
  };
  // The order counts: what stands out of it is ignored.
  return [
    password === undefined ? '' : `OSSEC PASS: ${password} `,
    `OSSEC${field('A', 'agent name', name)}`,
    field('V', 'version', version),
    field('G', 'group list', groups),
    field('IP', 'address', address),
    field('K', 'hash', keyHash),
    '\n',
  ].join('');
}

/** Reads an answer. @throws EnrollmentError with the manager's words */
export function parseEnrollmentReply(reply: string): KeyText {
  const key = /^OSSEC K:'([^']*)'/.exec(reply)?.[1];
  if (key !== undefined) {
    const parsed = parseKeyText(key);
    if (parsed === undefined) throw new EnrollmentError('The manager answered with a key that is not valid.');
    return parsed;
  }
  if (reply.startsWith(ERROR_HEAD)) {
    const text = reply
      .slice(ERROR_HEAD.length)
      .replace(/[\p{Cc}]+/gu, ' ')
      .trim();
    throw new EnrollmentError(`${text} (from manager)`);
  }
  throw new EnrollmentError(
    reply === '' ? 'The manager closed without an answer.' : 'The answer is none of a manager.',
  );
}

/**
 * Asks a manager for a key over TLS. With an authority in `server.tls.ca` the manager's certificate must be signed by it
 * and made for the host asked; without one any certificate is taken, as agents do.
 * @param signal ends it early
 * @throws EnrollmentError
 */
export async function requestAgentKey(
  server: EnrollmentServer,
  request: EnrollmentRequest,
  signal?: AbortSignal,
): Promise<KeyText> {
  const text = enrollmentRequestText(request);
  let reply: string;
  try {
    reply = await exchange(server, text, bounded(signal));
  } catch (error) {
    const reason = describeError(error);
    throw new EnrollmentError(`Unable to enrol at [${server.host}]:${server.port}: ${reason}`, { cause: error });
  }
  return parseEnrollmentReply(reply);
}

function bounded(signal: AbortSignal | undefined): AbortSignal {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  return signal === undefined ? deadline : AbortSignal.any([deadline, signal]);
}

/** Sends the line and reads until the answer is whole or the manager closes. */
function exchange({ host, port, tls }: EnrollmentServer, text: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = connect({
      host,
      port,
      rejectUnauthorized: tls.ca !== undefined,
      checkServerIdentity: (_name, { raw }) =>
        certificateNames(new X509Certificate(raw), host)
          ? undefined
          : new Error(`its certificate is not made for '${host}'`),
      ...tls,
    });
    let reply = '';
    const finish = (error?: unknown): void => {
      signal.removeEventListener('abort', abort);
      socket.destroy();
      if (error === undefined) resolve(reply);
      else reject(error instanceof Error ? error : new Error(String(error)));
    };
    const abort = (): void => {
      finish(signal.reason);
    };
    signal.addEventListener('abort', abort);
    socket.once('secureConnect', () => socket.write(text, 'latin1'));
    socket.on('data', (chunk: Buffer) => {
      reply += chunk.toString('latin1');
      if (/^OSSEC K:'[^']*'/.test(reply)) finish();
      else if (reply.length > MAX_REPLY_BYTES) finish(new Error('the answer is too long'));
    });
    // An error before any answer says what is wrong; after one, the answer counts.
    socket.once('error', (error) => {
      finish(reply === '' ? error : undefined);
    });
    socket.once('close', () => {
      finish();
    });
  });
}
