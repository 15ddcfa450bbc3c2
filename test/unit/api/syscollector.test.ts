import { expect } from 'chai';
import type { ApiSettings } from '../../../api/api-settings.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { InventoryRow } from '../../../lib/events/inventory/row-marks.js';
import { type ApiList, ListCaller } from '../../support/api/api-list.js';
import { addUser, policy } from '../../support/api/rbac-user.js';
import { TestApi } from '../../support/api/test-api.js';
import { DbServer } from '../../support/db/db-server.js';
import { delta, packageRow, SCAN_TIME } from '../../support/inventory/inventory-messages.js';

const PASSWORD = 'Correct-42-horse';
const ON: Partial<ApiSettings> = {
  experimentalFeatures: true,
  access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 },
};
const ALL = { message: 'All specified syscollector information was returned', error: 0 };
const NONE = { message: 'No syscollector information was returned', error: 0 };
const SCAN = { id: 0, time: SCAN_TIME };

/** A row of each table, as an agent tells it. */
const ROWS: Readonly<Record<string, InventoryRow>> = {
  hwinfo: {
    ...{ board_serial: ' ', cpu_cores: 2, cpu_mhz: 2597.5, cpu_name: 'Demo CPU', ram_free: 1000, ram_total: 4000 },
    ram_usage: 75,
  },
  osinfo: {
    ...{
      architecture: 'x86_64',
      hostname: 'web',
      os_codename: 'bookworm',
      os_major: '12',
      os_name: 'Debian GNU/Linux',
    },
    ...{ os_platform: 'debian', os_version: '12 (bookworm)', release: '6.1', sysname: 'Linux', version: '#1 SMP' },
  },
  network_iface: {
    ...{ name: 'eth0', adapter: ' ', type: 'ethernet', state: 'up', mtu: 1500, mac: '00:00:5e:00:53:01' },
    ...{
      tx_packets: 1,
      rx_packets: 2,
      tx_bytes: 3,
      rx_bytes: 4,
      tx_errors: 0,
      rx_errors: 0,
      tx_dropped: 0,
      rx_dropped: 0,
    },
  },
  network_protocol: { iface: 'eth0', type: 'ipv4', gateway: '192.0.2.1', dhcp: 'enabled', metric: 100 },
  network_address: { iface: 'eth0', proto: 1, address: '2001:db8::1', netmask: 'ffff::', broadcast: ' ' },
  packages: packageRow('nginx'),
  hotfixes: { hotfix: 'KB4565483' },
  ports: {
    ...{ inode: 1575, local_ip: '0.0.0.0', local_port: 22, pid: 7, process: 'sshd', protocol: 'tcp' },
    ...{ remote_ip: '0.0.0.0', remote_port: 0, rx_queue: 0, state: 'listening', tx_queue: 0 },
  },
  processes: {
    pid: '1',
    name: 'init',
    state: 'S',
    ppid: 0,
    argvs: '--system',
    cmd: '/sbin/init',
    nice: 0,
    priority: 20,
  },
  users: {
    ...{ user_name: 'root', user_id: 0, user_home: '/root', user_is_hidden: 0, user_created: 0, login_status: 1 },
    ...{ login_tty: 'pts/0', host_ip: ' ', process_pid: 5 },
  },
  groups: { group_name: 'bin', group_id: 2, group_users: 'bin' },
  services: {
    ...{ service_id: 'ssh.service', service_name: 'ssh.service', service_state: 'active', process_pid: 12 },
    ...{ process_executable: '/usr/sbin/sshd', file_path: '/lib/systemd/system/ssh.service' },
  },
  browser_extensions: {
    ...{ browser_name: 'firefox', user_id: '1000', package_name: 'demo', package_version: '1', package_enabled: 1 },
    ...{ browser_profile_path: '/home/u/.mozilla', file_hash_sha256: 'ab' },
  },
};

// rest-api.md 6.13, 6.18; integrity-and-inventory.md 11.5.
describe('inventories over the API', () => {
  let api: TestApi;
  let db: DbServer;
  let lists: ListCaller;
  let position = 0;

  beforeEach(async () => {
    position = 0;
    api = await new TestApi().start(ON);
    db = await DbServer.start(api.home, () => api.now);
    await db.fill(60);
    await db.registry.edit((edit) => {
      for (const id of [1, 2]) edit.setAgent(id, { ...db.registry.agents.get(id)!.record, status: 'active' });
      edit.setAgent(3, { ...db.registry.agents.get(3)!.record, status: 'never_connected' });
    });
    lists = new ListCaller(api);
  });
  afterEach(async () => {
    await api.stop();
    await db.stop();
    await api.remove();
  });

  const told = async (agent: string, ...messages: readonly string[]) => {
    const operations = messages.map((text) => ({
      ...{ position: position++, agent, kind: 'inventory' as const, at: api.now, message: Buffer.from(text) },
    }));
    await db.stores.inventory.apply({ journal: 'one', operations, upTo: position });
  };
  const packages = (agent: string, rows: readonly InventoryRow[]) =>
    told(agent, ...rows.map((row) => delta('packages', 'INSERTED', row)));
  const get = (type: string, query = '', agent = '001') =>
    lists.get(`/syscollector/${agent}/${type}${query}`, `/syscollector/{agent_id}/${type}`);
  const many = (type: string, query = '') => lists.get(`/experimental/syscollector/${type}${query}`);
  const names = ({ data }: ApiList) => data.affected_items.map(({ name }) => name);
  const failures = ({ data }: ApiList) => data.failed_items.map(({ error, id }) => [error.code, ...id]);
  const problem = async (path: string, template: string) => {
    const answer = await api.call('GET', path);
    lists.checker.check('GET', template, answer);
    return [answer.status, (answer.json() as { error: number }).error];
  };

  it('show every table with its fields, nested as clients expect', async () => {
    await told('001', ...Object.entries(ROWS).map(([table, row]) => delta(table, 'INSERTED', row)));
    const item = async (type: string) => {
      const answer = await get(type);
      expect(answer, type).to.deep.include(ALL);
      expect(answer.data.total_affected_items, type).to.equal(1);
      const [found = {}] = answer.data.affected_items;
      const { checksum, ...rest } = found;
      if (checksum !== undefined) expect(checksum, type).to.match(/^[0-9a-f]{40}$/);
      return rest;
    };
    const common = { scan: SCAN, agent_id: '001' };
    expect(await item('hardware')).to.deep.equal({
      ...{
        board_serial: ' ',
        cpu: { name: 'Demo CPU', cores: 2, mhz: 2597.5 },
        ram: { total: 4000, free: 1000, usage: 75 },
      },
      ...common,
    });
    expect(await item('os')).to.deep.equal({
      ...{ hostname: 'web', architecture: 'x86_64', sysname: 'Linux', release: '6.1', version: '#1 SMP' },
      os: { name: 'Debian GNU/Linux', version: '12 (bookworm)', codename: 'bookworm', major: '12', platform: 'debian' },
      ...common,
    });
    expect(await item('netiface')).to.deep.equal({
      ...{ name: 'eth0', adapter: ' ', type: 'ethernet', state: 'up', mtu: 1500, mac: '00:00:5e:00:53:01' },
      tx: { packets: 1, bytes: 3, errors: 0, dropped: 0 },
      rx: { packets: 2, bytes: 4, errors: 0, dropped: 0 },
      ...common,
    });
    expect(await item('netproto')).to.deep.equal({
      ...{ iface: 'eth0', type: 'ipv4', gateway: '192.0.2.1', dhcp: 'enabled', scan: { id: 0 }, agent_id: '001' },
    });
    expect(await item('netaddr')).to.deep.equal({
      ...{ iface: 'eth0', proto: 'ipv6', address: '2001:db8::1', netmask: 'ffff::', broadcast: ' ', scan: { id: 0 } },
      agent_id: '001',
    });
    const { groups, ...nginx } = packageRow('nginx');
    expect(await item('packages')).to.deep.equal({ ...nginx, section: groups, ...common });
    expect(await item('hotfixes')).to.deep.equal({
      ...{ hotfix: 'KB4565483', scan_id: 0, scan_time: SCAN_TIME, agent_id: '001' },
    });
    expect(await item('processes')).to.deep.equal({ ...ROWS['processes'], ...common });
    expect(await item('users')).to.deep.equal({
      user: { name: 'root', id: 0, home: '/root', is_hidden: 0, created: 0 },
      ...{ login: { status: 1, tty: 'pts/0' }, host_ip: ' ', process_pid: 5, ...common },
    });
    expect(await item('groups')).to.deep.equal({ group: { name: 'bin', id: 2, users: 'bin' }, ...common });
    expect(await item('services')).to.deep.equal({
      service: { id: 'ssh.service', name: 'ssh.service', state: 'active' },
      process: { pid: 12, executable: '/usr/sbin/sshd' },
      ...{ 'file.path': '/lib/systemd/system/ssh.service', ...common },
    });
    expect(await item('browser_extensions')).to.deep.equal({
      browser: { name: 'firefox', profile_path: '/home/u/.mozilla' },
      ...{
        'user.id': '1000',
        package: { name: 'demo', version: '1', enabled: true },
        'file_hash.sha256': 'ab',
        ...common,
      },
    });
  });

  it('are filtered, searched, sorted, cut and told apart', async () => {
    const versions = ['1.10', '1.2', '2.0', '2.1', '3'];
    const rows = versions.map((version, index) =>
      packageRow(`lib-${'edcba'.charAt(index)}`, { version, vendor: index < 2 ? 'Alpha' : 'Beta', size: index * 100 }),
    );
    await packages('001', [...rows, packageRow('Nginx', { vendor: 'Alpha', size: 50 })]);
    expect(names(await get('packages', '?sort=name'))).to.deep.equal([
      'lib-a',
      'lib-b',
      'lib-c',
      'lib-d',
      'lib-e',
      'Nginx',
    ]);
    expect(names(await get('packages', '?sort=-size&limit=2&offset=1'))).to.deep.equal(['lib-b', 'lib-c']);
    expect(names(await get('packages', '?name=NGINX'))).to.deep.equal(['Nginx']);
    expect(names(await get('packages', '?vendor=alpha&sort=name'))).to.deep.equal(['lib-d', 'lib-e', 'Nginx']);
    expect(names(await get('packages', '?name=nginx&vendor=beta'))).to.deep.equal([]);
    expect(names(await get('packages', '?q=size>150;vendor=beta&sort=size'))).to.deep.equal([
      'lib-c',
      'lib-b',
      'lib-a',
    ]);
    expect(names(await get('packages', '?search=ngin'))).to.deep.equal(['Nginx']);
    expect((await get('packages', '?search=-ngin')).data.total_affected_items).to.equal(5);
    const selected = await get('packages', '?select=name,scan.time&name=nginx');
    expect(selected.data.affected_items).to.deep.equal([{ name: 'Nginx', scan: { time: SCAN_TIME }, agent_id: '001' }]);
    const distinct = await get('packages', '?select=vendor&distinct=true&sort=-vendor');
    expect(distinct.data).to.deep.include({
      affected_items: [{ vendor: 'Beta' }, { vendor: 'Alpha' }],
      total_affected_items: 2,
    });
    expect(names(await get('packages', '?limit=3&offset=4'))).to.have.length(2);
    expect((await get('packages', '?limit=1')).data.total_affected_items).to.equal(6);
    const template = '/syscollector/{agent_id}/packages';
    expect(await problem('/syscollector/001/packages?select=nonsense', template)).to.deep.equal([400, 1724]);
    expect(await problem('/syscollector/001/packages?sort=nonsense', template)).to.deep.equal([400, 1403]);
    expect(await problem('/syscollector/001/packages?q=nonsense=1', template)).to.deep.equal([400, 1408]);
  });

  it('say what agents there are not, and which never connected', async () => {
    expect(await get('packages')).to.deep.include(NONE);
    const unknown = await get('packages', '', '999');
    expect([unknown.error, unknown.message, failures(unknown)]).to.deep.equal([1, NONE.message, [[1701, '999']]]);
    expect(await problem('/syscollector/003/packages', '/syscollector/{agent_id}/packages')).to.deep.equal([400, 2007]);
  });

  it('are shown of several agents, or of all', async () => {
    await packages('002', [packageRow('two'), packageRow('both')]);
    await packages('001', [packageRow('one'), packageRow('both')]);
    const owners = (answer: ApiList) =>
      answer.data.affected_items.map(({ agent_id, name }) => `${String(agent_id)} ${String(name)}`).sort();
    const all = ['001 both', '001 one', '002 both', '002 two'];
    expect(owners(await many('packages'))).to.deep.equal(all);
    expect(owners(await many('packages', '?name=both'))).to.deep.equal(['001 both', '002 both']);
    const some = await many('packages', '?agents_list=002,999');
    expect(some).to.deep.include({ message: 'Some syscollector information was not returned', error: 2 });
    expect([owners(some), failures(some)]).to.deep.equal([all.slice(2), [[1701, '999']]]);
    const pages = await Promise.all(
      [0, 1, 2, 3].map((offset) => many('packages', `?limit=1&offset=${String(offset)}`)),
    );
    expect(pages.flatMap(owners).sort(), 'each row is on one page').to.deep.equal(all);
    expect(pages.map(({ data }) => data.total_affected_items)).to.deep.equal([4, 4, 4, 4]);
    await told('001', delta('hwinfo', 'INSERTED', ROWS['hwinfo']!));
    expect((await many('hardware', '?ram.total=4000&cpu.cores=2')).data.total_affected_items).to.equal(1);
    expect((await many('hardware', '?ram.total=4001')).data.total_affected_items).to.equal(0);
  });

  it('are shown of agents that the caller may see', async () => {
    await packages('001', [packageRow('one')]);
    await packages('002', [packageRow('two')]);
    await addUser(api, { name: 'viewer', password: PASSWORD }, [policy('allow', 'syscollector:read', 'agent:id:002')]);
    await api.stop();
    await api.open(ON);
    const headers = { authorization: `Bearer ${await api.login('viewer', PASSWORD)}` };
    const answer = async (path: string) => api.request('GET', path, { headers });
    expect((await answer('/syscollector/001/packages')).status).to.equal(403);
    expect(names((await answer('/syscollector/002/packages')).json() as ApiList)).to.deep.equal(['two']);
    expect(names((await answer('/experimental/syscollector/packages')).json() as ApiList)).to.deep.equal(['two']);
  });

  it('are gone with their agent', async () => {
    await packages('001', [packageRow('one')]);
    const client = new RequestClient({ contract: dbContract, path: api.home.socket('svc-db') });
    await client.call('agents.remove', { ids: ['001'] });
    client.close();
    expect(db.stores.inventory.holds('001')).to.equal(false);
  });
});
