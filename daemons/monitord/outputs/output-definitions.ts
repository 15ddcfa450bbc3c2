import { resolve } from 'node:path';
import type { ManagerConfig } from '../../../lib/config/manager-config.js';
import type { Home } from '../../../lib/home/home.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { OutputDefinition } from './alert-outputs.js';
import { SyslogReceiver, type SyslogSettings } from './syslog/syslog-receiver.js';

/** Sections that ask for outputs. */
export type OutputSections = ManagerConfig<'syslog_output'>;

export type OutputContext = { readonly home: Home; readonly logger: Logger };

/** The outputs that a configuration asks for. Two that would be called the same get a number. */
export function outputDefinitions(config: OutputSections, context: OutputContext): OutputDefinition[] {
  const definitions = config.syslog_output.map((block) => syslogOutput(block, context));
  const seen = new Map<string, number>();
  return definitions.map((definition) => {
    const number = (seen.get(definition.key) ?? 0) + 1;
    seen.set(definition.key, number);
    if (number === 1) return definition;
    return { ...definition, key: `${definition.key}#${String(number)}`, name: `${definition.name} #${String(number)}` };
  });
}

function syslogOutput(
  block: OutputSections['syslog_output'][number],
  { home, logger }: OutputContext,
): OutputDefinition {
  const { server, port, protocol, format, level, rule_id, group, location, use_fqdn, ca } = block;
  const settings: SyslogSettings = {
    server: server.trim(),
    port,
    protocol,
    ca: ca === undefined ? undefined : resolve(home.root, ca),
    format,
    useFqdn: use_fqdn,
    filter: { level, ruleIds: rule_id, group, location },
  };
  const address = `${settings.server}:${String(port)}`;
  return {
    key: `syslog ${protocol} ${address}`,
    name: `syslog ${address}/${protocol}`,
    settings,
    receiver: () => new SyslogReceiver(settings, logger),
    announcement: `Forwarding alerts via syslog to: '${address}'.`,
  };
}
