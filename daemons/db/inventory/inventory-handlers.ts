import { Limiter } from '../../../lib/async/limiter.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import type { Handlers } from '../../../lib/bus/contract.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import type { inventoryMethods } from '../../../lib/bus/contracts/db-inventory.js';
import { type InventoryTable, inventoryTable } from '../../../lib/events/inventory/inventory-tables.js';
import { answeringList } from '../query/answering-list.js';
import { takeAll } from '../rows/take-all.js';
import type { InventoryDatabase } from './inventory-database.js';
import { LISTS_AT_ONCE, LISTS_WAITING } from './inventory-limits.js';
import { listInventory } from './inventory-list.js';

type InventoryHandlers = Pick<Handlers<typeof dbContract>, keyof typeof inventoryMethods>;

/**
 * Answers of svc-db about inventories (lib/bus/contracts/db-inventory.ts).
 * @param ids all agents, in their order
 * @param now epoch milliseconds
 */
export function inventoryHandlers(
  inventory: InventoryDatabase,
  ids: () => readonly string[],
  now: () => number,
): InventoryHandlers {
  const lists = new Limiter({ atOnce: LISTS_AT_ONCE, mostWaiting: LISTS_WAITING });
  const { follower } = inventory;
  return {
    'inventory.position': () => inventory.position,
    'inventory.apply': async (events) => ({ position: await inventory.apply(events) }),
    'inventory.sync': ({ agent, message }) => inventory.sync.take(agent, message),
    'inventory.sync_all': ({ agents }) => takeAll(inventory.sync, agents),
    'inventory.list': (params) =>
      answeringList(() => lists.run(() => listInventory(inventory.reader, params, ids, now()))),
    'inventory.follow': async ({ follower: name }) => ({ number: await follower.begin(name) }),
    'inventory.unfollow': async () => {
      await follower.end();
      return {};
    },
    'inventory.changes': async ({ follower: name, after, limit }) => {
      const changes = await follower.after(name, after, limit);
      return changes === undefined ? { again: true, changes: [] } : { again: false, changes: [...changes] };
    },
    'inventory.tables': ({ table, after, limit }) => ({
      agents: inventory.agentsWith(knownTable(table), ids(), after, limit),
    }),
    'inventory.rows': ({ agent, table, after, limit }) => ({
      rows: follower.rows(agent, knownTable(table), after && Buffer.from(after), limit),
    }),
  };
}

function knownTable(name: string): InventoryTable {
  const table = inventoryTable(name);
  if (table === undefined) throw new BusError('bad_request', `There is no table '${name}' of inventories`);
  return table;
}
