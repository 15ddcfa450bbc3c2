import { isUtf8 } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { commandWords, CommandWordsError } from '../../config/command-words.js';
import { describeError } from '../../log/describe-error.js';
import { bytesOf } from '../byte-order.js';

/** Longest time the command may take for a file: also what ending a scan may have to wait for. */
const MAX_RUN_MS = 10_000;
/** Most it may print: all of it is in memory, once a thread. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;

/** A group of its own, so that what the command started ends with it; Node has it for `spawnSync` as for `spawn`. */
const OWN_GROUP: { readonly detached: true } = { detached: true };

/** It needs nothing of what the daemon was started with. */
const ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

/** The command whose output is hashed instead of a file (`prefilter_cmd`; integrity-and-inventory.md 2.1). */
export type Prefilter = {
  readonly program: string;
  /** In front of the path. */
  readonly words: readonly string[];
  /** Part of the stamps of what was hashed through it: another command is another content. */
  readonly mark: string;
  readonly maxRunMs: number;
  readonly maxOutputBytes: number;
};

/** A `prefilter_cmd` that cannot be run. */
export class PrefilterError extends Error {
  override readonly name = 'PrefilterError';
  readonly code = 'bad_prefilter';
}

/** Why a file could not be hashed through the command. */
export type PrefilterFailure =
  /** It could not be started, or was killed. */
  | 'PREFILTER_FAILED'
  | 'PREFILTER_TIMEOUT'
  /** It printed too much. */
  | 'PREFILTER_OUTPUT';

/**
 * @param line `prefilter_cmd` as written
 * @throws PrefilterError when it names no program by its whole path, or none that is there and may be run
 */
export function readPrefilter(line: string): Prefilter {
  try {
    const [program, ...words] = commandWords(line);
    if (!program.startsWith('/')) throw new PrefilterError(`'${program}' is not an absolute path`);
    if (!statSync(program).isFile()) throw new PrefilterError(`'${program}' is not a file`);
    accessSync(program, constants.X_OK);
    const mark = hash('sha256', JSON.stringify([program, ...words])).slice(0, 16);
    return { program, words, mark, maxRunMs: MAX_RUN_MS, maxOutputBytes: MAX_OUTPUT_BYTES };
  } catch (error) {
    const known = error instanceof CommandWordsError || error instanceof PrefilterError;
    if (!known && (error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new PrefilterError(`<prefilter_cmd> cannot be used: ${describeError(error)}`, { cause: error });
  }
}

/**
 * What the command prints for a file, whatever its exit code; without a shell. The thread waits for it.
 * @param path byte string @param descriptor the file, open: a path that is no UTF-8 cannot be an argument
 * @throws Error with a `PrefilterFailure` as its `code`
 */
export function filtered(prefilter: Prefilter, path: string, descriptor: number): Buffer {
  const bytes = bytesOf(path);
  const name = isUtf8(bytes) ? bytes.toString('utf8') : '/proc/self/fd/3';
  const { pid, error, signal, stdout } = spawnSync(prefilter.program, [...prefilter.words, name], {
    ...OWN_GROUP,
    cwd: '/',
    env: ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'ignore', descriptor],
    timeout: prefilter.maxRunMs,
    maxBuffer: prefilter.maxOutputBytes,
    killSignal: 'SIGKILL',
  });
  if (pid > 0 && (error !== undefined || signal !== null)) endGroup(pid);
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'ETIMEDOUT') throw failure('PREFILTER_TIMEOUT', `it ran longer than ${prefilter.maxRunMs} ms`);
  if (code === 'ENOBUFS') throw failure('PREFILTER_OUTPUT', `it printed more than ${prefilter.maxOutputBytes} bytes`);
  if (error !== undefined) throw failure('PREFILTER_FAILED', describeError(error));
  if (signal !== null) throw failure('PREFILTER_FAILED', `it was ended by ${signal}`);
  return stdout;
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}

function failure(code: PrefilterFailure, reason: string): Error {
  return Object.assign(new Error(`prefilter_cmd: ${reason}`), { code });
}
