import { INVENTORY_TYPES, type InventoryType } from '../../../lib/bus/contracts/db-inventory.js';
import { type InventoryTable, inventoryTable } from '../../../lib/events/inventory/inventory-tables.js';
import type { CellValue } from '../../../lib/events/inventory/read-row.js';
import type { StoredRow } from './inventory-row.js';

/** A row as lists look at it. */
export type InventoryCandidate = { readonly row: StoredRow; readonly agent: string };

/** A field of the API (integrity-and-inventory.md 11.5); dots are places of nested objects. */
export type InventoryField = {
  readonly name: string;
  /** Place of its column in the table; absent where it is of the row as a whole. */
  readonly column?: number;
  readonly read: (candidate: InventoryCandidate) => CellValue;
  /** As the contract has it, where that is not what is stored. */
  readonly shown?: (value: string | number) => unknown;
};

/** What the API shows of a table. */
export type InventoryView = {
  readonly table: InventoryTable;
  /** In the order of its items. */
  readonly fields: ReadonlyMap<string, InventoryField>;
};

/** How fields are named by columns, and what is shown of the row beside them. */
type Naming = {
  readonly table: InventoryTable['name'];
  /** `<group>_x` is `<group>.x`. */
  readonly groups?: readonly string[];
  readonly renamed?: Readonly<Record<string, string>>;
  readonly hidden?: readonly string[];
  readonly marks: readonly (keyof typeof MARKS)[];
};

/** Columns that are numbers where they are stored, and `true` or `false` in the contract. */
const FLAGS: ReadonlySet<string> = new Set([
  ...['package_enabled', 'package_visible', 'package_autoupdate', 'package_persistent', 'package_from_webstore'],
  ...['browser_profile_referenced', 'service_starts_on_mount', 'service_inetd_compatibility'],
]);
/** A number that is a text in the contract. */
const TEXTS: ReadonlySet<string> = new Set(['user_password_expiration_date']);

/** Marks of rows by the names of their fields; the number of a scan is always 0. */
const MARKS = {
  checksum: ({ row }: InventoryCandidate): CellValue => row.checksum,
  'scan.id': (): CellValue => 0,
  'scan.time': ({ row }: InventoryCandidate): CellValue => row.scanTime,
  scan_id: (): CellValue => 0,
  scan_time: ({ row }: InventoryCandidate): CellValue => row.scanTime,
} as const;
const SCAN = ['scan.id', 'scan.time'] as const;
const CHECKED = ['checksum', ...SCAN] as const;

const NAMING: Readonly<Record<InventoryType, Naming>> = {
  hardware: { table: 'hwinfo', groups: ['cpu', 'ram'], marks: SCAN },
  os: { table: 'osinfo', groups: ['os'], renamed: { os_release: 'os_release' }, marks: SCAN },
  packages: { table: 'packages', renamed: { groups: 'section' }, marks: SCAN },
  processes: { table: 'processes', marks: SCAN },
  ports: { table: 'ports', groups: ['local', 'remote'], marks: SCAN },
  netaddr: { table: 'network_address', marks: ['scan.id'] },
  netproto: { table: 'network_protocol', hidden: ['metric'], marks: ['scan.id'] },
  netiface: { table: 'network_iface', groups: ['tx', 'rx'], marks: SCAN },
  hotfixes: { table: 'hotfixes', marks: ['scan_id', 'scan_time'] },
  users: { table: 'users', groups: ['user', 'login'], marks: CHECKED },
  groups: { table: 'groups', groups: ['group'], marks: CHECKED },
  browser_extensions: {
    table: 'browser_extensions',
    groups: ['browser', 'package', 'user', 'file_hash'],
    marks: CHECKED,
  },
  services: {
    table: 'services',
    groups: ['service', 'process', 'error_log_file', 'log_file', 'file'],
    renamed: { process_working_dir: 'process.working_directory', process_root_dir: 'process.root_directory' },
    marks: CHECKED,
  },
};

const VIEWS: ReadonlyMap<InventoryType, InventoryView> = new Map(
  INVENTORY_TYPES.map((type) => [type, viewOf(NAMING[type])]),
);

/** What the API shows by a name of its own. */
export function inventoryView(type: InventoryType): InventoryView {
  const view = VIEWS.get(type);
  if (view === undefined) throw new Error(`there is no inventory of ${type}`);
  return view;
}

function viewOf(naming: Naming): InventoryView {
  const { groups = [], renamed = {}, hidden = [], marks } = naming;
  const table = inventoryTable(naming.table);
  if (table === undefined) throw new Error(`there is no table ${naming.table}`);
  const fields: InventoryField[] = [];
  for (const [index, { name: column }] of table.columns.entries()) {
    if (hidden.includes(column)) continue;
    const group = groups.find((prefix) => column.startsWith(`${prefix}_`));
    const dotted = group === undefined ? column : `${group}.${column.slice(group.length + 1)}`;
    const shown = FLAGS.has(column) ? isSet : TEXTS.has(column) ? String : undefined;
    fields.push({
      ...{ name: renamed[column] ?? dotted, column: index, read: ({ row }: InventoryCandidate) => row.cell(index) },
      ...(shown && { shown }),
    });
  }
  for (const name of marks) fields.push({ name, read: MARKS[name] });
  fields.push({ name: 'agent_id', read: ({ agent }) => agent });
  return { table, fields: new Map(fields.map((field) => [field.name, field])) };
}

/** Groups that are nested even if one of their fields is there alone (11.5). */
const ALWAYS_NESTED: ReadonlySet<string> = new Set(['scan', 'os', 'ram', 'cpu', 'local', 'remote', 'tx', 'rx']);

/** A field with its place in an item. */
type PlacedField = InventoryField & { readonly group: string | undefined; readonly member: string };

/**
 * What makes items of rows as the API shows them: what was not told is left out, dotted names are nested.
 * @param names of fields, in their order; all of the view without them
 */
export function inventoryItems(
  { fields }: InventoryView,
  names: readonly string[] | undefined,
): (candidate: InventoryCandidate) => Record<string, unknown> {
  const chosen = names === undefined ? [...fields.values()] : names.flatMap((name) => fields.get(name) ?? []);
  const placed = chosen.map(placedField);
  const isCounted = placed.some(({ group }) => group !== undefined && !ALWAYS_NESTED.has(group));
  return (candidate) => {
    // In one go: each on its own would be looked for from the beginning of the row.
    const cells = candidate.row.cells();
    const values = placed.map(({ column, read, shown }) => {
      const value = column === undefined ? read(candidate) : cells[column];
      return value === undefined || shown === undefined ? value : shown(value);
    });
    return nested(placed, values, isCounted ? groupsAlone(placed, values) : NO_GROUPS);
  };
}

function placedField(field: InventoryField): PlacedField {
  const dot = field.name.indexOf('.');
  const group = dot === -1 ? undefined : field.name.slice(0, dot);
  return { ...field, group, member: field.name.slice(dot + 1) };
}

function isSet(value: string | number): boolean {
  return Number(value) !== 0;
}

const NO_GROUPS: ReadonlySet<string> = new Set();

/** Groups of which one field alone was told: it keeps its dotted name. */
function groupsAlone(fields: readonly PlacedField[], values: readonly unknown[]): ReadonlySet<string> {
  const alone = new Set<string>();
  const several = new Set<string>(ALWAYS_NESTED);
  for (const [index, { group }] of fields.entries()) {
    if (group === undefined || values[index] === undefined || several.has(group)) continue;
    if (alone.delete(group)) several.add(group);
    else alone.add(group);
  }
  return alone;
}

function nested(
  fields: readonly PlacedField[],
  values: readonly unknown[],
  alone: ReadonlySet<string>,
): Record<string, unknown> {
  const item: Record<string, unknown> = {};
  for (let index = 0; index < fields.length; index += 1) {
    const field = fields[index];
    const value = values[index];
    if (field === undefined || value === undefined) continue;
    const { name, group, member } = field;
    if (group === undefined || alone.has(group)) {
      item[name] = value;
    } else {
      const members = (item[group] ??= {}) as Record<string, unknown>;
      members[member] = value;
    }
  }
  return item;
}
