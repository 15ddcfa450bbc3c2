import type { ContentHashes } from '../entry-checksum.js';

/** What was found in the place of a file. */
export type FoundEntry = {
  readonly kind: 'file' | 'link';
  /** Bytes. */
  readonly size: number;
  /** `st_mode`. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Epoch seconds. */
  readonly mtime: number;
  /** Decimal. */
  readonly inode: string;
  /** Device, decimal. */
  readonly dev: string;
  /** Names it has, where there is more than one. */
  readonly links?: number | undefined;
  /** Those asked for; undefined when `unchanged`: the known ones still hold. */
  readonly hashes: ContentHashes | undefined;
  /**
   * What a later look compares: while device, inode, size and both times are the same, so is the content. Missing when
   * the file was written to so shortly before it was read that another write need not show.
   */
  readonly stamp: string | undefined;
  /** The stamp is the one that was known, and the content was not read. */
  readonly unchanged: boolean;
  /** It was written to again and again while it was read: size and hashes may be of different moments. */
  readonly unsettled: boolean;
};

/** Why there is no entry for a path. */
export type SkipReason =
  /** It was gone when it was looked at. */
  | 'vanished'
  /** Cannot be read; `code` says why. In a scan it then counts as deleted when it was known (15.20). */
  | 'unreadable'
  /** Fifo, socket or device: never opened. */
  | 'special'
  /** On a file system that is not watched. */
  | 'file_system'
  /** Deeper than `recursion_level`. */
  | 'too_deep'
  | 'ignored'
  /** Does not match `restrict`. */
  | 'restricted'
  /** Became a directory since its directory was read. */
  | 'directory'
  /** The scan was called off. */
  | 'stopped';

/** What became of one path. */
export type EntryOutcome =
  | FoundEntry
  | { readonly kind: 'skipped'; readonly reason: SkipReason; readonly code?: string | undefined };
