import type { AgentRecord } from '../../../daemons/db/agent-record.js';

const SYSTEMS = [
  { name: 'Ubuntu', platform: 'ubuntu', version: '24.04.1 LTS', major: '24', minor: '04', codename: 'Noble Numbat' },
  { name: 'Debian GNU/Linux', platform: 'debian', version: '12', major: '12', codename: 'bookworm' },
  { name: 'Microsoft Windows Server 2022', platform: 'windows', version: '10.0.20348', major: '10', minor: '0' },
  { name: 'Red Hat Enterprise Linux', platform: 'rhel', version: '9.4', major: '9', minor: '4', codename: 'Plow' },
] as const;

/** The agent of a number as a large manager has it: the same values for the same number. */
export function sampleAgent(id: number): { readonly record: AgentRecord; readonly lastKeepAlive: number | undefined } {
  const seed = Math.imul(id + 1, 0x9e3779b1) >>> 0;
  const name = `${['web', 'db', 'mail', 'Build'][seed % 4]}-${(seed % 999_983).toString(36)}-${id}`;
  const neverConnected = seed % 50 === 0;
  const status = neverConnected ? 'never_connected' : seed % 7 === 0 ? 'disconnected' : 'active';
  const lastKeepAlive = neverConnected ? undefined : 1_790_000_000 + (seed % 5_000_000);
  const common = {
    name,
    registerIP: seed % 3 === 0 ? `10.${(id >> 16) & 255}.${(id >> 8) & 255}.${id & 255}` : 'any',
    dateAdd: 1_780_000_000 + (seed % 9_000_000),
    groups: seed % 5 === 0 ? ['default', `site-${seed % 40}`] : ['default'],
    status,
    statusCode: status === 'disconnected' ? 4 : 0,
    disconnectionTime: status === 'disconnected' ? 1_795_000_000 + (seed % 1000) : 0,
  } as const;
  if (neverConnected) return { record: { ...common, nodeName: 'unknown' }, lastKeepAlive };
  const system = SYSTEMS[(seed >> 5) % SYSTEMS.length] ?? SYSTEMS[0];
  const os = { ...system, arch: 'x86_64' };
  const uname = `Linux |${name} |6.8.0-${seed % 90}-generic |#1 SMP |x86_64`;
  const record: AgentRecord = {
    ...common,
    ip: `172.${16 + (id >> 16)}.${(id >> 8) & 255}.${id & 255}`,
    os,
    uname,
    version: `Wazuh v4.${9 + (seed % 6)}.${seed % 8}`,
    configSum: 'ab73af41699f13fdd81903b5f23d8d00',
    mergedSum: `${seed % 40}`.padStart(32, 'f'),
    manager: 'manager1',
    nodeName: 'node01',
  };
  return { record, lastKeepAlive };
}
