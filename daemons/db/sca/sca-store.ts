import * as z from 'zod';
import type { BinaryTable } from '../../../lib/store/binary-table.js';
import { LmdbStore } from '../../../lib/store/lmdb-store.js';
import type { StoreTable } from '../../../lib/store/store-table.js';
import { NEW_STATE, stateRecord } from '../rows/component-store.js';

const scaState = stateRecord.extend({
  /** Policies and checks of all agents. */
  policies: z.number().int(),
  checks: z.number().int(),
});
/** How far a journal is stored, the numbers of slots and definitions that were given out, and how much there is. */
export type ScaState = z.output<typeof scaState>;

/** State of a store that is new. */
export const NEW_SCA_STATE: ScaState = { ...NEW_STATE, policies: 0, checks: 0 };

/** Tables of `queue/db/sca`. */
export type ScaTables = {
  readonly state: StoreTable<string, ScaState>;
  /** Slots that are to be emptied. */
  readonly garbage: StoreTable<number, true>;
  /** By agent and id of the policy. */
  readonly policies: BinaryTable;
  /** By slot and id of the check. */
  readonly checks: BinaryTable;
  /** Texts of checks, by their numbers. */
  readonly definitions: BinaryTable;
  /** Number of a definition and how many checks use it, by the digest of its texts. */
  readonly digests: BinaryTable;
};

/** Opens `queue/db/sca`. @throws StoreError */
export function openScaStore(directory: string): Promise<LmdbStore> {
  return LmdbStore.open({
    directory,
    tables: ['state', 'garbage'],
    binaryTables: ['policies', 'checks', 'definitions', 'digests'],
  });
}

/** Its tables. */
export function scaTables(store: LmdbStore): ScaTables {
  return {
    state: store.table('state', scaState),
    garbage: store.table('garbage', z.literal(true)),
    policies: store.binaryTable('policies'),
    checks: store.binaryTable('checks'),
    definitions: store.binaryTable('definitions'),
    digests: store.binaryTable('digests'),
  };
}
