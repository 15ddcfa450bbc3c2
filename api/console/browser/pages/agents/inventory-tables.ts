import { shownNumber } from '../../client/shown.js';
import type { INVENTORY_TEXTS } from '../../texts/inventory.js';

/** A column of an inventory: where its value is in a row. A dot leads into an object, or is part of the name. */
export type InventoryColumn = readonly [path: keyof typeof INVENTORY_TEXTS.columns, kind?: 'number' | 'extra' | 'code'];

export type InventoryTable = {
  /** Its name in the API, `/syscollector/{agent_id}/<key>`. */
  readonly key: keyof typeof INVENTORY_TEXTS.tables;
  readonly sort: string;
  readonly columns: readonly InventoryColumn[];
};

/** What is known of a host, table by table (rest-api.md 6.13). */
export const INVENTORY_TABLES: readonly InventoryTable[] = [
  {
    key: 'packages',
    sort: '+name',
    columns: [
      ['name'],
      ['version'],
      ['architecture', 'extra'],
      ['format', 'extra'],
      ['vendor', 'extra'],
      ['description', 'extra'],
    ],
  },
  {
    key: 'processes',
    sort: '+name',
    columns: [
      ['name'],
      ['pid', 'number'],
      ['euser'],
      ['state', 'extra'],
      ['vm_size', 'number'],
      ['cmd', 'extra'],
      ['argvs', 'extra'],
    ],
  },
  {
    key: 'ports',
    sort: '+local.port',
    columns: [
      ['protocol'],
      ['local.ip'],
      ['local.port', 'number'],
      ['state'],
      ['remote.ip', 'extra'],
      ['remote.port', 'extra'],
      ['process', 'extra'],
    ],
  },
  {
    key: 'netiface',
    sort: '+name',
    columns: [
      ['name'],
      ['state'],
      ['mac', 'code'],
      ['type', 'extra'],
      ['mtu', 'extra'],
      ['rx.bytes', 'extra'],
      ['tx.bytes', 'extra'],
    ],
  },
  {
    key: 'netaddr',
    sort: '+iface',
    columns: [['iface'], ['proto'], ['address', 'code'], ['netmask', 'extra'], ['broadcast', 'extra']],
  },
  {
    key: 'netproto',
    sort: '+iface',
    columns: [['iface'], ['type'], ['gateway', 'code'], ['dhcp']],
  },
  {
    key: 'users',
    sort: '+user.name',
    columns: [
      ['user.name'],
      ['user.id', 'number'],
      ['user.full_name', 'extra'],
      ['user.home', 'extra'],
      ['user.shell'],
      ['user.last_login', 'extra'],
    ],
  },
  {
    key: 'groups',
    sort: '+group.name',
    columns: [['group.name'], ['group.id', 'number'], ['group.users']],
  },
  {
    key: 'services',
    sort: '+service.id',
    columns: [
      ['service.id'],
      ['service.state'],
      ['service.sub_state', 'extra'],
      ['service.start_type', 'extra'],
      ['process.executable', 'extra'],
      ['service.description', 'extra'],
    ],
  },
  {
    key: 'browser_extensions',
    sort: '+package.name',
    columns: [['package.name'], ['package.version'], ['browser.name'], ['user.id', 'extra']],
  },
  {
    key: 'hotfixes',
    sort: '+hotfix',
    columns: [['hotfix']],
  },
];

/** A value of a row as text; `–` for what is not known. */
export function valueAt(row: Readonly<Record<string, unknown>>, path: string): string {
  const value = path in row ? row[path] : within(row, path);
  if (value === undefined || value === null || value === '' || value === ' ') return '–';
  if (typeof value === 'number') return shownNumber(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function within(row: Readonly<Record<string, unknown>>, path: string): unknown {
  const dot = path.indexOf('.');
  const inner = dot === -1 ? undefined : row[path.slice(0, dot)];
  if (typeof inner !== 'object' || inner === null) return undefined;
  return (inner as Record<string, unknown>)[path.slice(dot + 1)];
}
