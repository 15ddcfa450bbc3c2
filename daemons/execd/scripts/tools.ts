import { spawnSync } from 'node:child_process';
import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';

/** Where the system has its tools, in the order they are looked for. */
const TOOL_DIRECTORIES: readonly string[] = ['/usr/sbin', '/sbin', '/usr/bin', '/bin'];

/** A tool that takes longer is stuck: another one holds its lock, say. */
const MAX_TOOL_MS = 30_000;
const MAX_OUTPUT_BYTES = 65_536;
const OTHERS_WRITE = 0o022;

/** How a tool ended. */
export type ToolEnd = {
  readonly ok: boolean;
  /** Undefined when it did not end by itself. */
  readonly code: number | undefined;
  readonly output: string;
  /** What is said of it when it failed: its name, and the first line it complained with. */
  readonly problem: string;
};

/** Tools of the system, run without a shell and without the environment of this process. */
export class Tools {
  readonly #directories: readonly string[];

  /** @param directories others than those of the system: for tests, and for a launcher that names one */
  constructor(directories: readonly string[] = TOOL_DIRECTORIES) {
    this.#directories = directories;
  }

  /** Path of a tool; undefined when there is none that nobody but root (or this user) could have written. */
  find(name: string): string | undefined {
    return this.#directories.map((directory) => join(directory, name)).find(isTrusted);
  }

  /** @param tool what {@link find} gave @param input its standard input */
  run(tool: string, args: readonly string[], input = ''): ToolEnd {
    const { error, status, stdout, stderr } = spawnSync(tool, [...args], {
      input,
      env: { PATH: TOOL_DIRECTORIES.join(':'), LANG: 'C', LC_ALL: 'C' },
      timeout: MAX_TOOL_MS,
      killSignal: 'SIGKILL',
      maxBuffer: MAX_OUTPUT_BYTES,
      encoding: 'utf8',
    });
    const complaint = (error?.message ?? stderr).split('\n').find((line) => line.trim() !== '') ?? '';
    const how = status === null ? 'did not end' : `ended with code ${String(status)}`;
    return {
      ok: error === undefined && status === 0,
      code: status ?? undefined,
      output: stdout,
      problem: `${tool} ${complaint === '' ? how : `${how}: ${complaint.trim()}`}`,
    };
  }
}

function isTrusted(path: string): boolean {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
    const stats: Stats = statSync(realpathSync(path));
    const own = stats.uid === 0 || stats.uid === process.geteuid?.();
    return own && stats.isFile() && (stats.mode & OTHERS_WRITE) === 0 && (stats.mode & 0o111) !== 0;
  } catch {
    return false;
  }
}
