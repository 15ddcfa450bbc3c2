import { parseDigits } from '../../lib/config/units.js';
import type { OwnFlag, OwnFlagValues } from '../../lib/daemon/daemon-flags.js';

/** What the command line sets, whatever the configuration says (daemons-and-config.md 3.5). */
export type AuthdOverrides = {
  readonly port?: number;
  readonly usePassword?: boolean;
  readonly force?: boolean;
  readonly useSourceIp?: boolean;
  readonly autoNegotiate?: boolean;
};

const MAX_PORT = 65_535;

/** Flags that only svc-authd has. */
export const AUTHD_FLAGS: readonly OwnFlag[] = [
  { flags: '-p <port>', description: 'port to listen on (default: <port> of <auth>)', parse: parsePort },
  { flags: '-P', description: 'demand the password of etc/authd.pass, or a random one' },
  { flags: '-F', description: 'replace agents by the rules of <force> even when it is disabled' },
  { flags: '-i', description: 'register agents with the address they come from' },
  { flags: '-a', description: 'accept TLS 1.0 and 1.1, too' },
];

/** What the flags of a command line say. */
export function overridesOf(flags: OwnFlagValues): AuthdOverrides {
  return {
    ...(typeof flags['p'] === 'number' ? { port: flags['p'] } : {}),
    ...(flags['P'] === true ? { usePassword: true } : {}),
    ...(flags['F'] === true ? { force: true } : {}),
    ...(flags['i'] === true ? { useSourceIp: true } : {}),
    ...(flags['a'] === true ? { autoNegotiate: true } : {}),
  };
}

function parsePort(text: string): number {
  const port = parseDigits(text);
  if (port === undefined || port > MAX_PORT) throw new Error('It must be a port: 0 to 65535.');
  return port;
}
