import * as z from 'zod';
import type { RowKey } from '../../query/row-keys.js';
import { agentId, applyMethod, positionMethod, type StoredOperation, syncAllMethod, syncMethod } from './db-events.js';
import { itemPage } from './db-lists.js';

/** Items of one page of `inventory.list` (rest-api.md 4.1); a page larger than a message is cut shorter. */
export const MAX_INVENTORY_PAGE = 100_000;
/** Rows or changes of one answer to a follower. */
const MAX_FOLLOWED = 5000;
/** Agents that one list is of. */
const MAX_AGENTS_PER_LIST = 100_000;
const MAX_FILTERS = 32;
/** Bytes of a key: what the store takes. */
const MAX_KEY = 2048;

/** Queue d. */
const KINDS = ['inventory'] as const;
/** A change of an inventory that an agent told. */
export type InventoryOperation = StoredOperation<(typeof KINDS)[number]>;

/** What the API calls the tables (rest-api.md 6.13). */
export const INVENTORY_TYPES = [
  'hardware',
  'hotfixes',
  'netaddr',
  'netiface',
  'netproto',
  'os',
  'packages',
  'ports',
  'processes',
  'users',
  'groups',
  'browser_extensions',
  'services',
] as const;
export type InventoryType = (typeof INVENTORY_TYPES)[number];

const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'is no bytes');
const key = bytes.refine((value) => value.length <= MAX_KEY, 'is too long');
/** Values by their columns, as agents name them. */
const row = z.record(z.string(), z.union([z.string(), z.number()]));
const follower = z.string().min(1).max(64);
/** Behind `dbsync_` (integrity-and-inventory.md 11.4). */
const table = z.string().min(1).max(64);
const number = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/**
 * What is on the hosts of all agents (integrity-and-inventory.md 11). What is answered is on disk. Errors: `disk_full`,
 * `disk_failed`, `busy`; for lists `query_1408` and the like, see `queryErrorOf`.
 */
export const inventoryMethods = {
  'inventory.position': positionMethod,
  'inventory.apply': applyMethod(KINDS),
  'inventory.sync': syncMethod,
  'inventory.sync_all': syncAllMethod,
  /** `GET /syscollector/{agent_id}/<type>` and its like for several agents; items as there, nested, with `agent_id`. */
  'inventory.list': {
    params: z.object({
      type: z.enum(INVENTORY_TYPES),
      /** In the order of the answer. */
      agents: z.union([z.array(agentId).max(MAX_AGENTS_PER_LIST), z.literal('all')]),
      offset: z.number().int().min(0).default(0),
      limit: z.number().int().min(0).max(MAX_INVENTORY_PAGE).default(500),
      sort: z.string().max(1024).optional(),
      /** Substring in any field, whatever the case; a leading `-` turns it round. */
      search: z.string().max(1024).optional(),
      select: z.array(z.string().max(128)).min(1).max(128).optional(),
      q: z.string().max(65_536).optional(),
      distinct: z.boolean().optional(),
      /** Fields that must be equal, whatever the case. */
      filters: z
        .record(z.string().max(64), z.union([z.string().max(8192), z.number()]))
        .refine((given) => Object.keys(given).length <= MAX_FILTERS, 'are too many')
        .optional(),
      /**
       * To merge the list with those of other nodes: what each row is sorted by, and the number of its agent behind it.
       * `alone`: without items, and where nothing is sorted by, all agents with how many rows each has. Not with `distinct`.
       */
      keys: z.enum(['beside', 'alone']).optional(),
    }),
    result: itemPage.extend({
      keys: z.array(z.custom<RowKey>(Array.isArray, 'is no key')).optional(),
      /** Rows of each key; one of each without it. */
      counts: z.array(z.number().int()).optional(),
    }),
  },
  /**
   * Begins to note changes for somebody who keeps a copy, in place of whoever was told before. All that is stored is to
   * be copied with `inventory.tables` and `inventory.rows`; changes behind `number` come on top.
   */
  'inventory.follow': { params: z.object({ follower }), result: z.object({ number }) },
  'inventory.unfollow': { params: z.object({}), result: z.object({}) },
  /**
   * Changes behind one that the follower has, in their order. `again`: it must begin anew, as it is not the one who is
   * told, or was away for too long. A row that changed again is shown as it is now.
   */
  'inventory.changes': {
    params: z.object({ follower, after: number, limit: z.number().int().min(1).max(MAX_FOLLOWED) }),
    result: z.object({
      again: z.boolean(),
      changes: z.array(
        z.object({
          number,
          /** Of one row, of all rows of a table of an agent that are gone, or of all that there was of an agent. */
          kind: z.enum(['row', 'cleared', 'removed']),
          agent: z.string(),
          table: table.optional(),
          key: bytes.optional(),
          /** Absent: it is gone. */
          row: row.optional(),
        }),
      ),
    }),
  },
  /** Which agents have rows in a table, in the order of their numbers, behind one of them. */
  'inventory.tables': {
    params: z.object({ table, after: agentId.optional(), limit: z.number().int().min(1).max(MAX_FOLLOWED) }),
    result: z.object({ agents: z.array(z.object({ agent: z.string(), rows: z.number().int() })) }),
  },
  /** Rows of a table of an agent, in the order of their keys, behind one of them; none: that was all. */
  'inventory.rows': {
    params: z.object({
      agent: agentId,
      table,
      after: key.optional(),
      limit: z.number().int().min(1).max(MAX_FOLLOWED),
    }),
    result: z.object({ rows: z.array(z.object({ key: bytes, row })) }),
  },
};
