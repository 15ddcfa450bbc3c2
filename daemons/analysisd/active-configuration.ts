import type {
  ActiveResponseConfig,
  CommandConfig,
  ResponseLocation,
} from '../../lib/config/sections/active-response.js';
import type { Settings } from './settings.js';

/** Internal options that have an effect here. */
const SHOWN = [
  'default_timeframe',
  'stats_maxdiff',
  'stats_mindiff',
  'stats_percent_diff',
  'fts_list_size',
  'fts_min_size_for_str',
  'log_fw',
  'decoder_order_size',
  'show_hidden_labels',
  'min_rotate_interval',
  'state_interval',
] as const;

/** Words for where a response runs. */
const LOCATIONS: Readonly<Record<ResponseLocation, string>> = {
  server: 'AS_ONLY',
  local: 'REMOTE_AGENT',
  'defined-agent': 'SPECIFIC_AGENT',
  all: 'ALL_AGENTS',
};

const yesNo = (value: boolean): 'yes' | 'no' => (value ? 'yes' : 'no');

/** The configuration in force, by section, in the shapes of daemons-and-config.md 1.7 ("analysis"). */
export function activeConfiguration(settings: () => Settings): ReadonlyMap<string, () => Record<string, unknown>> {
  const config = () => settings().config;
  return new Map<string, () => Record<string, unknown>>([
    [
      'global',
      () => {
        const { global } = config();
        return {
          global: {
            email_notification: yesNo(global.email_notification === true),
            logall: yesNo(global.logall),
            logall_json: yesNo(global.logall_json),
            integrity_checking: global.integrity_checking,
            rootkit_detection: global.rootkit_detection,
            host_information: global.host_information,
            prelude_output: 'no',
            zeromq_output: 'no',
            jsonout_output: yesNo(global.jsonout_output),
            alerts_log: yesNo(global.alerts_log),
            stats: global.stats,
            memory_size: global.memory_size,
            white_list: global.white_list,
            rotate_interval: global.rotate_interval,
            max_output_size: global.max_output_size,
            eps: { maximum: global.limits.eps.maximum, timeframe: global.limits.eps.timeframe },
          },
        };
      },
    ],
    [
      'alerts',
      () => {
        const { alerts } = config();
        return {
          alerts: { email_alert_level: alerts.email_alert_level, log_alert_level: alerts.log_alert_level },
        };
      },
    ],
    ['command', () => ({ command: config().command.map(activeCommand) })],
    ['active_response', () => ({ 'active-response': config()['active-response'].responses.map(activeResponse) })],
    [
      'rule_test',
      () => {
        const { rule_test: test } = config();
        return {
          rule_test: {
            enabled: yesNo(test.enabled),
            threads: test.threads,
            max_sessions: test.max_sessions,
            session_timeout: test.session_timeout,
          },
        };
      },
    ],
    [
      'internal',
      () => {
        const { options } = settings();
        return {
          internal: { analysisd: Object.fromEntries(SHOWN.map((name) => [name, options.get(`analysisd.${name}`)])) },
        };
      },
    ],
  ]);
}

function activeCommand({ name, executable, timeout_allowed }: CommandConfig): Record<string, unknown> {
  return { name, executable, timeout_allowed: timeout_allowed ? 1 : 0 };
}

function activeResponse(response: ActiveResponseConfig): Record<string, unknown> {
  return {
    command: response.command.name,
    agent_id: response.agent_id.join(','),
    rules_id: response.rules_id.join(','),
    rules_group: response.rules_group ?? '',
    timeout: response.timeout,
    level: response.level ?? 0,
    location: response.locations.map((location) => LOCATIONS[location]).join(','),
  };
}
