import { commandWords } from '../../../lib/config/command-words.js';
import type { CommandModuleConfig } from '../../../lib/config/sections/modules.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import { findProgram } from '../../../lib/process/find-program.js';
import { runCommand } from '../../../lib/process/run-command.js';
import { wrongChecksums } from './command-program.js';

export type CommandModuleParts = {
  readonly config: CommandModuleConfig;
  /** The home: working directory, and where relative paths begin. */
  readonly directory: string;
  /** File that a log line names. */
  readonly file: string;
  /** Takes one line of output; resolves when it was handed on. */
  readonly send: (location: string, line: Buffer, signal: AbortSignal) => Promise<void>;
  readonly logger: Logger;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly killMs: number;
};

/** Figures of one command. */
export type CommandCounts = { runs: number; failed: number; lines: number };

const SECOND_MS = 1000;

/** How logs call it. */
export function commandName({ tag, command }: CommandModuleConfig): string {
  return tag ?? command;
}

/** `<wodle name="command">`: a command whose output lines are events (daemons-and-config.md 7.2). */
export class CommandModule {
  readonly counts: CommandCounts = { runs: 0, failed: 0, lines: 0 };
  readonly #parts: CommandModuleParts;
  readonly #name: string;
  readonly #location: string;
  readonly #cuts: LimitedLogger;

  constructor(parts: CommandModuleParts) {
    const { tag } = parts.config;
    this.#parts = parts;
    this.#name = commandName(parts.config);
    this.#location = tag === undefined ? 'command' : `command_${tag}`;
    this.#cuts = parts.logger.limited();
  }

  /** @returns false: its program is not the one that was meant, and it does not run any more */
  async run(signal: AbortSignal): Promise<boolean> {
    const { config, directory, file, send, logger, killMs } = this.#parts;
    this.counts.runs += 1;
    try {
      const [name, ...args] = commandWords(config.command);
      const program = findProgram(name, directory);
      if (!(await this.#verified(program, signal))) return false;
      logger.info(`Starting command '${this.#name}'.`);
      const { code, late } = await runCommand({
        ...{ program, args, directory, signal, killMs },
        maxMs: config.timeout * SECOND_MS,
        cut: (bytes) =>
          this.#cuts.warn(`A line of command '${this.#name}' has ${String(bytes)} bytes: its rest is lost.`),
        ...(config.ignore_output
          ? {}
          : {
              line: async (line: Buffer) => {
                await send(this.#location, line, signal);
                this.counts.lines += 1;
              },
            }),
      });
      this.#ended(code, late, file, signal);
    } catch (error) {
      if (signal.aborted) return false;
      this.counts.failed += 1;
      logger.error(`Command '${this.#name}' failed. ${describeError(error)}`);
    }
    return true;
  }

  #ended(code: number | undefined, late: boolean, file: string, { aborted }: AbortSignal): void {
    const { logger } = this.#parts;
    if (aborted) return;
    if (late) {
      this.counts.failed += 1;
      logger.error(`${this.#name}: Timeout overtaken. You can modify your command timeout at '${file}'. Exiting...`);
    } else if (code === 0) {
      logger.debug(`Command '${this.#name}' finished.`);
    } else {
      this.counts.failed += 1;
      const how = code === undefined ? 'was ended by a signal' : `returned exit code ${String(code)}`;
      logger.warn(`Command '${this.#name}' ${how}.`);
    }
  }

  async #verified(program: string, signal: AbortSignal): Promise<boolean> {
    const { config, logger } = this.#parts;
    if ((config.verify_md5 ?? config.verify_sha1 ?? config.verify_sha256) === undefined) return true;
    logger.debug(`Verifying command checksum '${program}'.`);
    const wrong = await wrongChecksums(program, config, signal);
    for (const name of wrong) {
      const skipping = config.skip_verification ? ' Skipping...' : '';
      const message = `${name} checksum verification failed for command '${program}'.${skipping}`;
      if (config.skip_verification) logger.warn(message);
      else logger.error(message);
    }
    if (wrong.length === 0 || config.skip_verification) return true;
    this.counts.failed += 1;
    return false;
  }
}
