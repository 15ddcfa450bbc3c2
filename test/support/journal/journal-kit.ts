import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Journal, type JournalOptions } from '../../../lib/journal/journal.js';
import { type DamageReport, JournalDamageError } from '../../../lib/journal/journal-error.js';
import type { JournalReader } from '../../../lib/journal/journal-reader.js';
import type { JournalRecord } from '../../../lib/journal/journal-record.js';
import { removeTree } from '../remove-tree.js';

/** In memory where there is such a place: for tests that make and delete thousands of files. */
export const QUICK_DIRECTORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A directory for journals, and what opening them reported. */
export class JournalKit {
  readonly root: string;
  readonly directory: string;
  readonly damage: DamageReport[] = [];
  readonly trouble: unknown[] = [];

  constructor(parent = tmpdir()) {
    this.root = mkdtempSync(join(parent, 'svc-journal-'));
    this.directory = join(this.root, 'journal');
  }

  open(options: Partial<JournalOptions> = {}): Promise<Journal> {
    return Journal.open({
      directory: this.directory,
      sync: 'never',
      segmentBytes: 4096,
      maxBytes: 64 * 1024 * 1024,
      onDamage: (report) => this.damage.push(report),
      onTrouble: (error) => this.trouble.push(error),
      ...options,
    });
  }

  remove(): void {
    removeTree(this.root);
  }
}

/** Reads everything there is, records and damages apart. */
export function readAll(reader: JournalReader): { records: JournalRecord[]; damage: DamageReport[] } {
  const records: JournalRecord[] = [];
  const damage: DamageReport[] = [];
  for (;;) {
    try {
      const record = reader.next();
      if (record === undefined) return { records, damage };
      records.push(record);
    } catch (error) {
      if (!(error instanceof JournalDamageError)) throw error;
      damage.push(error.report);
    }
  }
}

/** Texts of the records from a position on. @throws the first damage */
export function textsFrom(journal: Journal, from = journal.start): string[] {
  const reader = journal.reader(from);
  const texts: string[] = [];
  try {
    for (let record = reader.next(); record !== undefined; record = reader.next()) {
      texts.push(record.payload.toString());
    }
  } finally {
    reader.close();
  }
  return texts;
}
