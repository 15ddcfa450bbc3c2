import * as z from 'zod';
import { LmdbStore } from '../../lib/store/lmdb-store.js';
import type { StoreTable } from '../../lib/store/store-table.js';
import { type AgentRecord, agentRecord } from './agent-record.js';

/** Pairs of key and value in the order of the keepalive. */
const labelList = z.array(z.tuple([z.string(), z.string()])).readonly();
export type Labels = z.output<typeof labelList>;

const groupRecord = z.object({
  /** Epoch seconds. */
  dateAdd: z.number().int(),
});
export type GroupRecord = z.output<typeof groupRecord>;

/** Sum of a merged file. The groups are not the key, for which they can be too long. */
const sumRecord = z.object({ groups: z.array(z.string()), md5: z.string() });
export type SumRecord = z.output<typeof sumRecord>;

/** Tables of `queue/db`. */
export type RegistryTables = {
  readonly agents: StoreTable<number, AgentRecord>;
  /** Epoch seconds. Apart from the agents, so that the thousand updates a second touch few pages. */
  readonly keepAlives: StoreTable<number, number>;
  readonly labels: StoreTable<number, Labels>;
  readonly groups: StoreTable<string, GroupRecord>;
  /** By the SHA-256 of the groups joined by `,`. */
  readonly sums: StoreTable<string, SumRecord>;
  /** Agents that were removed, by the numbers of their removals (`RemovalLog`). */
  readonly removed: StoreTable<number, number>;
};

/** Tables of `queue/db`, opened. @throws StoreError */
export function openRegistryStore(directory: string): Promise<LmdbStore> {
  return LmdbStore.open({ directory, tables: ['agents', 'keepalives', 'labels', 'groups', 'sums', 'removed'] });
}

export function registryTables(store: LmdbStore): RegistryTables {
  return {
    agents: store.table<number, AgentRecord>('agents', agentRecord),
    keepAlives: store.table<number, number>('keepalives', z.number()),
    labels: store.table<number, Labels>('labels', labelList),
    groups: store.table<string, GroupRecord>('groups', groupRecord),
    sums: store.table<string, SumRecord>('sums', sumRecord),
    removed: store.table<number, number>('removed', z.number().int()),
  };
}
