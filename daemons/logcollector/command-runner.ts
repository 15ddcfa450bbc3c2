import { spawn } from 'node:child_process';
import type { LocalfileConfig } from '../../lib/config/sections/localfile.js';
import type { Logger } from '../../lib/log/logger.js';
import type { LineFilter } from './line-filter.js';
import { LineSplitter } from './line-splitter.js';

/** Most bytes taken from one run (daemons-and-config.md 6.2: a message has at most 65,536 with its header). */
const MAX_OUTPUT_BYTES = 65_279;
/** Bytes of the header. */
const MAX_HEADER_BYTES = 256;
/** Longest time of a timer, 24.8 days: a longer one would run out at once, and the command run without a pause. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** A command that does not end is ended, so that it cannot pile up. */
const MAX_RUN_MS = 10 * 60 * 1000;

export type CommandRunnerParts = {
  readonly config: LocalfileConfig;
  /** What of the block's `ignore` and `restrict` lets a message pass, with its header. */
  readonly filter: LineFilter;
  /** Takes one message; resolves when it was handed on, or given up because the signal was aborted. */
  readonly send: (message: Buffer, signal: AbortSignal) => Promise<void>;
  readonly logger: Logger;
  /** Working directory: the home. */
  readonly directory: string;
};

/** Runs the command of a `<localfile>` again and again and sends what it prints (daemons-and-config.md 6.2). */
export class CommandRunner {
  readonly #parts: CommandRunnerParts;
  readonly #name: string;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stop: (() => void) | undefined;
  readonly #stopping = new AbortController();

  constructor(parts: CommandRunnerParts) {
    this.#parts = parts;
    this.#name = parts.config.alias ?? parts.config.command;
  }

  start(): void {
    this.#parts.logger.info(`Monitoring output of command(${String(this.#parts.config.frequency)}): ${this.#name}`);
    this.#schedule(0);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    this.#stop?.();
    await this.#running;
  }

  #schedule(delayMs: number): void {
    if (delayMs > MAX_TIMER_MS) {
      this.#timer = setTimeout(() => this.#schedule(delayMs - MAX_TIMER_MS), MAX_TIMER_MS);
      return;
    }
    this.#timer = setTimeout(() => {
      const begin = performance.now();
      this.#running = this.#run()
        .catch((error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error);
          this.#parts.logger.error(`Command '${this.#name}' could not be run: ${reason}`);
        })
        .finally(() => {
          if (!this.#stopping.signal.aborted) {
            this.#schedule(Math.max(0, this.#parts.config.frequency * 1000 - (performance.now() - begin)));
          }
        });
    }, delayMs);
  }

  async #run(): Promise<void> {
    const output = await this.#output();
    const header = Buffer.from(`ossec: output: '${this.#name}':`).subarray(0, MAX_HEADER_BYTES);
    if (this.#parts.config.log_format.name === 'full_command') {
      const text = output
        .toString('latin1')
        .replace(/\r/g, '')
        .replace(/\n{2,}/g, '\n')
        .replace(/\n$/, '');
      if (text !== '') {
        await this.#send(Buffer.concat([header, Buffer.from(`\n${text}`, 'latin1')]));
      }
      return;
    }
    const splitter = new LineSplitter(0);
    const lines = splitter.push(output);
    const last = splitter.finish();
    for (const { bytes } of last === undefined ? lines : [...lines, last]) {
      if (bytes.length > 0) {
        await this.#send(Buffer.concat([header, Buffer.from(' '), bytes]));
      }
    }
  }

  async #send(message: Buffer): Promise<void> {
    const { filter, send, logger } = this.#parts;
    const dropped = filter.dropReason(message);
    if (dropped === undefined) {
      await send(message, this.#stopping.signal);
    } else {
      logger.debug(dropped);
    }
  }

  /** Standard output of one run, cut at the limit. */
  #output(): Promise<Buffer> {
    const { config, directory, logger } = this.#parts;
    return new Promise((resolve, reject) => {
      // A group of its own: what the shell started ends with it.
      const child = spawn('/bin/sh', ['-c', config.command], {
        cwd: directory,
        stdio: ['ignore', 'pipe', 'ignore'],
        detached: true,
      });
      const end = (): void => {
        if (child.pid !== undefined) {
          try {
            process.kill(-child.pid, 'SIGKILL');
          } catch {
            // It has ended already.
          }
        }
        // What left the group may hold it open for ever.
        child.stdout.destroy();
      };
      this.#stop = end;
      const timer = setTimeout(() => {
        logger.warn(`Command '${this.#name}' ran longer than ${String(MAX_RUN_MS / 1000)} s and was ended.`);
        end();
      }, MAX_RUN_MS);
      const chunks: Buffer[] = [];
      let length = 0;
      child.stdout.on('data', (chunk: Buffer) => {
        const room = MAX_OUTPUT_BYTES - length;
        if (room > 0) {
          chunks.push(chunk.subarray(0, room));
        }
        if (room >= 0 && chunk.length > room) {
          logger.warn(`Command '${this.#name}' printed more than ${String(MAX_OUTPUT_BYTES)} bytes; the rest is lost.`);
        }
        length += chunk.length;
      });
      child.once('error', (error) => {
        clearTimeout(timer);
        reject(error);
      });
      child.once('close', () => {
        clearTimeout(timer);
        this.#stop = undefined;
        resolve(Buffer.concat(chunks));
      });
    });
  }
}
