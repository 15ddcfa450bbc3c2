import type { PathOrPattern, RootcheckConfig, SyscheckConfig } from '../../lib/config/sections/syscheck.js';
import { readable } from '../../lib/fim/byte-order.js';
import { CHECKS } from '../../lib/fim/checks.js';
import type { WatchedDirectory } from '../../lib/fim/scan/watched-directory.js';
import type { SyscheckdSettings } from './settings.js';

const SYSCHECK_OPTIONS = [
  'rt_delay',
  'default_max_depth',
  'symlink_scan_interval',
  'file_max_size',
  'max_audit_entries',
  'debug',
] as const;

/** The sections in force that svc-syscheckd shows (integrity-and-inventory.md 2.2, 9.1). */
export function activeSections(
  settings: () => SyscheckdSettings,
  directories: () => Iterable<WatchedDirectory>,
): ReadonlyMap<string, () => Record<string, unknown>> {
  return new Map<string, () => Record<string, unknown>>([
    ['syscheck', () => ({ syscheck: activeSyscheck(settings().syscheck, directories()) })],
    ['rootcheck', () => ({ rootcheck: activeRootcheck(settings().rootcheck) })],
    ['internal', () => ({ internal: activeInternal(settings()) })],
  ]);
}

/** Internal options in force. */
export function activeInternal({ options }: SyscheckdSettings): Record<string, unknown> {
  return {
    syscheck: Object.fromEntries(SYSCHECK_OPTIONS.map((name) => [name, options.get(`syscheck.${name}`)])),
    rootcheck: { sleep: options.get('rootcheck.sleep') },
  };
}

/** Names of the checks in the order of the report. */
const REPORTED_CHECKS = [
  ['check_md5sum', CHECKS.hash_md5],
  ['check_sha1sum', CHECKS.hash_sha1],
  ['check_perm', CHECKS.permissions],
  ['check_size', CHECKS.size],
  ['check_owner', CHECKS.owner],
  ['check_group', CHECKS.group],
  ['check_mtime', CHECKS.mtime],
  ['check_inode', CHECKS.inode],
] as const;

function activeSyscheck(config: SyscheckConfig, directories: Iterable<WatchedDirectory>): Record<string, unknown> {
  const { diff, synchronization: sync, whodata } = config;
  return {
    disabled: yesNo(config.disabled),
    frequency: config.scan_time === undefined && config.scan_day === undefined ? config.frequency : 604_800,
    skip_nfs: yesNo(config.skip_nfs),
    skip_dev: yesNo(config.skip_dev),
    skip_sys: yesNo(config.skip_sys),
    skip_proc: yesNo(config.skip_proc),
    scan_on_start: yesNo(config.scan_on_start),
    ...(config.scan_day === undefined ? {} : { scan_day: config.scan_day }),
    ...(config.scan_time === undefined ? {} : { scan_time: config.scan_time }),
    max_files_per_second: config.max_files_per_second,
    file_limit: { enabled: yesNo(config.file_limit.enabled), entries: config.file_limit.entries },
    diff: {
      disk_quota: { enabled: yesNo(diff.disk_quota.enabled), limit: diff.disk_quota.limit },
      file_size: { enabled: yesNo(diff.file_size.enabled), limit: diff.file_size.limit },
    },
    directories: [...directories].map(activeDirectory),
    ...pathLists('nodiff', [...config.nodiff, ...diff.nodiff]),
    ...pathLists('ignore', config.ignore),
    whodata: {
      restart_audit: yesNo(whodata.restart_audit),
      ...(whodata.audit_key.length > 0 ? { audit_key: whodata.audit_key } : {}),
      startup_healthcheck: yesNo(whodata.startup_healthcheck),
      queue_size: whodata.queue_size,
      provider: whodata.provider,
    },
    allow_remote_prefilter_cmd: yesNo(config.allow_remote_prefilter_cmd),
    ...(config.prefilter_cmd === undefined ? {} : { prefilter_cmd: config.prefilter_cmd }),
    synchronization: {
      enabled: yesNo(sync.enabled),
      queue_size: sync.queue_size,
      interval: sync.interval,
      max_eps: sync.max_eps,
      response_timeout: sync.response_timeout,
      max_interval: Math.max(sync.max_interval, sync.interval),
      thread_pool: sync.thread_pool,
    },
    max_eps: config.max_eps,
    process_priority: config.process_priority,
    database: config.database,
  };
}

function activeDirectory(directory: WatchedDirectory): Record<string, unknown> {
  const { checks, mode, restrict, tags } = directory;
  const opts: string[] = REPORTED_CHECKS.filter(([, bit]) => (checks & bit) !== 0).map(([name]) => name);
  if (mode === 'realtime') opts.push('realtime');
  if (directory.reportChanges) opts.push('report_changes');
  if ((checks & CHECKS.hash_sha256) !== 0) opts.push('check_sha256sum');
  if (mode === 'whodata') opts.push('check_whodata');
  if (directory.followLink) opts.push('follow_symbolic_link');
  return {
    opts,
    dir: readable(directory.link ?? directory.path),
    ...(directory.link === undefined ? {} : { symbolic_link: readable(directory.path) }),
    recursion_level: directory.recursionLevel,
    ...(restrict === undefined ? {} : { restrict: readable(restrict.source) }),
    ...(tags === '' ? {} : { tags: readable(tags) }),
    diff_size_limit: directory.diffSizeLimit,
  };
}

/** Paths under one name, patterns under another; a list without items is left out. */
function pathLists(name: string, entries: readonly PathOrPattern[]): Record<string, unknown> {
  const values = (kind: PathOrPattern['kind']): string[] =>
    entries.filter((entry) => entry.kind === kind).map(({ value }) => value);
  const [paths, patterns] = [values('path'), values('sregex')];
  return {
    ...(paths.length > 0 ? { [name]: paths } : {}),
    ...(patterns.length > 0 ? { [`${name}_sregex`]: patterns } : {}),
  };
}

function activeRootcheck(config: RootcheckConfig): Record<string, unknown> {
  return {
    disabled: yesNo(config.disabled),
    base_directory: config.base_directory,
    ...(config.rootkit_files === undefined ? {} : { rootkit_files: config.rootkit_files }),
    ...(config.rootkit_trojans === undefined ? {} : { rootkit_trojans: config.rootkit_trojans }),
    scanall: yesNo(config.scanall),
    skip_nfs: yesNo(config.skip_nfs),
    frequency: config.frequency,
    check_dev: yesNo(config.check_dev),
    check_files: yesNo(config.check_files),
    check_if: yesNo(config.check_if),
    check_pids: yesNo(config.check_pids),
    check_ports: yesNo(config.check_ports),
    check_sys: yesNo(config.check_sys),
    check_trojans: yesNo(config.check_trojans),
    check_unixaudit: yesNo(config.check_unixaudit || config.system_audit.length > 0),
    ...(config.system_audit.length > 0 ? { system_audit: config.system_audit } : {}),
    ...pathLists('ignore', config.ignore),
  };
}

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}
