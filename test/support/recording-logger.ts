import { LimitedLog } from '../../lib/log/limited-log.js';
import type { LimitedLogger, Logger } from '../../lib/log/logger.js';

/** A logger that keeps its lines, `level: message`, for tests to look at. */
export class RecordingLogger implements Logger {
  readonly lines: string[] = [];

  debug(message: string): void {
    this.lines.push(`debug: ${message}`);
  }
  info(message: string): void {
    this.lines.push(`info: ${message}`);
  }
  warn(message: string): void {
    this.lines.push(`warn: ${message}`);
  }
  error(message: string): void {
    this.lines.push(`error: ${message}`);
  }
  critical(message: string): void {
    this.lines.push(`critical: ${message}`);
  }
  limited(now?: () => number): LimitedLogger {
    return new LimitedLog((level, message) => this[level](message), now);
  }
}
