import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import type { ManagerConfig } from '../../../lib/config/manager-config.js';
import type { Home } from '../../../lib/home/home.js';
import type { Logger } from '../../../lib/log/logger.js';
import { AlertFilter } from './alert-filter.js';
import type { OutputDefinition } from './alert-outputs.js';
import { indexerOutputs } from './indexer/indexer-output.js';
import { AlertFiles } from './integration/alert-files.js';
import { programPath } from './integration/integration-program.js';
import { IntegrationReceiver } from './integration/integration-receiver.js';
import { type IntegrationSettings, ProgramSender, WebhookSender } from './integration/integration-sender.js';
import { type MailOptions, mailOutput } from './mail/mail-output.js';
import { SyslogReceiver, type SyslogSettings } from './syslog/syslog-receiver.js';

/** Sections that ask for outputs. */
export type OutputSections = ManagerConfig<
  'global' | 'alerts' | 'cluster' | 'syslog_output' | 'integration' | 'email_alerts' | 'indexer'
>;

export type OutputContext = {
  readonly home: Home;
  readonly logger: Logger;
  /** `integrator.debug` */
  readonly debugIntegrations: boolean;
  readonly mail: MailOptions;
};

/** Integrations that this daemon carries out itself; the others are programs. */
const WEBHOOKS = ['slack', 'shuffle', 'pagerduty', 'webhook'];

/** The outputs that a configuration asks for. Two that would be called the same get a number. */
export function outputDefinitions(config: OutputSections, context: OutputContext): OutputDefinition[] {
  const definitions = [
    ...config.syslog_output.map((block) => syslogOutput(block, context)),
    ...config.integration.map((block) => integration(block, context)),
    ...mailOutput(config, context.mail, context.home, context.logger),
    ...indexerOutputs(config, context),
  ];
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

/** Whether an integration is a program in integrations/. */
export function isProgram(name: string): boolean {
  return !WEBHOOKS.includes(name);
}

function integration(
  block: OutputSections['integration'][number],
  { home, logger, debugIntegrations: debug }: OutputContext,
): OutputDefinition {
  const { name, level, rule_id, group, event_location } = block;
  const settings: IntegrationSettings = {
    name,
    apiKey: block.api_key ?? '',
    hookUrl: block.hook_url?.trim() ?? '',
    options: block.options ?? '',
    alertFormat: block.alert_format,
    maxLog: block.max_log,
    timeout: block.timeout,
    retries: block.retries,
  };
  const filter = { level, ruleIds: rule_id, groups: group, location: event_location };
  // The address is a secret, so only its sum is kept.
  const target = settings.hookUrl === '' ? '' : ` ${hash('sha256', settings.hookUrl).slice(0, 16)}`;
  return {
    key: `integration ${name}${target}`,
    name: `integration ${name}`,
    settings: { settings, filter, debug },
    receiver: () => {
      const sender = isProgram(name)
        ? new ProgramSender({
            settings,
            program: programPath(home, name),
            directory: home.root,
            files: new AlertFiles(home.path('tmp', 'integrations')),
            logger,
            debug,
          })
        : new WebhookSender(settings);
      return new IntegrationReceiver(sender, new AlertFilter(filter));
    },
    announcement: `Enabling integration for: '${name}'.`,
  };
}
