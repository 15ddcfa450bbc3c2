import { connect } from 'node:net';
import { fromByteString } from '../../lib/engine/byte-string.js';
import { type LogtestReply, membersOf } from '../../lib/logtest/logtest-request.js';
import { type LogtestBackend, LogtestConnectionError, type LogtestEvent } from './logtest-backend.js';

/** The first event of a session waits for a ruleset to be loaded, which takes seconds for the largest. */
const DEADLINE_MS = 60_000;
/** Longest reply taken; the service sends a few times its largest request at most. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;
const HEADER_BYTES = 4;

/** Asks svc-analysisd over its local socket: one connection a request, framed by a length (rules-and-alerts.md 9.1). */
export class SocketBackend implements LogtestBackend {
  readonly #path: string;
  readonly #deadlineMs: number;
  readonly #log: (text: string) => void;

  /**
   * @param path of the socket
   * @param log is given the texts of requests and replies
   */
  constructor(path: string, log: (text: string) => void = () => {}, deadlineMs = DEADLINE_MS) {
    this.#path = path;
    this.#log = log;
    this.#deadlineMs = deadlineMs;
  }

  process({ log, location, token, debugRules, explain, why }: LogtestEvent): Promise<LogtestReply> {
    return this.#call('log_processing', {
      event: fromByteString(log),
      log_format: 'syslog',
      location,
      ...(token === undefined ? {} : { token }),
      options: {
        rules_debug: debugRules,
        ...(explain ? { explain } : {}),
        ...(why === undefined ? {} : { why }),
      },
    });
  }

  remove(token: string): Promise<LogtestReply> {
    return this.#call('remove_session', { token });
  }

  async #call(command: string, parameters: Record<string, unknown>): Promise<LogtestReply> {
    const origin = { name: 'wazuh-logtest', module: 'wazuh-logtest' };
    const request = JSON.stringify({ version: 1, origin, command, parameters });
    this.#log(`request: ${request}`);
    const answer = await this.#exchange(Buffer.from(request, 'utf8'));
    this.#log(`reply: ${answer}`);
    const reply = parseReply(answer);
    if (reply === undefined) throw this.#failure('the answer is not one of logtest');
    return reply;
  }

  #exchange(request: Buffer): Promise<string> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let received = 0;
      const socket = connect(this.#path);
      const fail = (reason: string): void => {
        socket.destroy();
        reject(this.#failure(reason));
      };
      const timer = setTimeout(() => {
        fail(`no answer within ${String(this.#deadlineMs / 1000)} s`);
      }, this.#deadlineMs);
      socket.on('connect', () => {
        const header = Buffer.alloc(HEADER_BYTES);
        header.writeUInt32LE(request.length);
        socket.write(Buffer.concat([header, request]));
      });
      socket.on('data', (chunk) => {
        chunks.push(chunk);
        received += chunk.length;
        if (received > MAX_REPLY_BYTES) fail('the answer is too long');
      });
      // An answer that came before all of the request was taken is an answer all the same.
      socket.on('error', (error) => {
        if (received === 0) fail(error.message);
      });
      socket.on('close', () => {
        clearTimeout(timer);
        const all = Buffer.concat(chunks);
        if (all.length < HEADER_BYTES || all.length < HEADER_BYTES + all.readUInt32LE(0)) {
          reject(this.#failure('the connection was closed without an answer'));
        } else {
          resolve(all.toString('utf8', HEADER_BYTES, HEADER_BYTES + all.readUInt32LE(0)));
        }
      });
    });
  }

  #failure(reason: string): LogtestConnectionError {
    return new LogtestConnectionError(`${this.#path}: ${reason}`);
  }
}

function parseReply(text: string): LogtestReply | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const members = membersOf(value);
  const error = members?.get('error');
  if (members === undefined || typeof error !== 'number') return undefined;
  const message = members.get('message');
  return {
    error,
    ...(typeof message === 'string' ? { message } : {}),
    data: Object.fromEntries(membersOf(members.get('data')) ?? []),
  };
}
