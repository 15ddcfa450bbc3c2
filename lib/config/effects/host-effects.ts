import {
  each,
  type ElementEffects,
  inside,
  later,
  never,
  notSwitchedOn,
  part,
  saying,
  section,
  type SectionEffects,
  switchedOff,
  without,
  works,
} from './effect.js';

const WINDOWS = 'it concerns Windows';
const NO_MODULE = 'the module is not there';
const AT_STARTS = 'the first scan always runs at the start';
const LEGACY = 'agents of today do not need it';

const LIMIT = inside(each(works, 'enabled', 'entries'));
const SCHEDULE = ['interval', 'day', 'wday', 'time'];

const SYSCHECK: ElementEffects = {
  ...each(works, 'disabled', 'directories', 'frequency', 'scan_time', 'scan_day', 'ignore', 'nodiff'),
  ...each(works, 'skip_nfs', 'skip_dev', 'skip_sys', 'skip_proc', 'max_eps', 'max_files_per_second'),
  ...each(works, 'process_priority', 'prefilter_cmd', 'allow_remote_prefilter_cmd'),
  scan_on_start: never(AT_STARTS, saying('yes')),
  file_limit: LIMIT,
  registry_limit: part,
  database: never('the state is always on disk', saying('disk')),
  synchronization: inside({
    ...each(works, 'enabled', 'interval', 'max_interval', 'response_timeout', 'queue_size', 'max_eps'),
    thread_pool: never('one thread synchronises', saying('1')),
    registry_enabled: part,
  }),
  // `directories` with whodata are watched in real time, which svc-syscheckd says.
  whodata: inside(each(part, 'provider', 'restart_audit', 'audit_key', 'startup_healthcheck', 'queue_size')),
  diff: inside({ ...each(inside(each(works, 'enabled', 'limit')), 'disk_quota', 'file_size'), nodiff: works }),
  alert_new_files: never(LEGACY, saying('yes')),
  auto_ignore: never(LEGACY, saying('no')),
  restart_audit: part,
  remove_old_diff: never('copies of files that are no longer watched are always removed', saying('yes')),
  ...each(never(WINDOWS), 'windows_registry', 'registry_ignore', 'registry_ignore_value', 'registry_nodiff'),
  windows_audit_interval: never(WINDOWS),
};

const ROOTCHECK: ElementEffects = {
  ...each(works, 'disabled', 'frequency', 'base_directory', 'rootkit_files', 'rootkit_trojans', 'system_audit'),
  ...each(works, 'scanall', 'readall', 'skip_nfs', 'ignore', 'check_dev', 'check_if', 'check_pids', 'check_ports'),
  ...each(works, 'check_sys', 'check_files', 'check_trojans', 'check_unixaudit'),
  ...each(never(WINDOWS), 'windows_audit', 'windows_apps', 'windows_malware'),
  ...each(never(WINDOWS, saying('no')), 'check_winapps', 'check_winaudit', 'check_winmalware'),
};

const INDEXER: ElementEffects = {
  enabled: works,
  hosts: inside(each(works, 'host')),
  ssl: inside({ certificate_authorities: inside(each(works, 'ca')), ...each(works, 'certificate', 'key') }),
  options: inside({
    ...each(works, 'alerts', 'archives', 'states', 'geoip', 'batch_size', 'flush_interval', 'timeout'),
    fim_states: later('states of files are not sent', saying('no')),
  }),
};

/** Sections of any host (daemons-and-config.md 1.2); `wodle` by the name of the module. */
export const HOST_EFFECTS = {
  logging: section('svc-monitord', each(works, 'log_format')),
  localfile: section('svc-logcollector', {
    // Formats of other systems are told by svc-logcollector.
    ...each(works, 'log_format', 'location', 'command', 'frequency', 'alias', 'only-future-events', 'target'),
    ...each(works, 'out_format', 'label', 'ignore', 'restrict', 'exclude', 'age', 'ignore_binaries'),
    ...each(works, 'multiline_regex', 'filter'),
    ...each(part, 'reconnect_time', 'query'),
  }),
  socket: section('svc-logcollector', each(works, 'name', 'location', 'mode', 'prefix')),
  syscheck: section('svc-syscheckd', SYSCHECK, switchedOff),
  rootcheck: section('svc-syscheckd', ROOTCHECK, switchedOff),
  labels: without('svc-monitord', later('alerts of this host carry no labels'), ['label']),
  sca: section(
    'svc-modulesd',
    { ...each(works, 'enabled', 'scan_on_start', ...SCHEDULE, 'skip_nfs'), policies: inside(each(works, 'policy')) },
    switchedOff,
  ),
  'vulnerability-detection': without('svc-monitord', later('no vulnerabilities are looked for', notSwitchedOn), [
    ...['enabled', 'index-status', 'feed-update-interval', 'offline-url', 'cti-url'],
  ]),
  indexer: section('svc-monitord', INDEXER, notSwitchedOn),
  'fluent-forward': without('svc-monitord', later(NO_MODULE, switchedOff), 'any'),
  'gcp-pubsub': without('svc-monitord', later(NO_MODULE, switchedOff), 'any'),
  'gcp-bucket': without('svc-monitord', later(NO_MODULE, switchedOff), 'any'),
  github: without('svc-monitord', later(NO_MODULE, switchedOff), 'any'),
  office365: without('svc-monitord', later(NO_MODULE, switchedOff), 'any'),
  'ms-graph': without('svc-monitord', later(NO_MODULE, switchedOff), 'any'),
} satisfies Readonly<Record<string, SectionEffects>>;

/** `<wodle name="...">` by the name of the module. */
export const WODLE_EFFECTS: Readonly<Record<string, SectionEffects>> = {
  command: section('svc-modulesd', {
    ...each(works, 'disabled', 'tag', 'command', ...SCHEDULE, 'run_on_start', 'ignore_output', 'timeout'),
    ...each(works, 'verify_md5', 'verify_sha1', 'verify_sha256', 'skip_verification'),
  }),
  syscollector: section(
    'svc-modulesd',
    {
      ...each(works, 'disabled', ...SCHEDULE, 'scan_on_start', 'hardware', 'os', 'network', 'packages', 'ports'),
      ...each(works, 'processes', 'users', 'groups', 'services', 'browser_extensions'),
      hotfixes: never(WINDOWS, saying('no')),
      synchronization: inside(each(works, 'max_eps')),
    },
    switchedOff,
  ),
  ...Object.fromEntries(
    ['open-scap', 'cis-cat', 'osquery', 'aws-s3', 'azure-logs', 'azure', 'docker-listener', 'agent-key-polling'].map(
      (name) => [name, without('svc-monitord', later(NO_MODULE, switchedOff), 'any')],
    ),
  ),
};
