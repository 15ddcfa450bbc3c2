/** A change of a file that `report_changes` is on for. */
export type ContentChange = {
  /** Byte string. */
  readonly path: string;
  /** The configured path that decides about it, a byte string: below it no link leads to what is copied. */
  readonly root: string;
  readonly type: 'added' | 'modified';
  /** Bytes, as it was read. */
  readonly size: number;
  /** MD5 of the content, where it is known: saves reading a file whose content is that of the copy. */
  readonly md5: string | undefined;
  /** Largest file whose content is compared, in kilobytes: of the directory that decides about the path. */
  readonly limit: number;
};

/**
 * A text of changes whose copy still waits: exactly one of `settle` and `discard` is to be called. Neither ever fails:
 * what goes wrong with a copy is logged, and the next change has no earlier copy then.
 */
export type PreparedChange = {
  /** Byte string for `content_changes`; undefined for a file that was added, or that could not be read. */
  readonly text: string | undefined;
  /** The change is on disk: the new copy takes the place of the old. */
  settle(): Promise<void>;
  /** The change did not come to be: the copy stays as it was. */
  discard(): Promise<void>;
};

/**
 * Copies of files under `report_changes` and what changed since they were made (integrity-and-inventory.md 3.10). A copy
 * is exchanged by `settle` alone, so that who is killed before it sees the change once more. Nothing here ever rejects.
 */
export interface ContentChanges {
  /** A scan begins: the size of all copies is taken anew, and a full quota may be logged once more. */
  beginScan(): Promise<void>;
  /** Two changes of one path are to come one after the other: the second when the first is settled or discarded. */
  prepare(change: ContentChange): Promise<PreparedChange>;
  /** Files that are gone or no longer watched: their copies go. @param paths byte strings */
  remove(paths: readonly string[]): Promise<void>;
  /**
   * At the start: copies of files that are no longer known go, and so does what a killed process left behind.
   * @param isKnown asked with the name of a copy: `copyName(path)`
   */
  retain(isKnown: (digest: string) => boolean | Promise<boolean>): Promise<void>;
}
