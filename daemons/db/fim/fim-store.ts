import * as z from 'zod';
import type { BinaryTable } from '../../../lib/store/binary-table.js';
import { LmdbStore } from '../../../lib/store/lmdb-store.js';
import type { StoreTable } from '../../../lib/store/store-table.js';
import {
  COMPONENT_BINARY_TABLES,
  COMPONENT_TABLES,
  type ComponentTables,
  componentTables,
} from '../rows/component-store.js';

const scanRecord = z.object({
  /** Epoch seconds by the agent's clock; 0: never. */
  start: z.number(),
  end: z.number(),
});
/** When an agent's last scan began and ended. */
export type ScanRecord = z.output<typeof scanRecord>;

/** Tables of `queue/db/fim`; the key of a row is its path. */
export type FimTables = ComponentTables & {
  /** By agent. */
  readonly scans: StoreTable<number, ScanRecord>;
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
    tables: [...COMPONENT_TABLES, 'scans'],
    binaryTables: [...COMPONENT_BINARY_TABLES, 'numbers', 'hashes', 'findings'],
  });
}

/** Its tables. */
export function fimTables(store: LmdbStore): FimTables {
  return {
    ...componentTables(store),
    scans: store.table('scans', scanRecord),
    numbers: store.binaryTable('numbers'),
    hashes: store.binaryTable('hashes'),
    findings: store.binaryTable('findings'),
  };
}
