import type { InventoryTableName } from '../../../../lib/events/inventory/inventory-tables.js';
import { cutBytes } from '../cut-bytes.js';
import {
  addresses,
  counts,
  dates,
  field,
  flags,
  lists,
  mapped,
  optional,
  optionalTexts,
  positiveDates,
  type StateField,
  texts,
} from './state-field.js';
import { addressOf, listOf, realOf, type StateRow, textOf, wholeOf } from './state-values.js';

/** How rows of a table of the inventory become documents. */
export type StateTable = {
  readonly table: InventoryTableName;
  /** In the name of the index: `wazuh-states-inventory-<kind>-...`. */
  readonly kind: string;
  readonly fields: readonly StateField[];
  /** What stands for a key that is empty; absent: a row without is refused. */
  readonly emptyKey?: string;
  /** A row is refused in which all of these are empty. */
  readonly needsOneOf?: readonly string[];
};

/** Longest text of a keyword that is searched whatever its length, bytes: one more and the server refuses the document. */
const MAX_KEYWORD_BYTES = 32_766;
const KIBIBYTE = 1024;
const PERCENT = 0.01;
const DIGITS_OF_DECIMALS = 6;

const SYSTEM: readonly StateField[] = [
  ...texts('host.architecture=architecture host.hostname=hostname host.os.name=os_name host.os.version=os_version'),
  ...texts('host.os.codename=os_codename host.os.platform=os_platform host.os.kernel.name=sysname'),
  ...texts('host.os.kernel.release=release host.os.kernel.version=version'),
  ...mapped('keyword', 'host.os.build host.os.full host.os.major host.os.minor host.os.patch host.os.type'),
  ...mapped('keyword', 'host.os.distribution.release'),
];

const HARDWARE: readonly StateField[] = [
  field('host.serial_number', 'keyword', (row) => textOf(row, 'board_serial') ?? NO_SERIAL),
  ...texts('host.cpu.name=cpu_name'),
  ...counts('host.cpu.cores=cpu_cores', 'short'),
  ...counts('host.cpu.speed=cpu_mhz'),
  field('host.memory.total', 'long', (row) => memory(row, 'ram_total')),
  field('host.memory.free', 'long', (row) => memory(row, 'ram_free')),
  field('host.memory.used', 'long', (row) => Math.max(0, memory(row, 'ram_total') - memory(row, 'ram_free'))),
  field('host.memory.usage', 'scaled_float', (row) => {
    const usage = Number(((realOf(row, 'ram_usage') ?? 0) * PERCENT).toPrecision(DIGITS_OF_DECIMALS));
    return usage === 0 ? undefined : usage;
  }),
];
const NO_SERIAL = 'unknown';

/** Bytes of so many kibibytes. */
function memory(row: StateRow, column: string): number {
  const bytes = Math.trunc(realOf(row, column) ?? 0) * KIBIBYTE;
  return Number.isSafeInteger(bytes) ? bytes : 0;
}

const PACKAGES: readonly StateField[] = [
  ...texts('package.name=name package.version=version package.vendor=vendor package.architecture=architecture'),
  ...texts('package.description=description package.type=format package.path=location'),
  ...dates('package.installed=install_time'),
  ...counts('package.size=size'),
  ...mapped('keyword', 'package.category package.multiarch package.priority package.source'),
];

const PROCESSES: readonly StateField[] = [
  field('process.pid', 'long', (row) => wholeOf(row, 'pid', 'long')),
  ...texts('process.name=name'),
  field('process.command_line', 'whole_keyword', (row) => {
    const command = textOf(row, 'cmd')?.replaceAll('\\', '/').replaceAll('//', '/');
    return command === undefined ? undefined : cutBytes(command, MAX_KEYWORD_BYTES);
  }),
  // Two blanks have an empty one between them.
  field('process.args', 'keyword', (row) => textOf(row, 'argvs')?.split(' ')),
  field('process.args_count', 'long', (row) => textOf(row, 'argvs')?.split(' ').length ?? 0),
  ...dates('process.start=start_time'),
  ...counts('process.parent.pid=ppid'),
  ...mapped('keyword', 'process.state'),
  ...mapped('long', 'process.stime process.utime'),
];

const PORTS: readonly StateField[] = [
  ...addresses('source.ip=local_ip destination.ip=remote_ip'),
  ...counts('source.port=local_port destination.port=remote_port'),
  ...texts('network.transport=protocol interface.state=state'),
  field('file.inode', 'keyword', (row) => String(row['inode'] ?? 0)),
  ...counts('host.network.egress.queue=tx_queue host.network.ingress.queue=rx_queue process.pid=pid'),
  ...texts('process.name=process'),
];

const INTERFACES: readonly StateField[] = [
  ...texts('interface.name=name interface.type=type interface.state=state interface.alias=adapter host.mac=mac'),
  ...counts('interface.mtu=mtu host.network.ingress.bytes=rx_bytes host.network.ingress.packets=rx_packets'),
  ...counts('host.network.ingress.errors=rx_errors host.network.ingress.drops=rx_dropped'),
  ...counts('host.network.egress.bytes=tx_bytes host.network.egress.packets=tx_packets'),
  ...counts('host.network.egress.errors=tx_errors host.network.egress.drops=tx_dropped'),
];

const NETWORKS: readonly StateField[] = [
  ...texts('interface.name=iface'),
  ...addresses('network.ip=address network.netmask=netmask network.broadcast=broadcast'),
  field('network.type', 'keyword', (row) => (['', 'ipv4', '0'].includes(textOf(row, 'proto') ?? '') ? 'IPv4' : 'IPv6')),
  ...mapped('boolean', 'network.dhcp'),
  ...mapped('long', 'network.metric'),
];

const PROTOCOLS: readonly StateField[] = [
  ...texts('interface.name=iface network.type=type'),
  field('network.dhcp', 'boolean', (row) => row['dhcp'] === 'enabled'),
  // Several gateways, separated by commas, are no address.
  ...addresses('network.gateway=gateway'),
  field('network.metric', 'long', (row) => wholeOf(row, 'metric', 'long') ?? 0),
];

const USERS: readonly StateField[] = [
  ...texts('user.name=user_name user.full_name=user_full_name user.home=user_home user.shell=user_shell'),
  ...texts('user.type=user_type user.uuid=user_uuid'),
  ...optionalTexts('user.id=user_id'),
  ...counts('user.uid_signed=user_uid_signed user.group.id_signed=user_group_id_signed'),
  ...optional('user.group.id=user_group_id', 'unsigned_long'),
  ...lists(':', 'user.groups=user_groups'),
  ...lists(',', 'user.roles=user_roles'),
  ...flags('user.is_hidden=user_is_hidden user.is_remote=user_is_remote login.status=login_status'),
  ...positiveDates('user.created=user_created user.last_login=user_last_login'),
  ...optional('user.auth_failures.count=user_auth_failed_count', 'integer'),
  ...positiveDates('user.auth_failures.timestamp=user_auth_failed_timestamp'),
  ...texts('user.password.status=user_password_status user.password.hash_algorithm=user_password_hash_algorithm'),
  ...positiveDates('user.password.last_change=user_password_last_change'),
  ...positiveDates('user.password.expiration_date=user_password_expiration_date'),
  ...[
    'inactive_days',
    'max_days_between_changes',
    'min_days_between_changes',
    'warning_days_before_expiration',
  ].flatMap((name) => optional(`user.password.${name}=user_password_${name}`, 'integer')),
  ...texts('login.tty=login_tty login.type=login_type'),
  field('host.ip', 'ip', (row) => {
    const found = (listOf(row, 'host_ip', ',') ?? []).flatMap((text) => addressOf(text) ?? []);
    return found.length === 0 ? undefined : found;
  }),
  ...optional('process.pid=process_pid', 'long'),
];

const GROUPS: readonly StateField[] = [
  ...texts('group.name=group_name group.uuid=group_uuid'),
  ...texts('group.description=group_description', 'match_only_text'),
  ...optional('group.id=group_id', 'unsigned_long'),
  ...counts('group.id_signed=group_id_signed'),
  ...flags('group.is_hidden=group_is_hidden'),
  ...lists(':', 'group.users=group_users'),
];

const SERVICES: readonly StateField[] = [
  ...['id', 'name', 'description', 'type', 'state', 'sub_state', 'enabled', 'start_type', 'restart'].flatMap((name) =>
    texts(`service.${name}=service_${name}`),
  ),
  ...texts('service.address=service_address service.following=service_following'),
  ...texts('service.object_path=service_object_path'),
  ...optional('service.frequency=service_frequency', 'long'),
  ...optional('service.exit_code=service_exit_code service.win32_exit_code=service_win32_exit_code', 'integer'),
  ...flags('service.inetd_compatibility=service_inetd_compatibility service.starts.on_mount=service_starts_on_mount'),
  ...lists(',', 'service.starts.on_not_empty_directory=service_starts_on_not_empty_directory'),
  ...lists(',', 'service.starts.on_path_modified=service_starts_on_path_modified'),
  ...texts('service.target.address=service_target_address service.target.type=service_target_type'),
  field('service.target.ephemeral_id', 'keyword', (row) => {
    const id = String(row['service_target_ephemeral_id'] ?? 0);
    return id.startsWith('-') ? undefined : id;
  }),
  ...texts('process.executable=process_executable process.working_directory=process_working_dir'),
  ...texts('process.root_directory=process_root_dir process.user.name=process_user_name'),
  ...texts('process.group.name=process_group_name file.path=file_path log.file.path=log_file_path'),
  ...texts('error.log.file.path=error_log_file_path'),
  ...lists(',', 'process.args=process_args'),
  ...optional('process.pid=process_pid', 'long'),
];

const BROWSER_EXTENSIONS: readonly StateField[] = [
  ...texts('browser.name=browser_name browser.profile.name=browser_profile_name'),
  ...texts('browser.profile.path=browser_profile_path user.id=user_id file.hash.sha256=file_hash_sha256'),
  ...['id', 'name', 'version', 'build_version', 'description', 'vendor', 'path', 'reference', 'type'].flatMap((name) =>
    texts(`package.${name}=package_${name}`),
  ),
  ...dates('package.installed=package_installed'),
  ...lists(',', 'package.permissions=package_permissions'),
  ...flags('browser.profile.referenced=browser_profile_referenced package.autoupdate=package_autoupdate'),
  ...flags('package.enabled=package_enabled package.visible=package_visible'),
  ...flags('package.from_webstore=package_from_webstore package.persistent=package_persistent'),
];

/** All of them (indexer.md 3.2 to 3.14). */
export const STATE_TABLES: readonly StateTable[] = [
  { table: 'osinfo', kind: 'system', fields: SYSTEM, emptyKey: '' },
  { table: 'hwinfo', kind: 'hardware', fields: HARDWARE, emptyKey: NO_SERIAL },
  { table: 'packages', kind: 'packages', fields: PACKAGES },
  { table: 'hotfixes', kind: 'hotfixes', fields: texts('package.hotfix.name=hotfix') },
  { table: 'processes', kind: 'processes', fields: PROCESSES },
  { table: 'ports', kind: 'ports', fields: PORTS },
  { table: 'network_iface', kind: 'interfaces', fields: INTERFACES },
  { table: 'network_address', kind: 'networks', fields: NETWORKS },
  { table: 'network_protocol', kind: 'protocols', fields: PROTOCOLS },
  { table: 'users', kind: 'users', fields: USERS },
  { table: 'groups', kind: 'groups', fields: GROUPS },
  { table: 'services', kind: 'services', fields: SERVICES, needsOneOf: ['service_id'] },
  {
    table: 'browser_extensions',
    kind: 'browser-extensions',
    fields: BROWSER_EXTENSIONS,
    needsOneOf: ['browser_name', 'user_id', 'browser_profile_path', 'package_name', 'package_version'],
  },
];
