import { LimitedLog } from '../../../lib/log/limited-log.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';

type Level = 'info' | 'warn' | 'error';

/** Has the daemon log what a thread has to say. Debug messages, which events could make by the thousand, stay untold. */
export class ThreadLogger implements Logger {
  readonly #tell: (level: Level, text: string) => void;

  constructor(tell: (level: Level, text: string) => void) {
    this.#tell = tell;
  }

  debug(): void {}

  info(message: string): void {
    this.#tell('info', message);
  }

  warn(message: string): void {
    this.#tell('warn', message);
  }

  error(message: string): void {
    this.#tell('error', message);
  }

  critical(message: string): void {
    this.#tell('error', message);
  }

  limited(now?: () => number): LimitedLogger {
    return new LimitedLog((level, message) => {
      if (level !== 'debug') this.#tell(level, message);
    }, now);
  }
}
