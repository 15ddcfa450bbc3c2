import { INVENTORY_TABLES, type InventoryTableName } from '../../../events/inventory/inventory-tables.js';

/** Columns of one inventory table as the engine reads them (decoding.md 4.13). */
export type InventoryFields = {
  /** Column and the field it becomes, in the order of the fields. */
  readonly columns: readonly (readonly [string, string])[];
};

/** Fields are `<prefix>.<column>`, unless renamed. */
type Naming = { readonly prefix: string; readonly renamed?: Readonly<Record<string, string>> };

const OS_COLUMNS = ['name', 'version', 'codename', 'major', 'minor', 'patch', 'build', 'platform', 'display_version'];

const NAMING: Readonly<Record<InventoryTableName, Naming>> = {
  packages: { prefix: 'program', renamed: { groups: 'program.section' } },
  processes: { prefix: 'process', renamed: { argvs: 'process.args' } },
  ports: { prefix: 'port' },
  hotfixes: { prefix: '', renamed: { hotfix: 'hotfix' } },
  network_iface: { prefix: 'netinfo.iface' },
  network_protocol: { prefix: 'netinfo.proto' },
  network_address: { prefix: 'netinfo.addr' },
  hwinfo: { prefix: 'hardware', renamed: { board_serial: 'hardware.serial' } },
  osinfo: {
    prefix: 'os',
    renamed: Object.fromEntries(OS_COLUMNS.map((name) => [`os_${name}`, `os.${name}`])),
  },
  users: { prefix: 'user' },
  groups: { prefix: 'group' },
  browser_extensions: { prefix: 'browser_extension' },
  services: { prefix: 'service' },
};

/** Columns that the reference's decoder reads by the names of its own tables; agents send others. */
const READ_AS: Readonly<Record<string, string>> = {
  process_working_dir: 'process_working_directory',
  process_root_dir: 'process_root_directory',
};

/** By the name behind `dbsync_`. */
export const INVENTORY_FIELDS: ReadonlyMap<string, InventoryFields> = new Map(
  INVENTORY_TABLES.map(({ name: table, columns }) => {
    const { prefix, renamed = {} } = NAMING[table];
    const fields = columns.map(({ name }) => {
      const column = READ_AS[name] ?? name;
      return [column, renamed[column] ?? `${prefix}.${column}`] as const;
    });
    return [table, { columns: fields }];
  }),
);
