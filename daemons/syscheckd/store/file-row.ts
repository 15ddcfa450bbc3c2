import type { FileAttributes } from '../../../lib/events/fim/file-attributes.js';
import type { FimMode } from '../../../lib/events/fim/fim-messages.js';

/** A watched file as it was recorded last. */
export type FileRow = {
  /** Byte string. */
  readonly path: string;
  /** Given once when the row was made, never used twice: its place among the marks of a scan. */
  readonly number: number;
  /** As they were sent, with their checksum. */
  readonly attributes: FileAttributes;
  /** What was watched when it was recorded, bits of `CHECKS`. */
  readonly checks: number;
  /** Decimal, whether or not it is watched. */
  readonly inode: string;
  /** Device, decimal. */
  readonly dev: string;
  /** While the file still has it, its content need not be read again (`FoundEntry.stamp`). */
  readonly stamp: string | undefined;
  /** Epoch seconds of the last reading that changed the row. */
  readonly lastEvent: number;
  /** How that change was noticed. */
  readonly mode: FimMode;
};
