/** Default and inclusive range of one internal option. */
export type InternalOptionRange = {
  readonly initial: number;
  readonly min: number;
  readonly max: number;
  /** Files that were taken over, or written by an earlier version, lack it: then `initial` counts. */
  readonly ours?: true;
};

const MAX_INT = 2_147_483_647;

function range(initial: number, min: number, max: number): InternalOptionRange {
  return { initial, min, max };
}

/** An option that this product adds to those of the reference. */
function ours(initial: number, min: number, max: number): InternalOptionRange {
  return { initial, min, max, ours: true };
}

const SWITCH_ON = range(1, 0, 1);
const SWITCH_OFF = range(0, 0, 1);
const DEBUG = range(0, 0, 2);
const THREADS = range(0, 0, 32);
const QUEUE = range(16_384, 128, 2_000_000);
const OPEN_FILES = range(458_752, 1024, 1_048_576);

/** Every internal option (daemons-and-config.md 2; agent.*: agents-and-groups.md 11). */
export const INTERNAL_OPTIONS = {
  'analysisd.default_timeframe': range(360, 60, 3600),
  'analysisd.stats_maxdiff': range(999_000, 10, 999_999),
  'analysisd.stats_mindiff': range(1250, 10, 999_999),
  'analysisd.stats_percent_diff': range(150, 5, 9999),
  'analysisd.fts_list_size': range(32, 12, 512),
  'analysisd.fts_min_size_for_str': range(14, 6, 128),
  'analysisd.log_fw': SWITCH_ON,
  'analysisd.decoder_order_size': range(256, 32, 1024),
  'analysisd.geoip_jsonout': SWITCH_OFF,
  'analysisd.label_cache_maxage': range(10, 0, 60),
  'analysisd.show_hidden_labels': SWITCH_OFF,
  'analysisd.rlimit_nofile': OPEN_FILES,
  'analysisd.min_rotate_interval': range(600, 10, 86_400),
  'analysisd.event_threads': THREADS,
  'analysisd.syscheck_threads': THREADS,
  'analysisd.syscollector_threads': THREADS,
  'analysisd.rootcheck_threads': THREADS,
  'analysisd.sca_threads': THREADS,
  'analysisd.hostinfo_threads': THREADS,
  'analysisd.winevt_threads': THREADS,
  'analysisd.rule_matching_threads': THREADS,
  'analysisd.dbsync_threads': THREADS,
  'analysisd.decode_event_queue_size': QUEUE,
  'analysisd.decode_syscheck_queue_size': QUEUE,
  'analysisd.decode_syscollector_queue_size': QUEUE,
  'analysisd.decode_rootcheck_queue_size': QUEUE,
  'analysisd.decode_sca_queue_size': QUEUE,
  'analysisd.decode_hostinfo_queue_size': QUEUE,
  'analysisd.decode_winevt_queue_size': QUEUE,
  'analysisd.decode_output_queue_size': QUEUE,
  'analysisd.archives_queue_size': QUEUE,
  'analysisd.statistical_queue_size': QUEUE,
  'analysisd.alerts_queue_size': QUEUE,
  'analysisd.firewall_queue_size': QUEUE,
  'analysisd.fts_queue_size': QUEUE,
  'analysisd.dbsync_queue_size': QUEUE,
  'analysisd.upgrade_queue_size': QUEUE,
  'analysisd.state_interval': range(5, 0, 86_400),
  'analysisd.debug': DEBUG,
  'monitord.debug': DEBUG,
  'execd.debug': DEBUG,
  'logcollector.debug': DEBUG,
  'remoted.debug': DEBUG,
  'syscheck.debug': DEBUG,
  'wazuh_modules.debug': DEBUG,
  'wazuh_db.debug': DEBUG,
  'integrator.debug': DEBUG,
  'authd.debug': DEBUG,
  'authd.enrollments_per_minute': ours(300, 0, 1_000_000),
  'authd.enrollments_per_day': ours(10_000, 0, 100_000_000),
  'wazuh_clusterd.debug': DEBUG,
  'logcollector.loop_timeout': range(2, 1, 120),
  'logcollector.open_attempts': range(0, 0, 998),
  'logcollector.remote_commands': SWITCH_OFF,
  'logcollector.remote_sockets': ours(0, 0, 1),
  'logcollector.vcheck_files': range(64, 0, 1024),
  'logcollector.max_lines': range(10_000, 0, 1_000_000),
  'logcollector.max_files': range(1000, 1, 100_000),
  'logcollector.sock_fail_time': range(300, 1, 3600),
  'logcollector.input_threads': range(4, 1, 128),
  'logcollector.queue_size': range(1024, 128, 220_000),
  'logcollector.sample_log_length': range(64, 1, 4096),
  'logcollector.rlimit_nofile': range(1100, 1024, 1_048_576),
  'logcollector.force_reload': SWITCH_OFF,
  'logcollector.reload_interval': range(64, 1, 86_400),
  'logcollector.reload_delay': range(1000, 0, 30_000),
  'logcollector.exclude_files_interval': range(86_400, 1, 172_800),
  'logcollector.state_interval': range(60, 0, 3600),
  'logcollector.ip_update_interval': range(60, 0, 3600),
  'remoted.recv_counter_flush': range(128, 10, 999_999),
  'remoted.comp_average_printout': range(19_999, 10, 999_999),
  'remoted.verify_msg_id': SWITCH_OFF,
  'remoted.pass_empty_keyfile': SWITCH_ON,
  'remoted.sender_pool': range(8, 1, 64),
  'remoted.request_pool': range(1024, 1, 4096),
  'remoted.request_timeout': range(10, 1, 600),
  'remoted.response_timeout': range(60, 1, 3600),
  'remoted.request_rto_sec': range(1, 0, 60),
  'remoted.request_rto_msec': range(0, 0, 999),
  'remoted.max_attempts': range(4, 1, 16),
  'remoted.shared_reload': range(10, 1, 18_000),
  'remoted.rlimit_nofile': OPEN_FILES,
  'remoted.recv_timeout': range(1, 1, 60),
  'remoted.merge_shared': SWITCH_ON,
  'remoted.disk_storage': SWITCH_OFF,
  'remoted.keyupdate_interval': range(10, 1, 3600),
  'remoted.worker_pool': range(4, 1, 16),
  'remoted.state_interval': range(5, 0, 86_400),
  'remoted.guess_agent_group': SWITCH_OFF,
  'remoted.receive_chunk': range(4096, 1024, 16_384),
  'remoted.send_chunk': range(4096, 512, 16_384),
  'remoted.send_buffer_size': range(131_072, 65_536, 1_048_576),
  'remoted.send_timeout_to_retry': range(1, 1, 60),
  'remoted.buffer_relax': range(1, 0, 2),
  'remoted.tcp_keepidle': range(30, 1, 7200),
  'remoted.tcp_keepintvl': range(10, 1, 100),
  'remoted.tcp_keepcnt': range(3, 1, 50),
  'remoted.control_msg_queue_size': range(16_384, 4096, 1_048_576),
  'remoted.router_forwarding_disabled': SWITCH_OFF,
  'execd.request_timeout': range(60, 1, 3600),
  'execd.max_restart_lock': range(600, 0, 3600),
  'maild.strict_checking': SWITCH_ON,
  'maild.grouping': SWITCH_ON,
  'maild.full_subject': SWITCH_OFF,
  'maild.geoip': SWITCH_ON,
  'monitord.day_wait': range(10, 0, 600),
  'monitord.compress': SWITCH_ON,
  'monitord.sign': SWITCH_ON,
  'monitord.monitor_agents': SWITCH_ON,
  'monitord.rotate_log': SWITCH_ON,
  'monitord.keep_log_days': range(31, 0, 500),
  'monitord.size_rotate': range(512, 0, 4096),
  'monitord.daily_rotations': range(12, 1, 256),
  'monitord.delete_old_agents': range(0, 0, 9600),
  'monitord.keep_other_log_days': ours(0, 0, 36_500),
  'monitord.keep_alert_days': ours(0, 0, 36_500),
  'monitord.keep_archive_days': ours(0, 0, 36_500),
  'monitord.keep_firewall_days': ours(0, 0, 36_500),
  'monitord.max_log_size': ours(0, 0, 1_000_000_000),
  'monitord.max_alert_size': ours(0, 0, 1_000_000_000),
  'monitord.max_archive_size': ours(0, 0, 1_000_000_000),
  'monitord.max_firewall_size': ours(0, 0, 1_000_000_000),
  'syscheck.rt_delay': range(5, 0, 1000),
  'syscheck.max_audit_entries': range(256, 1, 4096),
  'syscheck.max_fd_win_rt': range(256, 1, 1024),
  'syscheck.default_max_depth': range(256, 1, 320),
  'syscheck.symlink_scan_interval': range(600, 1, 2_592_000),
  'syscheck.file_max_size': range(1024, 0, 4095),
  'syscheck.alert_changes_while_stopped': ours(1, 0, 1),
  'rootcheck.sleep': range(50, 0, 1000),
  'sca.request_db_interval': range(5, 1, 60),
  'sca.remote_commands': SWITCH_OFF,
  'sca.commands_timeout': range(30, 1, 300),
  'wazuh_modules.task_nice': range(10, -20, 19),
  'wazuh_modules.max_eps': range(100, 1, 1000),
  'wazuh_modules.kill_timeout': range(10, 0, 3600),
  'wazuh_modules.rlimit_nofile': range(8192, 8192, 1_048_576),
  'wazuh_database.sync_agents': SWITCH_ON,
  'wazuh_database.real_time': SWITCH_ON,
  'wazuh_database.interval': range(60, 0, 86_400),
  'wazuh_database.max_queued_events': range(0, 0, MAX_INT),
  'wazuh_download.enabled': SWITCH_ON,
  'wazuh_download.max_size': ours(64, 1, 1024),
  'wazuh_download.timeout': ours(300, 1, 3600),
  'wazuh_download.verify_certificates': ours(1, 0, 1),
  'wazuh_command.remote_commands': SWITCH_OFF,
  'wazuh_db.worker_pool_size': range(8, 1, 32),
  'wazuh_db.commit_time_min': range(10, 1, 3600),
  'wazuh_db.commit_time_max': range(60, 1, 3600),
  'wazuh_db.open_db_limit': range(64, 1, 4096),
  'wazuh_db.rlimit_nofile': OPEN_FILES,
  'wazuh_db.fragmentation_threshold': range(75, 0, 100),
  'wazuh_db.fragmentation_delta': range(5, 0, 100),
  'wazuh_db.free_pages_percentage': range(0, 0, 99),
  'wazuh_db.max_fragmentation': range(90, 0, 100),
  'wazuh_db.check_fragmentation_interval': range(7200, 1, 30_758_400),
  'wazuh.thread_stack_size': range(8192, 2048, 65_536),
  'auth.timeout_seconds': range(1, 0, MAX_INT),
  'auth.timeout_microseconds': range(0, 0, 999_999),
  'vulnerability-detection.translation_lru_size': range(2048, 1, 100_000),
  'vulnerability-detection.osdata_lru_size': range(1000, 1, 100_000),
  'vulnerability-detection.remediation_lru_size': range(2048, 1, 100_000),
  'vulnerability-detection.disable_scan_manager': SWITCH_ON,
  'vulnerability-detection.report_queue_size': range(262_144, 0, MAX_INT),
  'agent.tolerance': range(15, 0, 600),
  'agent.warn_level': range(90, 1, 100),
  'agent.normal_level': range(70, 0, 99),
  'agent.min_eps': range(50, 1, 1000),
  'agent.state_interval': range(5, 0, 86_400),
  'agent.recv_timeout': range(60, 1, 600),
  'agent.remote_conf': SWITCH_ON,
  'agent.debug': DEBUG,
} as const satisfies Record<string, InternalOptionRange>;

/** `section.name` of an option. */
export type InternalOptionName = keyof typeof INTERNAL_OPTIONS;
/** The part before the dot: a daemon reads its own areas. */
export type InternalOptionArea = InternalOptionName extends `${infer A}.${string}` ? A : never;
/** Names of one or several areas. */
export type InternalOptionsOf<A extends InternalOptionArea> = Extract<InternalOptionName, `${A}.${string}`>;

/** Whether the value is allowed. Reading 0 lines a turn means no limit, but less than 100 makes no sense. */
export function isAllowed(name: InternalOptionName, value: number): boolean {
  const { min, max } = INTERNAL_OPTIONS[name];
  if (name === 'logcollector.max_lines' && value > 0 && value < 100) {
    return false;
  }
  return value >= min && value <= max;
}
