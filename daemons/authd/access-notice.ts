import type { Logger } from '../../lib/log/logger.js';
import type { AuthdSettings } from './authd-settings.js';

/** Says how agents get in, at a start (agents-and-groups.md 2.2). @param port as bound */
export function logAccess(settings: AuthdSettings, port: number, logger: Logger): void {
  logger.info(passwordLine(settings, port));
  const agents = agentLine(settings);
  if (agents !== undefined) logger.info(agents);
}

/**
 * Says what of it a reload has changed, as a start says it: who has to know a random password finds it nowhere else.
 * What only a restart changes is said there.
 */
export function logAccessChanges(before: AuthdSettings, after: AuthdSettings, port: number, logger: Logger): void {
  if (differ(before.password, after.password)) logger.info(passwordLine(after, port));
  const [old, now] = [before.tls, after.tls];
  if (old === undefined || now === undefined) return;
  if (differ([old.cert, old.key], [now.cert, now.key])) {
    logger.info(`Port ${port} shows another certificate from now on: '${after.auth.ssl_manager_cert}'.`);
  }
  const agents = agentLine(after);
  if (agents !== undefined && old.ca !== undefined && differ(old.ca, now.ca)) logger.info(agents);
}

function passwordLine({ password }: AuthdSettings, port: number): string {
  const how = {
    none: 'No password required.',
    file: 'Using password specified on file: etc/authd.pass',
    random: `Random password chosen for agent authentication: ${password.kind === 'random' ? password.text : ''}`,
  }[password.kind];
  return `Accepting connections on port ${port}. ${how}`;
}

/** Undefined when agents need no certificate. */
function agentLine({ auth }: AuthdSettings): string | undefined {
  if (auth.ssl_agent_ca === undefined) return undefined;
  const host = auth.ssl_verify_host ? ' and made for their address' : '';
  return `Agents need a certificate signed by '${auth.ssl_agent_ca}'${host}.`;
}

function differ(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) !== JSON.stringify(after);
}
