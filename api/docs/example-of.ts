import type { Schema } from '../../lib/contract/api-contract.js';
import type { SchemaDocument } from './schema-document.js';

/** Deeper than any answer: a shape that holds itself ends there. */
const MAX_DEPTH = 12;

/** What members of these names look like, where the contract has neither an example nor a list of values. */
const TEXTS: Readonly<Record<string, string>> = {
  actions: 'agent:read',
  adapter: 'Intel 82574L',
  address: '192.0.2.7',
  agent_id: '001',
  alert_id: '20261127-000-123456',
  api_version: '4.14.7',
  arch: 'x86_64',
  architecture: 'x86_64',
  args: '-D',
  argvs: '-D',
  attributes: 'archive',
  benchmark: 'CIS Debian Linux 12',
  board_serial: 'VMW-0001',
  broadcast: '192.0.2.255',
  build: '2041',
  cluster: 'main',
  cmd: '/usr/sbin/sshd',
  codename: 'bookworm',
  command: 'sshd -T',
  configSum: 'ab73af41699f13fdd81903b5f23d8d00',
  created_time: '2020-02-11T18:38:22.617000Z',
  current_version: 'v4.14.7',
  date: '2026-05-08T12:34:19+00:00',
  description: 'What it is about.',
  directory: '/etc/ssh',
  effect: 'allow',
  egroup: 'root',
  euser: 'root',
  event: 'Dec 10 01:02:02 host sshd[1234]: Failed password for root from 192.0.2.7 port 41234 ssh2',
  events: 'Dec 10 01:02:02 host sshd[1234]: Failed password for root from 192.0.2.7 port 41234 ssh2',
  external_id: 'T1110',
  fgroup: 'root',
  file: '/etc/passwd',
  filename: 'local_rules.xml',
  format: 'deb',
  full_log: 'Dec 10 01:02:02 host sshd[1234]: Failed password for root from 192.0.2.7 port 41234 ssh2',
  full_name: 'Reader',
  gateway: '192.0.2.1',
  gdpr: 'IV_35.7.d',
  gid: '0',
  gname: 'root',
  gpg13: '7.1',
  group: 'default',
  group_id: 'web',
  groups: 'default',
  hash: 'ab73af41699f13fdd81903b5f23d8d00',
  hipaa: '164.312.b',
  home: '/home/reader',
  host_ip: '192.0.2.7',
  hostname: 'web1',
  hotfix: 'KB5034441',
  id: '001',
  iface: 'eth0',
  ip: '192.0.2.7',
  key: 'a'.repeat(64),
  last_check_date: '2026-05-08T12:34:19Z',
  license_name: 'Apache-2.0',
  license_url: 'https://www.apache.org/licenses/LICENSE-2.0',
  location: '/var/log/auth.log',
  log: 'File is owned by root and has written permissions to anyone.',
  log_format: 'syslog',
  mac: '02:00:00:00:00:01',
  major: '12',
  manager: 'manager1',
  max_agents: 'unlimited',
  md5: 'd41d8cd98f00b204e9800998ecf8427e',
  mergedSum: 'f1a9e24e02ba4cc5ea80a9d3feb3bb9a',
  message: 'What was done.',
  messages: "INFO: (7202): Session initialized with token 'eb107a51'",
  minor: '5',
  mitigations: 'course-of-action--25dc1ce8-eb55-4333-ae30-a7cb4f5894a1',
  mitre: 'T1110',
  mitre_version: '1.7',
  modified_time: '2025-10-24T17:48:21.929000Z',
  msg: 'Restart is due',
  mtime: '2026-05-08T12:34:19+00:00',
  name: 'web1',
  netmask: '255.255.255.0',
  nist_800_53: 'AU.14',
  node: 'manager1',
  node_name: 'manager1',
  openssl_support: 'yes',
  password: 'Secret-42-password',
  path: '/opt/security-manager',
  pci_dss: '10.2.4',
  perm: 'rw-r--r--',
  pid: '1234',
  platform: 'debian',
  policy_id: 'cis_debian12',
  priority: 'optional',
  process: 'sshd',
  profile: 'web',
  proto: 'ipv4',
  protocol: 'tcp',
  published_date: '2026-05-08T12:34:19Z',
  reason: 'Cannot be read',
  references: 'https://example.org/',
  registerIP: 'any',
  relative_dirname: 'etc/rules',
  release: '6.1.0-21',
  remediation: 'What to do about it.',
  resources: 'agent:group:web',
  revoked_by: 'attack-pattern--a93494bb-4b80-4ea1-8695-3236a49916fd',
  rgroup: 'root',
  ruser: 'root',
  section: 'net',
  sgroup: 'root',
  sha1: 'da39a3ee5e6b4b0d3255bfef95601890afd80709',
  sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  shell: '/bin/bash',
  short_name: 'credential-access',
  software: 'malware--c5e9cb46-aced-466c-85ea-7db5572ad9ec',
  source: 'mitre-attack',
  state: 'running',
  subtechnique_of: 'attack-pattern--a93494bb-4b80-4ea1-8695-3236a49916fd',
  suser: 'root',
  sysname: 'Linux',
  tactics: 'x-mitre-tactic--2558fd61-8c75-4730-94c4-11926db2a263',
  tag: 'svc-remoted',
  techniques: 'attack-pattern--09c4c11e-4fa1-4f8c-8dad-3cf8e69ad119',
  time: '2026-05-08T12:34:19Z',
  timestamp: '2026-05-08T12:34:19Z',
  title: 'What it is called',
  token: 'eb107a51',
  tsc: 'CC6.1',
  type: 'file',
  tz_name: 'UTC',
  tz_offset: '+0000',
  uid: '0',
  uname: 'root',
  url: 'https://example.org/',
  user_name: 'root',
  username: 'reader',
  uuid: '2c1fa2f2-7e0c-4a1f-9a0b-7d5d0a3c3c11',
  value: 'known attacker',
  vendor: 'Debian',
  version: 'v4.14.7',
};
/** The same by format. */
const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-05-08T12:34:19+00:00',
  active_response_command: 'restart-svc0',
  agent_key: 'a'.repeat(64),
  group_names: 'web',
  numbers: '100',
  timeframe: '1h',
};

/**
 * An example of what a schema describes: its own where it has one, else values that it allows, with every member.
 * @param name of the member that it is for
 */
export function exampleOf(document: SchemaDocument, schema: Schema, name = '', depth = 0): unknown {
  const value = document.resolve(schema);
  if (value['example'] !== undefined) return value['example'];
  if (Array.isArray(value['enum'])) return value['enum'][0];
  if (value['default'] !== undefined) return value['default'];
  const properties = document.properties(value);
  if (properties.size > 0) {
    if (depth >= MAX_DEPTH) return {};
    return Object.fromEntries(
      [...properties].map(([member, each]) => [member, exampleOf(document, each, member, depth + 1)]),
    );
  }
  for (const parts of [value['allOf'], value['oneOf']]) {
    if (Array.isArray(parts)) return exampleOf(document, parts.at(-1) as Schema, name, depth);
  }
  return exampleOfType(document, value, name, depth);
}

function exampleOfType(document: SchemaDocument, schema: Schema, name: string, depth: number): unknown {
  switch (schema['type']) {
    case 'array': {
      const items = (schema['items'] ?? {}) as Schema;
      return Object.keys(items).length === 0 ? [] : [exampleOf(document, items, name, depth + 1)];
    }
    case 'string':
      return textOf(schema, name);
    case 'integer':
    case 'number':
      return Number(schema['minimum'] ?? 1);
    case 'boolean':
      return true;
    default:
      return {};
  }
}

/** A text that the pattern allows: by format, by name, or the first of some that pass. */
function textOf(schema: Schema, name: string): string {
  const pattern = typeof schema['pattern'] === 'string' ? new RegExp(schema['pattern'], 'u') : undefined;
  const format = String(schema['x-format'] ?? schema['format']);
  const candidates = [FORMATS[format], TEXTS[name], 'text', '001', '1', '2026-05-08'];
  return candidates.find((text) => text !== undefined && pattern?.test(text) !== false) ?? 'text';
}
