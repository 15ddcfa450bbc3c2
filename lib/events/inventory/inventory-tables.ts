/** How a column is stored and shown. */
export type ColumnType = 'text' | 'integer' | 'real';

export type InventoryColumn = {
  /** As agents call it, and the tables of a state document. */
  readonly name: string;
  readonly type: ColumnType;
};

/** One table of the inventory (integrity-and-inventory.md 11.4). */
export type InventoryTable = {
  /** Behind `dbsync_` and `syscollector_` on the wire. */
  readonly name: InventoryTableName;
  /** Column whose value is the key of a row, on the wire and stored; `item_id` is none of `columns`. */
  readonly key: string;
  /** Columns whose values `item_id` is made of, in this order; absent where `key` is a column. */
  readonly itemId?: readonly string[];
  /** In the order of the reference's table. */
  readonly columns: readonly InventoryColumn[];
};

const NAMES = [
  'hwinfo',
  'osinfo',
  'network_iface',
  'network_protocol',
  'network_address',
  'packages',
  'hotfixes',
  'ports',
  'processes',
  'users',
  'groups',
  'services',
  'browser_extensions',
] as const;
export type InventoryTableName = (typeof NAMES)[number];

/** Columns as words; `:i` is a whole number, `:r` any number, the others are texts. */
function columns(words: string): InventoryColumn[] {
  return words.split(' ').map((word) => {
    const [name = '', mark] = word.split(':');
    return { name, type: mark === 'i' ? 'integer' : mark === 'r' ? 'real' : 'text' };
  });
}

const TABLES: Readonly<Record<InventoryTableName, Omit<InventoryTable, 'name'>>> = {
  hwinfo: {
    key: 'board_serial',
    columns: columns('board_serial cpu_name cpu_cores:i cpu_mhz:r ram_total:i ram_free:i ram_usage:i'),
  },
  osinfo: {
    key: 'os_name',
    columns: columns(
      'hostname architecture os_name os_version os_codename os_major os_minor os_patch os_build os_platform sysname ' +
        'release version os_release os_display_version',
    ),
  },
  network_iface: {
    key: 'item_id',
    itemId: ['name', 'adapter', 'type'],
    columns: columns(
      'name adapter type state mtu:i mac tx_packets:i rx_packets:i tx_bytes:i rx_bytes:i tx_errors:i rx_errors:i ' +
        'tx_dropped:i rx_dropped:i',
    ),
  },
  network_protocol: {
    key: 'item_id',
    itemId: ['iface', 'type'],
    columns: columns('iface type gateway dhcp metric'),
  },
  network_address: {
    key: 'item_id',
    itemId: ['iface', 'proto', 'address'],
    columns: columns('iface proto address netmask broadcast'),
  },
  packages: {
    key: 'item_id',
    itemId: ['name', 'version', 'architecture', 'format', 'location'],
    columns: columns(
      'format name priority groups size:i vendor install_time version architecture multiarch source description location',
    ),
  },
  hotfixes: { key: 'hotfix', columns: columns('hotfix') },
  ports: {
    key: 'item_id',
    itemId: ['inode', 'protocol', 'local_ip', 'local_port'],
    columns: columns(
      'protocol local_ip local_port:i remote_ip remote_port:i tx_queue:i rx_queue:i inode:i state pid:i process',
    ),
  },
  processes: {
    key: 'pid',
    columns: columns(
      'pid name state ppid:i utime:i stime:i cmd argvs euser ruser suser egroup rgroup sgroup fgroup priority:i nice:i ' +
        'size:i vm_size:i resident:i share:i start_time:i pgrp:i session:i nlwp:i tgid:i tty:i processor:i',
    ),
  },
  users: {
    key: 'user_name',
    columns: columns(
      'user_name user_full_name user_home user_id:i user_uid_signed:i user_uuid user_groups user_group_id:i ' +
        'user_group_id_signed:i user_created:r user_roles user_shell user_type user_is_hidden:i user_is_remote:i ' +
        'user_last_login:i user_auth_failed_count:i user_auth_failed_timestamp:r user_password_last_change:r ' +
        'user_password_expiration_date:i user_password_hash_algorithm user_password_inactive_days:i ' +
        'user_password_max_days_between_changes:i user_password_min_days_between_changes:i user_password_status ' +
        'user_password_warning_days_before_expiration:i process_pid:i host_ip login_status:i login_tty login_type',
    ),
  },
  groups: {
    key: 'group_name',
    columns: columns(
      'group_id:i group_name group_description group_id_signed:i group_uuid group_is_hidden:i group_users',
    ),
  },
  services: {
    key: 'item_id',
    itemId: ['service_id', 'file_path'],
    columns: columns(
      'service_id service_name service_description service_type service_state service_sub_state service_enabled ' +
        'service_start_type service_restart service_frequency:i service_starts_on_mount:i ' +
        'service_starts_on_path_modified service_starts_on_not_empty_directory service_inetd_compatibility:i ' +
        'process_pid:i process_executable process_args process_user_name process_group_name process_working_dir ' +
        'process_root_dir file_path service_address log_file_path error_log_file_path service_exit_code:i ' +
        'service_win32_exit_code:i service_following service_object_path service_target_ephemeral_id:i ' +
        'service_target_type service_target_address',
    ),
  },
  browser_extensions: {
    key: 'item_id',
    itemId: ['browser_name', 'user_id', 'browser_profile_path', 'package_name', 'package_version'],
    columns: columns(
      'browser_name user_id package_name package_id package_version package_description package_vendor ' +
        'package_build_version package_path browser_profile_name browser_profile_path package_reference ' +
        'package_permissions package_type package_enabled:i package_visible:i package_autoupdate:i ' +
        'package_persistent:i package_from_webstore:i browser_profile_referenced:i package_installed file_hash_sha256',
    ),
  },
};

/** All tables, in the order in which a host is scanned (11.1, 11.4). */
export const INVENTORY_TABLES: readonly InventoryTable[] = NAMES.map((name) => ({ name, ...TABLES[name] }));

const BY_NAME: ReadonlyMap<string, InventoryTable> = new Map(INVENTORY_TABLES.map((table) => [table.name, table]));

/** The table that a name on the wire means, without its prefix. */
export function inventoryTable(name: string): InventoryTable | undefined {
  return BY_NAME.get(name);
}
