import { closeSync, readSync } from 'node:fs';
import type { ActiveResponseConfig } from '../../lib/config/sections/active-response.js';
import { isErrno } from '../../lib/files/is-errno.js';
import { openRegularFileSync } from '../../lib/files/regular-file.js';
import type { Home } from '../../lib/home/home.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';

/** A file with more is no ar.conf. */
const MAX_FILE_BYTES = 1024 ** 2;
/** `<name> - <executable> - <seconds>` (daemons-and-config.md 5.1). */
const LINE = /^(\S.*?) - (\S.*?) - (\d{1,9})$/;

/** What is run under the name of a response. */
export type ResponseCommand = {
  /** Files of active-response/bin: of those that are there the first one is run. */
  readonly executables: readonly string[];
  /** Seconds; 0 for a response that is not undone. */
  readonly timeout: number;
  /** Arguments that count instead of those of the message. */
  readonly extraArgs?: readonly string[];
};

/** The responses that a host knows. */
export interface ResponseCommands {
  /** @returns undefined for a name that there is none of */
  find(name: string): ResponseCommand | undefined;
}

/** Responses of a manager: what its own configuration says, with its arguments, whoever asks. */
export function configuredCommands(responses: readonly ActiveResponseConfig[]): ResponseCommands {
  const known = new Map<string, ResponseCommand>();
  for (const { command, timeout } of responses) {
    const name = `${command.name}${String(timeout)}`;
    const extraArgs = (command.extra_args ?? '').split(' ').filter((word) => word !== '');
    known.set(name, { executables: [command.executable], timeout, extraArgs });
  }
  return { find: (name) => known.get(name) };
}

/** Whether a text names a file of active-response/bin, and nothing else. */
export function isScriptName(text: string): boolean {
  return text !== '' && !text.startsWith('.') && !/[/\0]/.test(text) && !text.includes('..');
}

/** Responses by the text of an ar.conf; lines that are none are left out. */
export function parseArConf(text: string): ReadonlyMap<string, ResponseCommand> {
  const known = new Map<string, ResponseCommand>();
  for (const line of text.split('\n')) {
    const [, name, executable, seconds] = LINE.exec(line.trim()) ?? [];
    if (name === undefined || executable === undefined || !isScriptName(executable)) continue;
    const before = known.get(name);
    const executables = [...(before?.executables ?? []), executable];
    known.set(name, { executables, timeout: before?.timeout ?? Number(seconds) });
  }
  return known;
}

/** Responses of an agent: etc/shared/ar.conf as its manager pushed it, read again when a name is not known. */
export class SharedCommands implements ResponseCommands {
  readonly #path: string;
  readonly #logger: Pick<Logger, 'error'>;
  #known: ReadonlyMap<string, ResponseCommand>;

  constructor(home: Home, logger: Pick<Logger, 'error'>) {
    this.#path = home.path('etc', 'shared', 'ar.conf');
    this.#logger = logger;
    this.#known = this.#read();
  }

  find(name: string): ResponseCommand | undefined {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    this.#known = this.#read();
    return this.#known.get(name);
  }

  #read(): ReadonlyMap<string, ResponseCommand> {
    try {
      return parseArConf(readBounded(this.#path));
    } catch (error) {
      // It comes with the first push of the manager.
      if (!isErrno(error, 'ENOENT')) {
        this.#logger.error(`(1103): Could not open file '${this.#path}': ${describeError(error)}`);
      }
      return new Map();
    }
  }
}

function readBounded(path: string): string {
  const { fd, stats } = openRegularFileSync(path);
  try {
    if (stats.size > MAX_FILE_BYTES) throw new Error(`it has ${String(stats.size)} bytes`);
    const bytes = Buffer.alloc(stats.size);
    return bytes.toString('utf8', 0, readSync(fd, bytes));
  } finally {
    closeSync(fd);
  }
}
