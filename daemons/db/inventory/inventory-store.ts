import * as z from 'zod';
import type { BinaryTable } from '../../../lib/store/binary-table.js';
import { LmdbStore } from '../../../lib/store/lmdb-store.js';
import type { StoreTable } from '../../../lib/store/store-table.js';
import {
  COMPONENT_BINARY_TABLES,
  COMPONENT_TABLES,
  type ComponentMemory,
  type ComponentTables,
  componentTables,
  readMemory,
} from '../rows/component-store.js';

const followerRecord = z.object({
  name: z.string(),
  /** What the keys of its changes begin with. */
  slot: z.number().int(),
  /** Number of the change up to which it has all. */
  acknowledged: z.number().int(),
});
/** Who is told each change, so that it can keep a copy. */
export type FollowerRecord = z.output<typeof followerRecord>;
/** The one key of the table of it. */
export const FOLLOWER_KEY = 'follower';

/** Tables of `queue/db/inventory`; a row is known by the key of the synchronisation. */
export type InventoryTables = ComponentTables & {
  /** Nothing, by slot, hash of what a row is often looked for by, and its key. */
  readonly names: BinaryTable;
  /** What changed, by the follower's slot and number of the change. */
  readonly changes: BinaryTable;
  readonly follower: StoreTable<string, FollowerRecord>;
};

/** What of the store is in memory, as it was last committed. */
export type InventoryMemory = ComponentMemory & { follower: FollowerRecord | undefined };

/** What lists read: the store, as it was last committed. */
export type InventoryReader = { readonly tables: InventoryTables; readonly memory: InventoryMemory };

/** Opens `queue/db/inventory`. @throws StoreError */
export function openInventoryStore(directory: string): Promise<LmdbStore> {
  return LmdbStore.open({
    directory,
    tables: [...COMPONENT_TABLES, 'follower'],
    binaryTables: [...COMPONENT_BINARY_TABLES, 'names', 'changes'],
  });
}

/** Its tables. */
export function inventoryTables(store: LmdbStore): InventoryTables {
  return {
    ...componentTables(store),
    names: store.binaryTable('names'),
    changes: store.binaryTable('changes'),
    follower: store.table('follower', followerRecord),
  };
}

/** @throws StoreError `damaged` */
export function readInventoryMemory(tables: InventoryTables): InventoryMemory {
  return { ...readMemory(tables), follower: tables.follower.get(FOLLOWER_KEY) };
}
