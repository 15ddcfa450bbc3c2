import { commandWords } from '../config/command-words.js';
import { readable } from '../fim/byte-order.js';
import { findProgram } from '../process/find-program.js';
import { runCommand } from '../process/run-command.js';
import type { CommandRunner } from './evaluate.js';
import { MOST_OUTPUT_LINES } from './look-limits.js';

export type ScaCommandsParts = {
  /** The home: working directory, and where relative paths begin. */
  readonly directory: string;
  /** Milliseconds: `sca.commands_timeout`. */
  readonly maxMs: () => number;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly killMs: () => number;
};

/** Runs commands of policies, without a shell (integrity-and-inventory.md 10.3). */
export class ScaCommands implements CommandRunner {
  /** Commands that were run, that could not be, and that took too long. */
  readonly counts = { run: 0, failed: 0, late: 0 };
  readonly #parts: ScaCommandsParts;

  constructor(parts: ScaCommandsParts) {
    this.#parts = parts;
  }

  async run(line: string, signal: AbortSignal): Promise<readonly string[] | { readonly reason: string }> {
    const { directory, maxMs, killMs } = this.#parts;
    const shown = readable(line);
    const lines: string[] = [];
    this.counts.run += 1;
    try {
      const [name, ...args] = commandWords(shown);
      const { code, late } = await runCommand({
        ...{ program: findProgram(name, directory), args, directory, signal, killMs: killMs(), maxMs: maxMs() },
        emptyLines: true,
        mostLines: MOST_OUTPUT_LINES,
        // Its beginning is compared.
        cut: () => {},
        line: (bytes) => {
          if (lines.length < MOST_OUTPUT_LINES) lines.push(bytes.toString('latin1').replaceAll('\0', ''));
          return Promise.resolve();
        },
      });
      signal.throwIfAborted();
      if (late) {
        this.counts.late += 1;
        return { reason: `Timeout overtaken running command '${shown}'` };
      }
      if (code !== undefined) return lines;
      this.counts.failed += 1;
      return { reason: `Failed to run command '${shown}'. A signal ended it` };
    } catch {
      signal.throwIfAborted();
      this.counts.failed += 1;
      return { reason: `Invalid path or wrong permissions to run command '${shown}'` };
    }
  }
}
