/** A row as the synchronisation sees it. */
export type SyncRow = { readonly key: string; readonly checksum: string };

/** A check of a range, as `integrity_check_*` carries it. */
export type RangeCheck = {
  readonly begin: string;
  readonly end: string;
  readonly checksum: string;
  readonly id: number;
};

/** What the agent says to the manager. */
export type SyncStep<Row> =
  | { readonly type: 'integrity_clear'; readonly id: number }
  | { readonly type: 'integrity_check_global' | 'integrity_check_right'; readonly check: RangeCheck }
  | { readonly type: 'integrity_check_left'; readonly check: RangeCheck & { readonly tail: string } }
  | { readonly type: 'state'; readonly row: Row };

/** What the manager answers (integrity-and-inventory.md 4.4). */
export type SyncAnswer = {
  readonly verb: 'checksum_fail' | 'no_data';
  readonly begin: string;
  readonly end: string;
  readonly id: number;
};
