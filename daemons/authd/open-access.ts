import type { AddressInfo } from 'node:net';
import type { Logger } from '../../lib/log/logger.js';
import type { AuthdSettings } from './authd-settings.js';

/** Warns when whoever reaches the port gets a key. @param bound where the port is open */
export function warnOfOpenAccess({ auth, password }: AuthdSettings, bound: AddressInfo, logger: Logger): void {
  if (password.kind !== 'none' || auth.ssl_agent_ca !== undefined || isLoopback(bound.address)) return;
  logger.warn(
    `Whoever reaches port ${bound.port} can enrol agents: no password is set. Set <use_password>, <ssl_agent_ca> or a <local_ip> of this host in <auth>.`,
  );
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1' || address.startsWith('::ffff:127.');
}
