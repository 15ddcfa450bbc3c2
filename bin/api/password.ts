import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import type { ReadStream } from 'node:tty';
import { readLines } from '../terminal/read-lines.js';
import type { ApiStreams } from './api-streams.js';
import { ApiUsageError } from './usage-error.js';

/** Passwords have 64 characters at most (rest-api.md 2.5). */
const MAX_BYTES = 1024;
const CONTROL_C = '\u0003';
const CONTROL_D = '\u0004';
const ERASING = new Set(['\u007f', '\b']);

/** The question was called off with Ctrl+C. */
export class CalledOffError extends Error {
  override readonly name = 'CalledOffError';
}

/**
 * A password: the first line of a file, or of the standard input for `-`; without a file it is asked for on the terminal, where
 * it is not shown.
 * @param question shown on the terminal
 * @throws ApiUsageError when there is none; CalledOffError
 */
export async function readPassword(streams: ApiStreams, file: string | undefined, question: string): Promise<string> {
  let password: string;
  if (file === undefined) {
    if (streams.terminalInput === undefined) {
      throw new ApiUsageError('no terminal to ask for the password: --password-file FILE, or - for the standard input');
    }
    password = await askSecretly(streams.terminalInput, streams.writeError, question);
  } else {
    password = file === '-' ? ((await firstLine(streams.input)) ?? '') : fileLine(file);
  }
  if (password === '') throw new ApiUsageError('the password is empty');
  return password;
}

/** The first line of the standard input. */
export async function firstLine(input: AsyncIterable<Buffer>): Promise<string | undefined> {
  // Lines are read as bytes.
  for await (const line of readLines(input)) return Buffer.from(line, 'latin1').toString('utf8');
  return undefined;
}

function fileLine(path: string): string {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    throw new ApiUsageError(`the password cannot be read: ${(error as Error).message}`);
  }
  try {
    const stats = fstatSync(file);
    if (stats.isFile() && stats.size > MAX_BYTES) throw new ApiUsageError(`'${path}' is no file with a password`);
    return readFileSync(file, 'utf8').split(/\r?\n/, 1)[0] ?? '';
  } finally {
    closeSync(file);
  }
}

/** Reads a line without showing it. */
function askSecretly(input: ReadStream, write: (text: string) => void, question: string): Promise<string> {
  write(question);
  return new Promise((resolve, reject) => {
    let typed: string[] = [];
    const ended = (settle: () => void): void => {
      input.off('data', onData);
      input.setRawMode(false);
      input.pause();
      write('\n');
      settle();
    };
    const onData = (data: Buffer | string): void => {
      for (const key of data.toString()) {
        if (key === CONTROL_C) {
          ended(() => {
            reject(new CalledOffError('called off'));
          });
          return;
        }
        if (key === '\r' || key === '\n' || key === CONTROL_D) {
          ended(() => {
            resolve(typed.join(''));
          });
          return;
        }
        if (ERASING.has(key)) typed = typed.slice(0, -1);
        else typed.push(key);
      }
    };
    input.setRawMode(true);
    input.on('data', onData);
    input.resume();
  });
}
