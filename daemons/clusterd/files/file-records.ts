import type { RecordKind } from '../../../lib/bus/contracts/clusterd.js';
import {
  type CandidateRecord,
  candidateRecord,
  filesRecord,
  type VerdictRecord,
  verdictRecord,
} from '../../../lib/cluster/record-kinds.js';
import type { SharedRecord } from '../../../lib/cluster/shared-records.js';
import type { SetInForce } from './file-set.js';
import { ManifestError } from './manifest.js';
import type { RulesetRecords } from './ruleset-ballot.js';
import { RULESET } from './set-place.js';

/** Kinds of records that say which files are in force. */
export const FILE_KINDS: readonly RecordKind[] = ['files', 'candidate', 'verdict'];

/** What the records say of files, as this node has them. */
export class FileRecords {
  readonly #records = new Map<string, SharedRecord>();

  load(records: readonly SharedRecord[]): void {
    this.#records.clear();
    this.apply(records);
  }

  apply(changes: readonly SharedRecord[]): void {
    for (const record of changes) {
      const name = nameOf(record.kind, record.key);
      if (record.value === null) this.#records.delete(name);
      else this.#records.set(name, record);
    }
  }

  /** Keys of all sets in force. */
  sets(): string[] {
    return [...this.#records.values()].filter(({ kind }) => kind === 'files').map(({ key }) => key);
  }

  /** @throws ManifestError for a record that is none: what is here stays */
  inForce(key: string): SetInForce | undefined {
    const record = this.#records.get(nameOf('files', key));
    if (record === undefined) return undefined;
    const parsed = filesRecord.safeParse(record.value);
    if (!parsed.success) throw new ManifestError(`${key}: the record of the cluster is no set of files`);
    return { revision: record.revision, record: parsed.data };
  }

  /** @throws ManifestError */
  ruleset(): RulesetRecords {
    return { inForce: this.inForce(RULESET), candidate: this.#candidate(), verdicts: this.#verdicts() };
  }

  #candidate(): { readonly revision: number; readonly value: CandidateRecord } | undefined {
    const record = this.#records.get(nameOf('candidate', RULESET));
    const parsed = candidateRecord.safeParse(record?.value);
    return record !== undefined && parsed.success ? { revision: record.revision, value: parsed.data } : undefined;
  }

  #verdicts(): ReadonlyMap<string, VerdictRecord> {
    const verdicts = new Map<string, VerdictRecord>();
    for (const { kind, key, value } of this.#records.values()) {
      const parsed = kind === 'verdict' ? verdictRecord.safeParse(value) : undefined;
      if (parsed?.success === true) verdicts.set(key, parsed.data);
    }
    return verdicts;
  }
}

function nameOf(kind: string, key: string): string {
  return `${kind} ${key}`;
}
