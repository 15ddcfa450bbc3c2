import {
  type InventoryTable,
  inventoryTable,
  type InventoryTableName,
} from '../../../lib/events/inventory/inventory-tables.js';
import { agentIdText } from '../agent-record.js';

/** Numbers of tables in keys: never to be changed. */
const CODES: Readonly<Record<InventoryTableName, number>> = {
  hwinfo: 1,
  osinfo: 2,
  network_iface: 3,
  network_protocol: 4,
  network_address: 5,
  packages: 6,
  hotfixes: 7,
  ports: 8,
  processes: 9,
  users: 10,
  groups: 11,
  services: 12,
  browser_extensions: 13,
};
const TABLES_PER_AGENT = 16;

const BY_CODE: ReadonlyMap<number, InventoryTable> = new Map(
  Object.entries(CODES).flatMap(([name, code]) => {
    const table = inventoryTable(name);
    return table === undefined ? [] : [[code, table] as const];
  }),
);

/** Number of a table of an agent. @param agent `001` */
export function inventoryComponent(agent: string, table: InventoryTableName): number {
  return Number(agent) * TABLES_PER_AGENT + CODES[table];
}

/** The agent that such a number belongs to: `001`. */
export function agentOfComponent(component: number): string {
  return agentIdText(Math.floor(component / TABLES_PER_AGENT));
}

/** The table that such a number belongs to. */
export function tableOfNumber(component: number): InventoryTable | undefined {
  return BY_CODE.get(component % TABLES_PER_AGENT);
}
