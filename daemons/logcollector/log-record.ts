import type { LogLine } from './line-splitter.js';

/** What one or several lines of a file came to: one event. */
export type LogRecord = {
  readonly message: Buffer;
  /** Offset in the file behind the last line of it. */
  readonly end: number;
};

/** Takes records in the order of the file. */
export type EmitRecord = (record: LogRecord) => void;

/**
 * Makes records of lines, in the way of one log format (daemons-and-config.md 6.2). Belongs to one file: it may hold
 * lines back until the record they belong to is complete.
 */
export interface RecordAssembler {
  add(line: LogLine, emit: EmitRecord): void;
  /** Gives what is held back: nothing more came for `timeoutMs`, or the file ended. */
  flush(emit: EmitRecord): void;
  /** Whether lines are held back. */
  readonly pending: boolean;
  /** How long lines are held back when no more come, milliseconds. */
  readonly timeoutMs: number;
}
