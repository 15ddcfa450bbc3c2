const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Sections and their elements as the configuration of 4.x has them (daemons-and-config.md 1.1, 1.2). */
export const SPECIFIED_ELEMENTS: Readonly<Record<string, readonly string[]>> = {
  global:
    words(`jsonout_output alerts_log logall logall_json email_notification email_to email_from email_reply_to smtp_port smtp_secure smtp_ca
    smtp_user smtp_password_file
    email_idsname smtp_server helo_server email_maxperhour email_log_source custom_alert_output integrity_checking
    rootkit_detection host_information stats memory_size white_list limits/eps/maximum limits/eps/timeframe rotate_interval
    max_output_size agents_disconnection_time agents_disconnection_alert_time update_check cti-url forward_to prelude_output
    prelude_profile prelude_log_level zeromq_output zeromq_uri zeromq_server_cert zeromq_client_cert geoipdb geoip_db_path
    compress_alerts queue_size`),
  alerts: words('log_alert_level email_alert_level use_geoip'),
  ruleset: words('rule_dir decoder_dir rule_include decoder_include rule_exclude decoder_exclude list'),
  rule_test: words('enabled threads max_sessions session_timeout'),
  remote: words(`connection port protocol ipv6 local_ip allowed-ips denied-ips queue_size rids_closing_time
    connection_overtake_time agents/allow_higher_versions rewrite_rfc5424`),
  auth: words(`disabled port ipv6 use_source_ip purge use_password remote_enrollment ciphers ssl_agent_ca ssl_verify_host
    ssl_manager_cert ssl_manager_key ssl_auto_negotiate force/enabled force/key_mismatch force/disconnected_time
    force/after_registration_time agents/allow_higher_versions key_request/enabled force_insert force_time limit_maxagents`),
  syscheck:
    words(`disabled frequency scan_time scan_day scan_on_start directories ignore nodiff skip_nfs skip_dev skip_sys
    skip_proc file_limit/enabled file_limit/entries database max_eps max_files_per_second process_priority prefilter_cmd
    allow_remote_prefilter_cmd synchronization/enabled synchronization/interval synchronization/max_interval
    synchronization/response_timeout synchronization/queue_size synchronization/max_eps synchronization/thread_pool
    whodata/restart_audit whodata/audit_key whodata/startup_healthcheck whodata/queue_size whodata/provider
    diff/disk_quota/enabled diff/disk_quota/limit diff/file_size/enabled diff/file_size/limit diff/nodiff alert_new_files
    auto_ignore`),
  rootcheck:
    words(`disabled frequency base_directory rootkit_files rootkit_trojans system_audit windows_audit windows_apps
    windows_malware check_dev check_files check_if check_pids check_ports check_sys check_trojans check_unixaudit
    check_winapps check_winaudit check_winmalware scanall readall skip_nfs ignore`),
  sca: words('enabled scan_on_start interval day wday time skip_nfs policies'),
  wodle: [],
  localfile:
    words(`log_format location command frequency alias only-future-events target out_format label ignore restrict
    exclude age ignore_binaries reconnect_time multiline_regex filter query`),
  socket: words('name location mode prefix'),
  command: words('name executable timeout_allowed extra_args expect'),
  'active-response': words(`disabled command location agent_id level rules_id rules_group timeout repeated_offenders
    ca_store`),
  cluster: words('name node_name node_type key port bind_addr nodes hidden disabled interval haproxy_helper'),
  logging: words('log_format'),
  integration: words(`name api_key hook_url level rule_id group event_location alert_format max_log options timeout
    retries`),
  syslog_output: words('server port format level rule_id group location use_fqdn protocol ca'),
  email_alerts: words('email_to format level rule_id group event_location do_not_delay do_not_group'),
  reports: words('title type category group rule level location srcip user frequency showlogs email_to'),
  labels: words('label'),
  client: words(`server config-profile notify_time time-reconnect ip_update_interval local_ip auto_restart crypto_method
    enrollment`),
  client_buffer: words('disabled queue_size events_per_second'),
  anti_tampering: words('package_uninstallation'),
  wdb: words('backup'),
  'vulnerability-detection': words('enabled index-status feed-update-interval offline-url cti-url'),
  'vulnerability-detector': [],
  indexer: words('enabled hosts ssl'),
  'agent-upgrade': words(`chunk_size max_threads wpk_repository enabled notification_wait_start notification_wait_max
    notification_wait_factor ca_verification`),
  'task-manager': words('cleanup_time task_timeout'),
  agentless: words('type frequency host state arguments port'),
  'fluent-forward': [],
  'gcp-pubsub': [],
  'gcp-bucket': [],
  github: [],
  office365: [],
  'ms-graph': [],
  database_output: [],
};
