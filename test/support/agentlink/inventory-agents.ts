import type { InventoryRow } from '../../../lib/events/inventory/row-marks.js';
import { RangeHash } from '../../../lib/events/sync/range-hash.js';
import { markedRow, packageRow, state } from '../inventory/inventory-messages.js';
import type { SimulatedAgent } from './simulated-agent.js';

/** Messages of one agent a second: the default of `<synchronization><max_eps>`. */
const MAX_EPS = 10;
const SECOND_MS = 1000;

type Table = { readonly name: string; readonly check: string; readonly states: readonly string[] };

const process = (index: number): InventoryRow => ({
  ...{ pid: String(1000 + index), name: `daemon-${String(index)}`, state: 'S', ppid: 1, utime: index, stime: 3 },
  ...{ cmd: `/usr/sbin/daemon-${String(index)}`, argvs: '--foreground', euser: 'root', ruser: 'root', suser: 'root' },
  ...{ egroup: 'root', rgroup: 'root', sgroup: 'root', fgroup: 'root', priority: 20, nice: 0, size: 10934 },
  ...{ vm_size: 43736, resident: 14240, share: 1560, start_time: 1795218473, pgrp: 0, session: 0, nlwp: 1 },
  ...{ tgid: 1000 + index, tty: 0, processor: 1 },
});
const port = (index: number): InventoryRow => ({
  ...{ inode: 1000 + index, local_ip: '0.0.0.0', local_port: 2000 + index, pid: index, process: ' ', protocol: 'tcp' },
  ...{ remote_ip: '0.0.0.0', remote_port: 0, rx_queue: 0, state: 'listening', tx_queue: 0 },
});
const group = (index: number): InventoryRow => ({
  ...{ group_description: ' ', group_id: index, group_id_signed: index, group_is_hidden: 0 },
  ...{ group_name: `group-${String(index)}`, group_users: ' ', group_uuid: ' ' },
});

/** Parts of all rows, by their tables; packages are the rest. */
const SHARES: readonly (readonly [name: string, key: string, share: number, row: (index: number) => InventoryRow])[] = [
  ['processes', 'pid', 0.2, process],
  ['ports', 'item_id', 0.1, port],
  ['groups', 'group_name', 0.1, group],
];

/** What every one of the agents has: alike, so that thousands fit into a process. @param count rows of all tables together */
function tablesOf(count: number): Table[] {
  const sizes = SHARES.map(([, , share]) => Math.floor(count * share));
  const packages = count - sizes.reduce((sum, size) => sum + size, 0);
  const all = [
    ...SHARES.map(([name, key, , row], index) => ({ name, key, size: sizes[index] ?? 0, row })),
    {
      name: 'packages',
      key: 'item_id',
      size: packages,
      row: (index: number) => packageRow(`package-${String(index)}`),
    },
  ];
  return all.map(({ name, key, size, row }) => {
    const rows = Array.from({ length: size }, (_none, index) => row(index));
    const marked = rows.map((each) => markedRow(name, each));
    const sorted = marked.sort((a, b) => (String(a[key]) < String(b[key]) ? -1 : 1));
    const hash = new RangeHash();
    for (const { checksum } of sorted) hash.add(String(checksum));
    const data = { begin: sorted[0]?.[key], checksum: hash.digest(), end: sorted.at(-1)?.[key], id: 1_795_000_000 };
    const check = JSON.stringify({ component: `syscollector_${name}`, data, type: 'integrity_check_global' });
    return { name, check, states: rows.map((each) => state(name, each)) };
  });
}

/**
 * Has agents synchronise what is on their hosts as they do in their first minute: a check of each table, the rows that the
 * manager asks for, each at most so many messages a second.
 */
export function synchroniseInventories(agents: readonly SimulatedAgent[], count: number): void {
  const tables = tablesOf(count);
  const waiting = agents.map(() => tables.map(({ check }) => check).reverse());
  for (const [index, agent] of agents.entries()) {
    agent.onModuleOrder = (text) => {
      const table = tables.find(({ name }) => text.startsWith(`syscollector_${name} dbsync `));
      if (table !== undefined) waiting[index]?.unshift(...table.states);
    };
  }
  setInterval(() => {
    for (const [index, agent] of agents.entries()) {
      const messages = waiting[index];
      if (messages === undefined || messages.length === 0 || agent.isFull) continue;
      agent.event('syscollector', messages.pop() ?? '', '5');
    }
  }, SECOND_MS / MAX_EPS);
}
