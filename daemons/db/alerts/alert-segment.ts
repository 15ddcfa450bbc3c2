import type { AlertValue } from './alert-fields.js';
import type { AlertPlace } from './alert-place.js';
import type { PageText } from './page-text.js';

/** Alerts of a segment at most: what is read again after a kill, and their numbers have 16 bits. */
export const MAX_SEGMENT_ROWS = 65_536;

/** Alerts that were written one behind the other in one file, and are packed together. */
export type SegmentPage = {
  /** Number of the first alert in the segment, and how many there are. */
  readonly firstRow: number;
  readonly rows: number;
  /** Where the first one begins. */
  readonly place: AlertPlace;
};

/** What the alerts of a segment have for the fields of a family: each has the number of one of the tuples. */
export type FamilyColumn = {
  readonly tuples: readonly (readonly AlertValue[])[];
  /** A number an alert; it may be longer. */
  readonly codes: Uint16Array;
};

/** Alerts from one place of the stream to another: one that is sealed is a file and never changes, the last one grows. */
export interface AlertSegment {
  readonly from: AlertPlace;
  /** Behind the last line that was read for it. */
  readonly end: AlertPlace;
  readonly rows: number;
  /** Times of its alerts, epoch milliseconds. */
  readonly oldest: number;
  readonly newest: number;
  readonly pages: readonly SegmentPage[];
  /** Times of the alerts, epoch milliseconds; it may be longer. @throws SegmentDamage */
  times(): Float64Array;
  /** @throws SegmentDamage */
  family(index: number): FamilyColumn;
  /** Calls `mark` with the pages that may have a word (alert-words.ts), some of them twice. @throws SegmentDamage */
  visitPages(hash: number, mark: (page: number) => void): void;
  /** @throws SegmentDamage */
  page(index: number): PageText;
}

/** A file of the store is not what was written. */
export class SegmentDamage extends Error {
  override readonly name = 'SegmentDamage';
  readonly path: string;

  constructor(path: string, what: string) {
    super(`'${path}' is damaged: ${what}`);
    this.path = path;
  }
}
