/** Fields of one inventory table (decoding.md 4.13). */
export type InventoryTable = {
  /** Column and the field it becomes, in the order of the fields. */
  readonly columns: readonly (readonly [string, string])[];
};

/** Columns as words, each `<prefix>.<column>` unless `renamed` says otherwise. */
function table(prefix: string, columns: string, renamed: Readonly<Record<string, string>> = {}): InventoryTable {
  const names = new Map(Object.entries(renamed));
  return { columns: columns.split(' ').map((column) => [column, names.get(column) ?? `${prefix}.${column}`] as const) };
}

/** Tables by the name behind `dbsync_`. */
export const INVENTORY_TABLES: ReadonlyMap<string, InventoryTable> = new Map([
  [
    'packages',
    table(
      'program',
      'format name priority groups size vendor install_time version architecture multiarch source description location',
      { groups: 'program.section' },
    ),
  ],
  [
    'processes',
    table(
      'process',
      'pid name state ppid utime stime cmd argvs euser ruser suser egroup rgroup sgroup fgroup priority nice size ' +
        'vm_size resident share start_time pgrp session nlwp tgid tty processor',
      { argvs: 'process.args' },
    ),
  ],
  [
    'ports',
    table('port', 'protocol local_ip local_port remote_ip remote_port tx_queue rx_queue inode state pid process'),
  ],
  ['hotfixes', table('', 'hotfix', { hotfix: 'hotfix' })],
  [
    'network_iface',
    table(
      'netinfo.iface',
      'name adapter type state mtu mac tx_packets rx_packets tx_bytes rx_bytes tx_errors rx_errors tx_dropped rx_dropped',
    ),
  ],
  ['network_protocol', table('netinfo.proto', 'iface type gateway dhcp metric')],
  ['network_address', table('netinfo.addr', 'iface proto address netmask broadcast')],
  [
    'hwinfo',
    table('hardware', 'board_serial cpu_name cpu_cores cpu_mhz ram_total ram_free ram_usage', {
      board_serial: 'hardware.serial',
    }),
  ],
  [
    'osinfo',
    table(
      'os',
      'hostname architecture os_name os_version os_codename os_major os_minor os_patch os_build os_platform sysname ' +
        'release version os_release os_display_version',
      {
        os_name: 'os.name',
        os_version: 'os.version',
        os_codename: 'os.codename',
        os_major: 'os.major',
        os_minor: 'os.minor',
        os_patch: 'os.patch',
        os_build: 'os.build',
        os_platform: 'os.platform',
        os_display_version: 'os.display_version',
      },
    ),
  ],
  [
    'users',
    table(
      'user',
      'user_name user_full_name user_home user_id user_uid_signed user_uuid user_groups user_group_id ' +
        'user_group_id_signed user_created user_roles user_shell user_type user_is_hidden user_is_remote ' +
        'user_last_login user_auth_failed_count user_auth_failed_timestamp user_password_last_change ' +
        'user_password_expiration_date user_password_hash_algorithm user_password_inactive_days ' +
        'user_password_max_days_between_changes user_password_min_days_between_changes user_password_status ' +
        'user_password_warning_days_before_expiration process_pid host_ip login_status login_tty login_type',
    ),
  ],
  [
    'groups',
    table('group', 'group_id group_name group_description group_id_signed group_uuid group_is_hidden group_users'),
  ],
  [
    'browser_extensions',
    table(
      'browser_extension',
      'browser_name user_id package_name package_id package_version package_description package_vendor ' +
        'package_build_version package_path browser_profile_name browser_profile_path package_reference ' +
        'package_permissions package_type package_enabled package_visible package_autoupdate package_persistent ' +
        'package_from_webstore browser_profile_referenced package_installed file_hash_sha256',
    ),
  ],
  [
    'services',
    table(
      'service',
      'service_id service_name service_description service_type service_state service_sub_state service_enabled ' +
        'service_start_type service_restart service_frequency service_starts_on_mount ' +
        'service_starts_on_path_modified service_starts_on_not_empty_directory service_inetd_compatibility ' +
        'process_pid process_executable process_args process_user_name process_group_name process_working_directory ' +
        'process_root_directory file_path service_address log_file_path error_log_file_path service_exit_code ' +
        'service_win32_exit_code service_following service_object_path service_target_ephemeral_id ' +
        'service_target_type service_target_address',
    ),
  ],
]);
