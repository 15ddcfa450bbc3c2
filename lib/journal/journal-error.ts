/** Part of the journal that is not as it was written. */
export type DamageReport = {
  /**
   * `torn`: the end of a write that a crash interrupted; nobody was told that it is safe. `lost`: records that were
   * acknowledged (or may have been) are gone.
   */
  readonly kind: 'torn' | 'lost';
  readonly file: string;
  /** Byte of the file where it begins. */
  readonly offset: number;
  /** Bytes that were cut or passed over. */
  readonly bytes: number;
  /** Positions from which, and before which, records are missing. */
  readonly from: number;
  readonly to: number;
  readonly reason: string;
};

/** One line for the log about a damage. */
export function describeDamage({ kind, file, offset, bytes, from, to, reason }: DamageReport): string {
  return kind === 'torn'
    ? `${file}: an interrupted write was cut at byte ${offset} (${bytes} bytes, nothing acknowledged): ${reason}`
    : `${file}: journal positions ${from} to ${to} are lost at byte ${offset} (${bytes} bytes): ${reason}`;
}

/** What a reader met that is no record; when called again, the reader goes on behind it. */
export class JournalDamageError extends Error {
  override readonly name = 'JournalDamageError';
  readonly code = 'journal_damaged';

  constructor(readonly report: DamageReport) {
    super(describeDamage(report));
  }
}

/** There is no room for a record: by the size limit, or as too much waits for the disk. Nothing of it was written. */
export class JournalFullError extends Error {
  override readonly name = 'JournalFullError';
  readonly code = 'journal_full';
}
