import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import type { HostFiles } from '../host/host-files.js';
import { known, UNKNOWN } from '../host/known.js';
import { parseUnitFile, type UnitFile } from './unit-file.js';
import { findUnits, type FoundUnit } from './unit-files.js';

/** Links that systemd keeps for each unit that is not inactive. */
const INVOCATIONS = '/run/systemd/units';
const INVOCATION = 'invocation:';

/** What is seen of a service from outside. */
export type ServiceState = {
  readonly isActive: boolean;
  /** First process of its control group; 0 without any. */
  readonly pid: number;
};

/**
 * Services of systemd: table `services`. Nothing is asked of systemd: units and what enables them are files and links,
 * a running one has an invocation, and its processes stand in its control group. So `failed` is not told from `inactive`.
 */
export function readServices(files: HostFiles): InventoryRow[] {
  const active = new Set(
    files
      .names(INVOCATIONS)
      .filter((name) => name.startsWith(INVOCATION) && name.endsWith('.service'))
      .map((name) => name.slice(INVOCATION.length)),
  );
  return [...findUnits(files, active).values()].map((unit) => {
    const isActive = active.has(unit.name);
    return serviceRow(unit, parseUnitFile(unit.isMasked ? '' : files.text(unit.path)), {
      isActive,
      pid: isActive ? firstProcess(files, unit.name) : 0,
    });
  });
}

function serviceRow(unit: FoundUnit, file: UnitFile, { isActive, pid }: ServiceState): InventoryRow {
  const enabled = enablementOf(unit, file);
  return {
    service_id: unit.name,
    service_name: unit.name.replace(/\.service$/, ''),
    service_description: known(file.description),
    // systemd's own default, where the file says nothing.
    service_type: file.type || 'simple',
    service_state: isActive ? 'active' : 'inactive',
    service_sub_state: isActive ? (pid > 0 ? 'running' : 'exited') : 'dead',
    service_enabled: enabled,
    service_start_type: enabled.startsWith('enabled') ? 'auto' : 'manual',
    service_restart: file.restart || 'no',
    service_frequency: 0,
    service_starts_on_mount: 0,
    service_starts_on_path_modified: UNKNOWN,
    service_starts_on_not_empty_directory: UNKNOWN,
    service_inetd_compatibility: 0,
    process_pid: pid,
    process_executable: known(file.program),
    process_args: known(file.args.join(',')),
    process_user_name: known(file.user),
    process_group_name: known(file.group),
    process_working_dir: known(file.workingDirectory),
    process_root_dir: known(file.rootDirectory),
    file_path: unit.path,
    service_address: UNKNOWN,
    log_file_path: known(file.standardOutput),
    error_log_file_path: known(file.standardError),
    service_exit_code: 0,
    service_win32_exit_code: 0,
    service_following: UNKNOWN,
    service_object_path: objectPath(unit.name),
    service_target_ephemeral_id: 0,
    service_target_type: UNKNOWN,
    service_target_address: UNKNOWN,
  };
}

function enablementOf(unit: FoundUnit, file: UnitFile): string {
  if (unit.isMasked) return 'masked';
  if (unit.isAlias) return 'alias';
  if (!file.installable) return 'static';
  return unit.isWanted ? 'enabled' : 'disabled';
}

/** The first process in the control group of a unit, of version 2 or 1 of groups. */
function firstProcess(files: HostFiles, name: string): number {
  // Units of a template stand below a slice of their own, whose name is escaped.
  const [, template] = /^(.*)@.*\.service$/.exec(name) ?? [];
  const slice =
    template === undefined ? 'system.slice' : `system.slice/system-${template.replaceAll('-', '\\x2d')}.slice`;
  for (const root of ['/sys/fs/cgroup', '/sys/fs/cgroup/systemd', '/sys/fs/cgroup/unified']) {
    const [first = ''] = files.line(`${root}/${slice}/${name}/cgroup.procs`).split('\n', 1);
    if (/^\d{1,10}$/.test(first)) return Number(first);
  }
  return 0;
}

/** Name of a unit on the bus of systemd: what is no letter or digit is written as its code. */
function objectPath(name: string): string {
  const bytes = [...Buffer.from(name, 'utf8')];
  const escaped = bytes.map((byte, at) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z]/.test(character) || (at > 0 && /\d/.test(character))
      ? character
      : `_${byte.toString(16).padStart(2, '0')}`;
  });
  return `/org/freedesktop/systemd1/unit/${escaped.join('')}`;
}
