import { expect } from 'chai';
import fc from 'fast-check';
import {
  type StateAgent,
  stateAgent,
  StateDocuments,
  stateId,
} from '../../../../../../daemons/monitord/outputs/states/state-document.js';
import { STATE_TABLES, type StateTable } from '../../../../../../daemons/monitord/outputs/states/state-tables.js';
import type { StateRow } from '../../../../../../daemons/monitord/outputs/states/state-values.js';
import { inventoryTable } from '../../../../../../lib/events/inventory/inventory-tables.js';
import { specifiedFields } from '../../../../../support/monitord/state-specification.js';
import { type FieldMapping, StrictMapping } from '../../../../../support/monitord/strict-mapping.js';

const AGENT: StateAgent = { id: '001', name: 'web', version: 'v4.14.7', ip: '10.0.0.7' };
const HEAD = {
  agent: { id: '001', name: 'web', version: 'v4.14.7', host: { ip: '10.0.0.7' } },
  wazuh: { cluster: { name: 'Manager' }, schema: { version: '1.0' } },
};
const documents = new StateDocuments({ cluster: 'Manager', node: undefined });

function tableOf(name: string): StateTable {
  const table = STATE_TABLES.find((candidate) => candidate.table === name);
  if (table === undefined) throw new Error(`there is no table ${name}`);
  return table;
}

/** A document without what all have. */
function made(table: string, row: StateRow): unknown {
  const { agent, wazuh, ...rest } = JSON.parse(documents.make(tableOf(table), AGENT, row) ?? 'null') as Record<
    string,
    unknown
  >;
  expect({ agent, wazuh }).to.deep.equal(HEAD);
  return rest;
}

/** The mapping that the specification says: keywords are searched up to 1024 characters, but for the command line. */
function specifiedMapping(kind: string): StrictMapping {
  const properties: Record<string, FieldMapping> = {};
  for (const [path, type] of Object.entries(specifiedFields().get(kind) ?? {})) {
    const names = path.split('.');
    let at = properties;
    for (const name of names.slice(0, -1)) at = (at[name] ??= {}).properties ??= {};
    const isCut = type === 'keyword' && path !== 'process.command_line';
    at[names.at(-1) ?? ''] = { type, ...(isCut ? { ignore_above: 1024 } : {}) };
  }
  return new StrictMapping(properties, true);
}

describe('Documents of states', () => {
  it('say whose the host is', () => {
    const item = { id: '007', name: 'db', registerIP: '10.1.0.0/16', ip: '10.1.2.3', version: 'Wazuh v4.14.7' };
    expect(stateAgent(item)).to.deep.equal({ id: '007', name: 'db', version: 'v4.14.7', ip: '10.1.2.3' });
    expect(stateAgent({ id: '007', name: 'db', registerIP: 'any' })).to.deep.equal({ id: '007', name: 'db' });
    expect(stateAgent({ id: '007', name: 'db', registerIP: '10.0.0.1', ip: '10.9.9.9' }).ip).to.equal('10.0.0.1');
    const clustered = new StateDocuments({ cluster: 'Big', node: 'node01' });
    const text = clustered.make(tableOf('hotfixes'), { id: '007', name: 'db' }, { hotfix: 'KB1' }) ?? '';
    expect(JSON.parse(text)).to.deep.equal({
      agent: { id: '007', name: 'db' },
      wazuh: { cluster: { name: 'Big', node: 'node01' }, schema: { version: '1.0' } },
      package: { hotfix: { name: 'KB1' } },
    });
  });

  it('system and hardware', () => {
    const row = {
      ...{ hostname: 'web', architecture: 'x86_64', os_name: 'Ubuntu', os_version: '24.04', os_codename: ' ' },
      ...{ os_major: '24', os_platform: 'ubuntu', sysname: 'Linux', release: '6.8.0', version: '#1 SMP' },
    };
    expect(made('osinfo', row)).to.deep.equal({
      host: {
        architecture: 'x86_64',
        hostname: 'web',
        os: {
          ...{ name: 'Ubuntu', version: '24.04', platform: 'ubuntu' },
          kernel: { name: 'Linux', release: '6.8.0', version: '#1 SMP' },
        },
      },
    });
    expect(made('osinfo', {})).to.deep.equal({});
    const hardware = {
      ...{ board_serial: 'AB1', cpu_name: 'CPU', cpu_cores: 8, cpu_mhz: 2394.375 },
      ...{ ram_total: 1000, ram_free: 400, ram_usage: 60 },
    };
    expect(made('hwinfo', hardware)).to.deep.equal({
      host: {
        serial_number: 'AB1',
        cpu: { name: 'CPU', cores: 8, speed: 2394 },
        memory: { total: 1_024_000, free: 409_600, used: 614_400, usage: 0.6 },
      },
    });
    expect(made('hwinfo', {})).to.deep.equal({
      host: { serial_number: 'unknown', cpu: { cores: 0, speed: 0 }, memory: { total: 0, free: 0, used: 0 } },
    });
  });

  it('packages and hotfixes', () => {
    const row = { name: 'bash', version: '5.2', vendor: ' ', format: 'deb', location: ' ', priority: 'high' };
    const installed = (install_time: string) => made('packages', { name: 'bash', install_time });
    expect(made('packages', row)).to.deep.equal({ package: { name: 'bash', version: '5.2', type: 'deb', size: 0 } });
    expect(installed('1700000000')).to.have.nested.property('package.installed', '2023-11-14T22:13:20.000Z');
    expect(installed('2024-03-04T05:06:07Z')).to.have.nested.property('package.installed', '2024-03-04T05:06:07.000Z');
    expect(installed('2024-03-04T05:06:07.089Z')).to.have.nested.property(
      'package.installed',
      '2024-03-04T05:06:07.089Z',
    );
    const local = new Date(2024, 2, 4, 5, 6, 7).toISOString();
    expect(installed('2024/03/04 05:06:07')).to.have.nested.property('package.installed', local);
    for (const odd of [' ', 'yesterday', '2024/02/30 00:00:00', '2024-13-04T05:06:07Z', '99999999999999']) {
      expect(installed(odd), odd).not.to.have.nested.property('package.installed');
    }
    expect(made('hotfixes', { hotfix: 'KB4534273' })).to.deep.equal({ package: { hotfix: { name: 'KB4534273' } } });
  });

  it('processes', () => {
    const row = { pid: '42', name: 'sh', cmd: 'C:\\\\bin\\sh', argvs: '-c  ls', start_time: 0, ppid: 1, state: 'S' };
    expect(made('processes', row)).to.deep.equal({
      process: {
        ...{ pid: 42, name: 'sh', command_line: 'C:/bin/sh', args: ['-c', '', 'ls'], args_count: 3 },
        ...{ start: '1970-01-01T00:00:00.000Z', parent: { pid: 1 } },
      },
    });
    expect(made('processes', { pid: '42', argvs: ' ' })).to.deep.equal({
      process: { pid: 42, args_count: 0, parent: { pid: 0 } },
    });
    const long = made('processes', { pid: '1', cmd: 'é'.repeat(20_000) });
    expect(long).to.have.nested.property('process.command_line', 'é'.repeat(16_383));
  });

  it('ports', () => {
    const row = {
      ...{ protocol: 'tcp6', local_ip: ':::', local_port: 22, remote_ip: ' ', remote_port: 0, state: 'listening' },
      ...{ inode: 4321, pid: 7, process: 'sshd', tx_queue: 1 },
    };
    expect(made('ports', row)).to.deep.equal({
      source: { ip: '::', port: 22 },
      destination: { port: 0 },
      network: { transport: 'tcp6' },
      interface: { state: 'listening' },
      file: { inode: '4321' },
      host: { network: { egress: { queue: 1 }, ingress: { queue: 0 } } },
      process: { name: 'sshd', pid: 7 },
    });
    expect(made('ports', { local_ip: 'fe80::1%eth0', remote_ip: 'nowhere' })).to.deep.include({
      source: { ip: 'fe80::1', port: 0 },
      destination: { port: 0 },
      file: { inode: '0' },
    });
  });

  it('interfaces, addresses and protocols', () => {
    const row = { name: 'eth0', adapter: ' ', type: 'ethernet', state: 'up', mtu: 1500, mac: '00:11', rx_bytes: 9 };
    expect(made('network_iface', row)).to.deep.equal({
      interface: { name: 'eth0', type: 'ethernet', state: 'up', mtu: 1500 },
      host: {
        mac: '00:11',
        network: {
          ingress: { bytes: 9, packets: 0, errors: 0, drops: 0 },
          egress: { bytes: 0, packets: 0, errors: 0, drops: 0 },
        },
      },
    });
    const address = { iface: 'eth0', proto: 'ipv4', address: '10.0.0.7', netmask: '255.255.255.0', broadcast: ' ' };
    expect(made('network_address', address)).to.deep.equal({
      interface: { name: 'eth0' },
      network: { ip: '10.0.0.7', netmask: '255.255.255.0', type: 'IPv4' },
    });
    expect(made('network_address', { proto: 'ipv6' })).to.deep.equal({ network: { type: 'IPv6' } });
    expect(made('network_address', {})).to.deep.equal({ network: { type: 'IPv4' } });
    const protocol = { iface: 'eth0', type: 'ipv4', gateway: '10.0.0.1,10.0.0.2', dhcp: 'enabled', metric: '100' };
    expect(made('network_protocol', protocol)).to.deep.equal({
      interface: { name: 'eth0' },
      network: { type: 'ipv4', dhcp: true, metric: 100 },
    });
    expect(made('network_protocol', { gateway: '10.0.0.1', dhcp: 'unknown', metric: ' ' })).to.deep.equal({
      network: { dhcp: false, gateway: '10.0.0.1', metric: 0 },
    });
  });

  it('users and groups', () => {
    const row = {
      ...{
        user_name: 'root',
        user_id: 0,
        user_uid_signed: 0,
        user_group_id: 0,
        user_groups: 'root:adm',
        user_roles: 'a,b',
      },
      ...{ user_created: 1_700_000_000.5, user_last_login: 0, user_is_remote: 1, user_password_inactive_days: -1 },
      ...{ user_password_status: 'locked', host_ip: '10.0.0.1, ::1,there', login_tty: 'pts/0', process_pid: 5 },
    };
    expect(made('users', row)).to.deep.equal({
      user: {
        ...{ name: 'root', id: '0', uid_signed: 0, group: { id: 0, id_signed: 0 }, groups: ['root', 'adm'] },
        ...{ roles: ['a', 'b'], is_hidden: false, is_remote: true, created: '2023-11-14T22:13:20.500Z' },
        password: { status: 'locked' },
      },
      login: { status: false, tty: 'pts/0' },
      host: { ip: ['10.0.0.1', '::1'] },
      process: { pid: 5 },
    });
    expect(made('users', { user_name: 'x' })).to.deep.equal({
      user: { name: 'x', uid_signed: 0, group: { id_signed: 0 }, is_hidden: false, is_remote: false },
      login: { status: false },
    });
    const group = { group_name: 'adm', group_id: '18446744073709551615', group_id_signed: -1, group_users: 'a:b' };
    expect(made('groups', { ...group, group_description: 'who administers' })).to.deep.equal({
      group: {
        ...{ name: 'adm', description: 'who administers', id: '18446744073709551615', id_signed: -1 },
        ...{ is_hidden: false, users: ['a', 'b'] },
      },
    });
  });

  it('services and extensions of browsers', () => {
    const row = {
      ...{ service_id: 'ssh', service_exit_code: 0, service_win32_exit_code: 4_294_967_295, process_pid: 9 },
      ...{ process_args: '-D,-e', process_working_dir: '/', process_root_dir: '/srv', service_frequency: -1 },
      ...{ log_file_path: '/l', error_log_file_path: '/e', service_starts_on_path_modified: '/a,/b' },
    };
    expect(made('services', row)).to.deep.equal({
      service: {
        ...{ id: 'ssh', exit_code: 0, inetd_compatibility: false },
        ...{ starts: { on_mount: false, on_path_modified: ['/a', '/b'] }, target: { ephemeral_id: '0' } },
      },
      process: { working_directory: '/', root_directory: '/srv', args: ['-D', '-e'], pid: 9 },
      log: { file: { path: '/l' } },
      error: { log: { file: { path: '/e' } } },
    });
    expect(documents.make(tableOf('services'), AGENT, { service_name: 'ssh', service_id: ' ' })).to.equal(undefined);
    expect(documents.make(tableOf('browser_extensions'), AGENT, { package_id: 'x' })).to.equal(undefined);
    expect(
      made('browser_extensions', { package_name: 'x', package_permissions: 'tabs', package_enabled: 1 }),
    ).to.deep.equal({
      browser: { profile: { referenced: false } },
      package: {
        ...{ name: 'x', permissions: ['tabs'], autoupdate: false, enabled: true, visible: false },
        ...{ from_webstore: false, persistent: false },
      },
    });
  });

  it('have ids of agent and key', () => {
    const id = (table: string, key: string | Buffer) => stateId('001', tableOf(table), Buffer.from(key));
    expect(id('packages', 'abc')).to.equal('001_abc');
    expect([id('osinfo', ''), id('hwinfo', ''), id('hotfixes', '')]).to.deep.equal(['001_', '001_unknown', undefined]);
    expect([id('osinfo', ' '), id('hwinfo', ' '), id('users', ' ')]).to.deep.equal(['001_', '001_unknown', '001_ ']);
    expect(id('users', 'Jörg "x"')).to.equal('001_Jörg "x"');
    expect(id('users', 'u'.repeat(508))).to.equal(`001_${'u'.repeat(508)}`);
    expect(id('users', 'u'.repeat(509))).to.match(/^001_[0-9a-f]{64}$/);
    const odd = [Buffer.from([0xff]), Buffer.from([0xfe])].map((key) => id('users', key));
    expect(odd[0])
      .to.match(/^001_[0-9a-f]{64}$/)
      .and.not.to.equal(odd[1]);
  });

  const text = fc.oneof(
    fc.constantFrom('', ' ', '0', '-1', ',', ':', '::', '1.2.3.4', '99999999999999999999', '-9223372036854775809'),
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom('é'.repeat(20_000), 'a '.repeat(600), '\\'.repeat(33_000)),
  );
  const cell = fc.oneof(
    { weight: 6, arbitrary: text },
    { weight: 6, arbitrary: fc.constantFrom(0, -1, 1.5, 2 ** 31, 2 ** 40, -(2 ** 63), 2 ** 64, 1e300) },
    { weight: 2, arbitrary: fc.double() },
  );
  for (const table of STATE_TABLES) {
    it(`are taken by a strict mapping, whatever an agent tells: ${table.kind}`, () => {
      const mapping = specifiedMapping(table.kind);
      const columns = inventoryTable(table.table)?.columns.map(({ name }) => name) ?? [];
      const row = fc.record(Object.fromEntries(columns.map((name) => [name, cell])), { requiredKeys: [] });
      fc.assert(
        fc.property(row, (values) => {
          const made = documents.make(table, AGENT, values as StateRow);
          if (made !== undefined) mapping.take(JSON.parse(made) as Record<string, unknown>);
        }),
        { numRuns: 30 },
      );
    });
  }

  it('are refused by it with one field too many, and with a value that does not fit', () => {
    const mapping = specifiedMapping('users');
    expect(() => mapping.take({ user: { name: 'x', shoe: 1 } })).to.throw(/dynamic introduction of \[user\.shoe\]/);
    expect(() => mapping.take({ user: { group: { id: -1 } } })).to.throw(/user\.group\.id/);
  });
});
