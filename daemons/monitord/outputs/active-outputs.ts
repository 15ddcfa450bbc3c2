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
