import type { Diagnostics, SourcePlace } from '../../lib/engine/event.js';

/** Keeps what an engine reports: `level text @file:line`, or without the place where there is none. */
export class RecordingDiagnostics implements Diagnostics {
  readonly lines: string[] = [];

  debug(message: string, place?: SourcePlace): void {
    this.#keep('debug', message, place);
  }

  info(message: string, place?: SourcePlace): void {
    this.#keep('info', message, place);
  }

  warn(message: string, place?: SourcePlace): void {
    this.#keep('warn', message, place);
  }

  error(message: string, place?: SourcePlace): void {
    this.#keep('error', message, place);
  }

  #keep(level: string, message: string, place?: SourcePlace): void {
    this.lines.push(`${level} ${message}${place === undefined ? '' : ` @${place.file}:${String(place.line)}`}`);
  }
}
