import * as z from 'zod';
import type { BinaryTable } from '../../../lib/store/binary-table.js';
import type { LmdbStore } from '../../../lib/store/lmdb-store.js';
import type { StoreTable } from '../../../lib/store/store-table.js';

/** State of a component's synchronisation (integrity-and-inventory.md 7.2); times are ids of rounds. */
const syncInfo = z.object({
  lastAttempt: z.number(),
  lastCompletion: z.number(),
  attempts: z.number(),
  completions: z.number(),
  /** What the whole table sums up to: known to be so as long as no row has changed. Empty: not known. */
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
  /** What the keys of its rows begin with: another one after they were cleared, so that clearing costs nothing. */
  slot: z.number().int(),
  rows: z.number().int(),
  /** Of its rows; those that were stored before they were counted are missing. */
  bytes: z.number().int().default(0),
  sync: syncInfo,
});
/** What is known of a component of an agent as a whole. */
export type ComponentRecord = z.output<typeof componentRecord>;

/** Members that the state of every store has. */
export const stateRecord = z.object({
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

/** Tables that every store of rows has. */
export type ComponentTables = {
  readonly state: StoreTable<string, StateRecord>;
  /** By the number of an agent's component. */
  readonly components: StoreTable<number, ComponentRecord>;
  /** Slots that are to be emptied. */
  readonly garbage: StoreTable<number, true>;
  /** Rows, by slot and what their component knows them by. */
  readonly rows: BinaryTable;
};

/** Names of those tables. */
export const COMPONENT_TABLES = ['state', 'components', 'garbage'] as const;
export const COMPONENT_BINARY_TABLES = ['rows'] as const;

/** Those tables of an open store. */
export function componentTables(store: LmdbStore): ComponentTables {
  return {
    state: store.table('state', stateRecord),
    components: store.table('components', componentRecord),
    garbage: store.table('garbage', z.literal(true)),
    rows: store.binaryTable('rows'),
  };
}

/** What of a store is in memory, as it was last committed. */
export type ComponentMemory = {
  state: StateRecord;
  /** By the number of an agent's component. */
  readonly components: Map<number, ComponentRecord>;
  /** How often rows of a component were changed since the start: whoever reads piece by piece can tell. */
  readonly versions: Map<number, number>;
};

/** Reads what is kept in memory. @throws StoreError `damaged` */
export function readMemory({ state, components }: ComponentTables): ComponentMemory {
  return {
    state: state.get(STATE_KEY) ?? NEW_STATE,
    components: new Map(components.entries()),
    versions: new Map(),
  };
}
