import type { Opening } from './opening.js';
import type { ByteTable } from './os-regex-parse.js';

/** What a subject has when a pattern, or one alternative of it, matches. */
export type Requirement = {
  /** Entries of the subject's index (see `pairsOf`), all of which are there; the rarer ones first. */
  readonly pairs: Uint16Array;
  /** Folded texts, all of which occur; there may be others. */
  readonly texts: readonly string[];
  /** Bytes (not 0 in the table) one of which a subject that is not empty begins with; undefined where nothing is known. */
  readonly start: ByteTable | undefined;
  /** Makes what stands at the beginning; undefined where no more is known than `start` says. */
  readonly opening: (() => Opening) | undefined;
  /** Number of the alternative that matches in this way, for `exec`; -1 where the pattern is only tried as a whole. */
  readonly alternative: number;
};

/** Of each pattern the ways in which it can match; without any it never does, undefined where nothing is known. */
export type Requirements = readonly Requirement[] | undefined;
