import { hasAlertConsumers } from '../alert-consumers.js';
import { lastContent } from '../last-content.js';
import {
  type AsksNothing,
  each,
  type ElementEffects,
  inside,
  later,
  never,
  part,
  saying,
  section,
  type SectionEffects,
  switchedOff,
  without,
  works,
} from './effect.js';

const ELSEWHERE = 'this build has no use for it';
const ON_AGENTS = 'it concerns agents';
const EVENT_CLASS = 'events of this kind have the level of their rule';

/** Nobody needs alerts.json but those who want it, or it is wanted. */
const nobodyReadsAlerts: AsksNothing = ({ content }, _parent, all) =>
  content.trim() !== 'no' || !hasAlertConsumers(all);

/** A listener for syslog; for agents their keys say where they may send from. */
const isSyslog: AsksNothing = (_element, parent) =>
  parent.children.findLast(({ name }) => name === 'connection')?.content.trim() === 'syslog';

const isSecure: AsksNothing = (element, parent, all) => !isSyslog(element, parent, all);

const helperOff: AsksNothing = (element) => lastContent(element, 'haproxy_disabled')?.trim() === 'yes';

const GLOBAL: ElementEffects = {
  jsonout_output: never('alerts are handed on from alerts.json, so it is written all the same', nobodyReadsAlerts),
  ...each(works, 'alerts_log', 'logall', 'logall_json', 'custom_alert_output'),
  ...each(works, 'stats', 'memory_size', 'rotate_interval', 'max_output_size'),
  ...each(works, 'agents_disconnection_time', 'agents_disconnection_alert_time'),
  limits: inside({ eps: inside({ ...each(works, 'maximum', 'timeframe') }) }),
  ...each(works, 'email_notification'),
  ...each(works, 'email_to', 'email_from', 'email_reply_to', 'email_idsname', 'smtp_server', 'helo_server'),
  ...each(works, 'email_maxperhour', 'smtp_port', 'smtp_secure', 'smtp_ca', 'smtp_user', 'smtp_password_file'),
  // Mails are made from alerts.json, whatever it says: they are the same.
  email_log_source: part,
  ...each(never(EVENT_CLASS, saying('8')), 'integrity_checking', 'rootkit_detection', 'host_information'),
  white_list: works,
  update_check: later('nobody looks for newer versions', saying('no')),
  'cti-url': part,
  forward_to: later('events are not forwarded to sockets'),
  ...each(never(ELSEWHERE), 'prelude_output', 'prelude_profile', 'prelude_log_level'),
  ...each(never(ELSEWHERE, saying('no')), 'zeromq_output'),
  ...each(never(ELSEWHERE), 'zeromq_uri', 'zeromq_server_cert', 'zeromq_client_cert', 'geoipdb', 'geoip_db_path'),
  ...each(never(ELSEWHERE), 'compress_alerts', 'queue_size'),
};

/** Sections of a manager (daemons-and-config.md 1.2). */
export const MANAGER_EFFECTS = {
  global: section('svc-analysisd', GLOBAL),
  alerts: section('svc-analysisd', {
    ...each(works, 'log_alert_level', 'email_alert_level'),
    use_geoip: never(ELSEWHERE, saying('no')),
  }),
  ruleset: section('svc-analysisd', {
    ...each(works, 'rule_dir', 'rule_include', 'rule_exclude', 'decoder_dir', 'decoder_include', 'decoder_exclude'),
    list: works,
  }),
  rule_test: section('svc-analysisd', {
    ...each(works, 'enabled', 'max_sessions', 'session_timeout'),
    threads: never('logtest runs in one thread', saying('1')),
  }),
  journal: section('svc-analysisd', each(works, 'sync', 'segment_size', 'max_size', 'checkpoint_interval')),
  analysis: section('svc-analysisd', each(works, 'threads')),
  alert_store: section('svc-db', each(works, 'enabled', 'keep_days', 'max_size'), switchedOff),
  remote: section('svc-remoted', {
    ...each(works, 'connection', 'port', 'protocol', 'ipv6', 'local_ip'),
    ...each(never('syslog has a queue of its own', isSecure), 'queue_size'),
    ...each(never(ON_AGENTS, isSecure), 'connection_overtake_time'),
    ...each(never("the address in an agent's key counts", isSyslog), 'allowed-ips', 'denied-ips'),
    rewrite_rfc5424: never('agents send no syslog', isSyslog),
    rids_closing_time: never('counters of agents are not kept in files that stay open'),
    agents: inside(each(works, 'allow_higher_versions')),
  }),
  auth: section(
    'svc-authd',
    {
      ...each(
        works,
        'disabled',
        'remote_enrollment',
        'port',
        'local_ip',
        'ipv6',
        'use_source_ip',
        'purge',
        'use_password',
      ),
      ...each(works, 'ciphers', 'ssl_agent_ca', 'ssl_verify_host', 'ssl_manager_cert', 'ssl_manager_key'),
      ...each(works, 'ssl_auto_negotiate', 'force_insert', 'force_time'),
      force: inside(each(works, 'enabled', 'key_mismatch', 'disconnected_time', 'after_registration_time')),
      agents: inside(each(works, 'allow_higher_versions')),
      key_request: later('other programs are not asked for keys', switchedOff),
      limit_maxagents: never('the number of agents has no limit'),
    },
    switchedOff,
  ),
  // Programs that are not there are told by svc-monitord.
  integration: section('svc-monitord', {
    ...each(works, 'name', 'api_key', 'hook_url', 'level', 'rule_id', 'group', 'event_location', 'alert_format'),
    ...each(works, 'max_log', 'options', 'timeout', 'retries'),
  }),
  syslog_output: section('svc-monitord', {
    ...each(works, 'server', 'port', 'format', 'level', 'rule_id', 'group', 'location', 'use_fqdn', 'protocol', 'ca'),
  }),
  // Further recipients: without `<email_notification>yes` nobody gets mail.
  email_alerts: section('svc-monitord', {
    ...each(works, 'email_to', 'format', 'level', 'rule_id', 'group', 'event_location', 'do_not_delay'),
    do_not_group: works,
  }),
  reports: section('svc-monitord', {
    ...each(works, 'title', 'type', 'category', 'group', 'rule', 'level', 'location', 'srcip', 'user', 'showlogs'),
    email_to: works,
    frequency: never('a report is made once a day'),
  }),
  command: section('svc-analysisd', {
    ...each(works, 'name', 'executable', 'timeout_allowed', 'extra_args'),
    expect: part,
  }),
  'active-response': section('svc-analysisd', {
    ...each(works, 'disabled', 'command', 'location', 'agent_id', 'level', 'rules_id', 'rules_group', 'timeout'),
    repeated_offenders: works,
    // Of agents that are upgraded.
    ca_store: part,
  }),
  cluster: section(
    'svc-clusterd',
    {
      ...each(works, 'name', 'node_name', 'key', 'disabled'),
      nodes: inside({ node: works }),
      nats: inside(each(works, 'ca', 'certificate', 'certificate_key', 'credential', 'replicas')),
      alerts: inside(each(works, 'outputs', 'megabytes', 'hours')),
      node_type: never('all managers of a cluster are alike'),
      port: never('the ports of the NATS servers stand in <nodes>'),
      bind_addr: never('nobody connects to svc-clusterd'),
      hidden: never('all managers show each other', saying('no')),
      interval: never('changes travel at once'),
      haproxy_helper: never('load balancers are not told of managers', helperOff),
    },
    switchedOff,
  ),
  wdb: section('svc-db', { backup: inside(each(works, 'enabled', 'interval', 'max_files')) }),
  agentless: without('svc-monitord', later('hosts without an agent are not looked at'), [
    ...['type', 'frequency', 'host', 'state', 'arguments', 'port'],
  ]),
  'agent-upgrade': section('svc-modulesd', {
    ...each(works, 'chunk_size', 'max_threads'),
    wpk_repository: never('packages are taken from var/upgrade', saying('packages.wazuh.com/4.x/wpk/')),
    enabled: never(ON_AGENTS, saying('yes')),
    ...each(never(ON_AGENTS), 'notification_wait_start', 'notification_wait_max', 'notification_wait_factor'),
    ca_verification: never(ON_AGENTS),
  }),
  'task-manager': section('svc-modulesd', each(works, 'cleanup_time', 'task_timeout')),
  database_output: without('svc-monitord', never('the section is old', switchedOff), 'any'),
  'vulnerability-detector': without('svc-monitord', never('the section is old', switchedOff), 'any'),
} satisfies Readonly<Record<string, SectionEffects>>;
