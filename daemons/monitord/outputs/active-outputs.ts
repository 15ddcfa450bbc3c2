import type { ShownSection } from '../../../lib/daemon/daemon-settings.js';
import type { OutputSections } from './output-definitions.js';

/**
 * What of the outputs is in force, in the shapes of daemons-and-config.md 1.7. A part of which nothing is configured is
 * shown empty: in the reference its daemon does not run.
 */
export function activeOutputs(config: () => OutputSections): [string, ShownSection][] {
  return [['csyslog', () => activeSyslog(config())]];
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
