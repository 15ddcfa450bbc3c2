import { z } from 'zod';
import type { BinaryTable } from '../../../lib/store/binary-table.js';
import { LmdbStore } from '../../../lib/store/lmdb-store.js';
import type { StoreTable } from '../../../lib/store/store-table.js';

/** State of a component's synchronisation (integrity-and-inventory.md 7.2); times are ids of rounds. */
const syncInfo = z.object({
  lastAttempt: z.number(),
  lastCompletion: z.number(),
  attempts: z.number(),
  completions: z.number(),
  /** What the whole table sums up to: known to be so as long as no entry has changed. Empty: not known. */
  managerChecksum: z.string(),
  agentChecksum: z.string(),
});
export type SyncInfo = z.output<typeof syncInfo>;

/** No round has been. */
export const NO_SYNC: SyncInfo = {
  lastAttempt: 0,
  lastCompletion: 0,
  attempts: 0,
  completions: 0,
  managerChecksum: '',
  agentChecksum: '',
};

const componentRecord = z.object({
  /** What the keys of its entries begin with: another one after they were cleared, so that clearing costs nothing. */
  slot: z.number().int(),
  /** Entries. */
  rows: z.number().int(),
  sync: syncInfo,
});
/** What is known of a component of an agent as a whole. */
export type ComponentRecord = z.output<typeof componentRecord>;

const scanRecord = z.object({
  /** Epoch seconds by the agent's clock; 0: never. */
  start: z.number(),
  end: z.number(),
});
/** When an agent's last scan began and ended. */
export type ScanRecord = z.output<typeof scanRecord>;

const stateRecord = z.object({
  journal: z.string(),
  /** Where the journal is to be gone on with. */
  position: z.number().int(),
  /** Events before this one are applied. */
  applied: z.number().int(),
  nextSlot: z.number().int(),
  nextNumber: z.number().int(),
});
/** How far a journal is stored, and the numbers that were given out. */
export type StateRecord = z.output<typeof stateRecord>;

/** State of a store that is new. */
export const NEW_STATE: StateRecord = { journal: '', position: 0, applied: 0, nextSlot: 1, nextNumber: 1 };
/** The one key of the table of it. */
export const STATE_KEY = 'state';

/** Tables of `queue/db/fim`. */
export type FimTables = {
  readonly state: StoreTable<string, StateRecord>;
  /** By `componentKey`. */
  readonly components: StoreTable<number, ComponentRecord>;
  /** By agent. */
  readonly scans: StoreTable<number, ScanRecord>;
  /** Slots that are to be emptied. */
  readonly garbage: StoreTable<number, true>;
  /** Entries, by slot and path. */
  readonly rows: BinaryTable;
  /** Paths, by slot and number of the entry. */
  readonly numbers: BinaryTable;
  /** Nothing, by slot, hash and number of the entry. */
  readonly hashes: BinaryTable;
  /** What rootcheck found, by slot and digest of the text. */
  readonly findings: BinaryTable;
};

/** Opens `queue/db/fim`. @throws StoreError */
export function openFimStore(directory: string): Promise<LmdbStore> {
  return LmdbStore.open({
    directory,
    tables: ['state', 'components', 'scans', 'garbage'],
    binaryTables: ['rows', 'numbers', 'hashes', 'findings'],
  });
}

/** Its tables. */
export function fimTables(store: LmdbStore): FimTables {
  return {
    state: store.table('state', stateRecord),
    components: store.table('components', componentRecord),
    scans: store.table('scans', scanRecord),
    garbage: store.table('garbage', z.literal(true)),
    rows: store.binaryTable('rows'),
    numbers: store.binaryTable('numbers'),
    hashes: store.binaryTable('hashes'),
    findings: store.binaryTable('findings'),
  };
}
