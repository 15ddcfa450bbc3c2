import type { ShownSection } from '../../../lib/daemon/daemon-settings.js';
import type { OutputSections } from './output-definitions.js';

/**
 * What of the outputs is in force, in the shapes of daemons-and-config.md 1.7. A part of which nothing is configured is
 * shown empty: in the reference its daemon does not run.
 */
export function activeOutputs(config: () => OutputSections): [string, ShownSection][] {
  return [
    ['csyslog', () => activeSyslog(config())],
    ['integration', () => activeIntegrations(config())],
    ['mail-global', () => activeMail(config())],
    ['mail-alerts', () => activeMailAlerts(config())],
  ];
}

function activeSyslog({ syslog_output }: OutputSections): Record<string, unknown> {
  if (syslog_output.length === 0) return {};
  return {
    syslog_output: syslog_output.map(
      ({ server, port, level, group, rule_id, location, use_fqdn, format, protocol }) => ({
        server,
        port,
        level,
        group: group === undefined ? [] : [group],
        rule_id,
        location: location === undefined ? [] : [location],
        use_fqdn: use_fqdn ? 'yes' : 'no',
        format,
        protocol,
      }),
    ),
  };
}

function activeIntegrations({ integration }: OutputSections): Record<string, unknown> {
  if (integration.length === 0) return {};
  return {
    integration: integration.map((block) => ({
      name: block.name,
      hook_url: block.hook_url ?? '',
      api_key: block.api_key ?? '',
      level: block.level,
      max_log: block.max_log,
      rule_id: block.rule_id,
      group: block.group.join(','),
      alert_format: block.alert_format,
      location: block.event_location === undefined ? [] : [block.event_location],
      timeout: block.timeout,
      retries: block.retries,
    })),
  };
}

function activeMail({ global }: OutputSections): Record<string, unknown> {
  if (global.email_notification !== true) return {};
  return {
    global: {
      email_to: global.email_to,
      email_from: global.email_from ?? '',
      smtp_server: global.smtp_server ?? '',
      helo_server: global.helo_server,
      email_log_source: global.email_log_source,
      email_maxperhour: global.email_maxperhour,
    },
  };
}

function activeMailAlerts({ global, email_alerts }: OutputSections): Record<string, unknown> {
  if (global.email_notification !== true) return {};
  return {
    email_alerts: email_alerts.flatMap((block) =>
      block.email_to.map((email_to) => ({
        email_to,
        level: block.level,
        group: block.group === undefined ? [] : [block.group],
        location: block.event_location === undefined ? [] : [block.event_location],
        rule_id: block.rule_id,
        format: activeFormat(block),
      })),
    ),
  };
}

function activeFormat(block: OutputSections['email_alerts'][number]): string {
  if (block.format === 'sms') return 'sms';
  if (block.do_not_delay) return 'do_not_delay';
  return block.do_not_group ? 'do_not_group' : 'full';
}
