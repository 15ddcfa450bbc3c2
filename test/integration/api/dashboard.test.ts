import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { RunFiles } from '../../../lib/daemon/run-files.js';
import { readRunRecord } from '../../../lib/daemon/run-record.js';
import { Home } from '../../../lib/home/home.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { DashboardClient } from '../../support/api/dashboard-client.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { eventually } from '../../support/eventually.js';
import { removeTree } from '../../support/remove-tree.js';
import { watchLittle } from '../../support/watch-little.js';

/** Those that a dashboard waits for after a restart. */
const WAITED_FOR = ['wazuh-execd', 'wazuh-modulesd'] as const;

/** Some of those that a restart restarts. */
const RESTARTED = ['svc-analysisd', 'svc-modulesd', 'svc-apid'] as const;

const WAIT_MS = 60_000;
const LINE = 'Dec 10 01:02:02 host sshd[1234]: Failed password for invalid user admin from 192.0.2.7 port 41234 ssh2';
const OCTETS = 'application/octet-stream';
const program = (name: string): string => join(fileURLToPath(productRoot()), 'bin', name);

/** Pairs of the page of a manager's configuration, and the name under which each answers (daemons-and-config.md 1.7). */
const MANAGER_PAIRS: Readonly<Record<string, string>> = {
  'analysis/global': 'global',
  'analysis/alerts': 'alerts',
  'analysis/command': 'command',
  'analysis/active_response': 'active-response',
  'auth/auth': 'auth',
  'com/active-response': 'active-response',
  'com/logging': 'logging',
  'com/cluster': 'cluster',
  'request/remote': 'remote',
  'request/global': 'global',
  'syscheck/syscheck': 'syscheck',
  'syscheck/rootcheck': 'rootcheck',
  'logcollector/localfile': 'localfile',
  'logcollector/socket': 'target',
  'monitor/global': 'monitord',
  'monitor/reports': 'reports',
  'wmodules/wmodules': 'wmodules',
};
/** Those of daemons that nobody needs to have: 1116 and 1117 are accepted of them. */
const OPTIONAL_PAIRS = [
  'mail/global',
  'mail/alerts',
  'csyslog/csyslog',
  'integrator/integration',
  'agentless/agentless',
];
const AGENT_PAIRS: Readonly<Record<string, string>> = {
  'agent/client': 'client',
  'agent/buffer': 'buffer',
  'agent/labels': 'labels',
  'com/active-response': 'active-response',
  'com/logging': 'logging',
  'logcollector/localfile': 'localfile',
  'logcollector/socket': 'target',
  'syscheck/syscheck': 'syscheck',
  'syscheck/rootcheck': 'rootcheck',
  'wmodules/wmodules': 'wmodules',
};
const AGENT_COLUMNS = [
  'id',
  'name',
  'ip',
  'registerIP',
  'os.name,os.version',
  'version',
  'dateAdd',
  'lastKeepAlive',
  'node_name',
  'status',
  'group_config_status',
];

type Item = Record<string, unknown>;

/** dashboard.md, section by section, against the real daemons and a real agent. */
describe('an unmodified dashboard', function () {
  this.timeout(180_000);
  const parent = mkdtempSync(join(tmpdir(), 'svc-dashboard-'));
  const manager = new Home(join(parent, 'm'));
  const agent = new Home(join(parent, 'a'));
  // The built-in rule of OpenSearch makes this name an administrator (rest-api.md 5.5).
  const context = { user_name: 'admin', backend_roles: ['admin'], tenants: { admin: true }, is_reserved: true };
  const dashboard = new DashboardClient(manager, context);

  const control = async (home: Home, ...args: string[]) => {
    const { code, stderr } = await new TestProgram(program('svc-control'), [...args, '--home', home.root]).ended;
    expect(code, stderr).to.equal(0);
  };
  const port = (daemon: DaemonName, listener: string) =>
    readRunRecord(new RunFiles(manager, daemon).record())?.addresses[listener]?.port ?? 0;
  const items = async <T = Item>(target: string): Promise<T[]> =>
    (await dashboard.list('GET', target)).affected_items as T[];
  const first = async (target: string): Promise<Item> => (await items(target))[0]!;
  const data = async (target: string): Promise<Item> => (await dashboard.ok<{ data: Item }>('GET', target)).data;

  before(async () => {
    await initHome(manager, { role: 'server' });
    watchLittle(manager);
    const configuration = manager.path('etc', 'manager.conf');
    writeFileSync(configuration, readFileSync(configuration, 'utf8').replace(/<port>151[45]</g, '<port>0<'));
    appendFileSync(
      configuration,
      '<manager_config><command><name>drop</name><executable>drop.sh</executable></command>' +
        '<active-response><command>drop</command><location>local</location><level>9</level></active-response>' +
        '</manager_config>\n',
    );
    writeFileSync(
      manager.path('api', 'configuration', 'api.yaml'),
      "host: ['127.0.0.1']\nport: 0\naccess:\n  max_request_per_minute: 0\ncompatibility:\n  daemon_names: wazuh\n",
    );
    await control(manager, 'start');
    await initHome(agent, { role: 'agent' });
    watchLittle(agent);
    const own = agent.path('etc', 'manager.conf');
    writeFileSync(own, readFileSync(own, 'utf8').replace('<port>1514<', `<port>${port('svc-remoted', 'agents_tcp')}<`));
    const enrolment = ['-m', '127.0.0.1', '-p', String(port('svc-authd', 'enrollment')), '-A', 'web01'];
    const enrolled = await new TestProgram(program('agent-auth'), [...enrolment, '--home', agent.root]).ended;
    expect([enrolled.code, enrolled.stderr]).to.deep.equal([0, '']);
    await control(agent, 'start');
    await eventually(
      'the agent is active',
      async () => (await first('/agents?agents_list=001'))['status'] === 'active',
      WAIT_MS,
    );
  });
  after(async () => {
    await new TestProgram(program('svc-control'), ['stop', '--home', agent.root]).ended;
    await new TestProgram(program('svc-control'), ['stop', '--home', manager.root]).ended;
    removeTree(parent);
  });

  it('logs in and starts (2)', async () => {
    const login = await dashboard.loginWithoutContext();
    expect(login.status).to.equal(200);
    expect(login.json()).to.have.nested.property('data.token').that.is.a('string');
    await dashboard.login();
    expect(dashboard.claims['exp']).to.be.greaterThan(Date.now() / 1000);
    expect(dashboard.claims).to.deep.include({ sub: 'wazuh-wui', run_as: true, rbac_roles: [1] });

    expect((await first('/agents?agents_list=000'))['manager'])
      .to.be.a('string')
      .and.not.equal('');
    expect((await first('/security/users/me'))['allow_run_as']).to.equal(true);
    expect(await data('/cluster/status')).to.deep.equal({ enabled: 'no', running: 'no' });
    expect((await first('/manager/info'))['uuid']).to.match(/^[0-9a-f-]{32,36}$/);
    expect((await data('/'))['api_version']).to.match(/^4\.14\./);
    const policies = await data('/security/users/me/policies');
    expect(policies['rbac_mode']).to.equal('white');
    expect(policies['agent:read']).to.deep.equal({ 'agent:id:*': 'allow', 'agent:group:*': 'allow' });
    const check = await data('/manager/version/check?force_query=true');
    expect(check).to.include({ update_check: false, current_version: 'v4.14.7' });
    expect(check).to.include.all.keys('last_available_major', 'last_available_minor', 'last_available_patch');
  });

  it('may speak as it does (1)', async () => {
    const read = await dashboard.call('GET', '/agents?limit=1', { body: { idHost: 'default', limit: 1 } });
    expect(read.status, 'a body of a GET').to.equal(200);
    expect((await items('/agents?q=&search=web01')).length, 'an empty q').to.equal(1);
    expect((await items('/rules?search=user name&limit=3&sort=%2Blevel')).length).to.be.greaterThan(0);
    const raw = await dashboard.call('GET', '/groups/default/files/agent.conf?raw=true&raw=true');
    expect([raw.status, raw.headers['content-type']]).to.deep.equal([200, 'application/xml; charset=utf-8']);
    const techniques = await items('/mitre/techniques?limit=500&select=id');
    const ids = techniques.map(({ id }) => String(id)).slice(0, 150);
    const long = `/mitre/techniques?technique_ids=${ids.join(',')}`;
    expect(long.length).to.be.greaterThan(7500);
    expect(await items(`${long}&limit=500`)).to.have.length(ids.length);

    await dashboard.list('POST', '/security/roles', { body: { name: 'short-lived' } });
    const [role] = await items('/security/roles?search=short-lived');
    const gone = await dashboard.list('DELETE', `/security/roles/?role_ids=${String(role?.['id'])}`);
    expect(gone.affected_items, 'over a redirect').to.have.length(1);
    expect(await dashboard.refusal('GET', '/agents?nonsense=1')).to.deep.equal([400, undefined]);
  });

  it('shows agents (3: home, endpoints, status, scheduled jobs)', async () => {
    const { connection } = await data('/agents/summary/status');
    expect(connection).to.include({ active: 1, disconnected: 0, pending: 0, never_connected: 0, total: 1 });
    expect(await dashboard.ok('GET', '/agents/summary')).to.have.property('data');
    for (const column of AGENT_COLUMNS) {
      const query = `q=id!=000;(name~web,ip~web,os.name~web)&offset=0&limit=10&sort=-${column}`;
      const [found] = await items(`/agents?${query}`);
      expect(found, column).to.deep.include({ id: '001', name: 'web01', group: ['default'], status: 'active' });
      expect(found, column).to.include.all.keys('ip', 'os', 'version', 'node_name', 'dateAdd', 'lastKeepAlive');
      expect(found?.['version']).to.match(/v4\./);
    }
    expect(await items('/agents?select=os.name,os.version&distinct=true&q=id!=000')).to.have.length(1);
    expect((await items('/agents?offset=0&limit=500&q=id!=000&sort=+id'))[0]).to.include({ id: '001' });

    const overview = await data('/overview/agents');
    expect(overview).to.have.nested.property('agent_status.connection.active', 1);
    expect(overview).to.have.nested.property('last_registered_agent[0].id', '001');
    expect(overview['nodes']).to.deep.equal([{ node_name: 'node01', count: 1 }]);
    expect(await first('/manager/info')).to.include({ version: 'v4.14.7', path: manager.root, type: 'server' });
    const states = await first('/manager/status');
    expect(Object.keys(states).filter((name) => !name.startsWith('wazuh-'))).to.deep.equal([]);
    expect(states).to.include({ 'wazuh-analysisd': 'running', 'wazuh-remoted': 'running', 'wazuh-execd': 'running' });
    for (const daemon of ['analysisd', 'remoted']) {
      await eventually(
        `the state of ${daemon}`,
        async () => (await dashboard.call('GET', `/manager/stats/${daemon}`)).status === 200,
        WAIT_MS,
      );
      expect(Object.keys(await first(`/manager/stats/${daemon}`)).length).to.be.greaterThan(5);
    }
  });

  it('changes groups of agents, and deploys and deletes agents (3: endpoints, deploy)', async () => {
    await dashboard.ok('POST', '/groups', { body: { group_id: 'web' } });
    expect((await dashboard.list('PUT', '/agents/group?agents_list=001&group_id=web')).affected_items).to.deep.equal([
      '001',
    ]);
    const removed = await dashboard.list('DELETE', '/agents/group?agents_list=001&group_id=web');
    expect(removed.affected_items).to.deep.equal(['001']);
    await dashboard.list('PUT', '/agents/001/group/web');
    await dashboard.list('DELETE', '/agents/001/group?groups_list=web');

    const config = await first('/manager/api/config');
    expect(config).to.have.nested.property('node_api_config.host');
    expect(config['node_name']).to.be.a('string');
    const [{ remote }] = (await items<{ remote: { connection: string; protocol: string[] }[] }>(
      '/manager/configuration/request/remote',
    )) as [{ remote: { connection: string; protocol: string[] }[] }];
    expect(remote[0]).to.deep.include({ connection: 'secure', protocol: ['TCP'] });
    expect(await first('/manager/configuration/auth/auth')).to.have.nested.property('auth.use_password', 'no');

    const { data: made } = await dashboard.ok<{ data: { id: string } }>('POST', '/agents', { body: { name: 'old01' } });
    const deleted = await dashboard.list(
      'DELETE',
      `/agents?agents_list=${made.id}&status=all&older_than=0s&purge=true`,
    );
    expect(deleted.affected_items).to.deep.equal([made.id]);
  });

  it('shows and changes groups (3: groups)', async () => {
    const groups = await items('/groups?limit=10');
    expect(groups.find(({ name }) => name === 'default')).to.include.all.keys('count', 'configSum');
    expect((await items('/groups/default/agents?limit=10'))[0]).to.include({ id: '001' });
    expect(await first('/groups/web/files')).to.include.all.keys('filename', 'hash');
    const text = '<agent_config>\n  <labels>\n    <label key="site">north</label>\n  </labels>\n</agent_config>\n';
    await dashboard.ok('PUT', '/groups/web/configuration', { body: text, type: 'application/xml' });
    const raw = await dashboard.call('GET', '/groups/web/files/agent.conf?raw=true');
    expect(raw.text).to.include('<label key="site">north</label>');
    const configuration = await dashboard.ok<{ data: { affected_items: Item[] } }>('GET', '/groups/web/configuration');
    expect(configuration.data.affected_items[0]).to.include.all.keys('filters', 'config');
    await dashboard.list('DELETE', '/groups?groups_list=web');
  });

  it('shows and changes rules, decoders and lists (3)', async () => {
    expect(await first('/rules?limit=15&sort=+id')).to.include.all.keys('id', 'level', 'filename', 'groups', 'details');
    expect(await first('/decoders?limit=15&sort=+filename,position')).to.include.all.keys('name', 'details');
    expect((await items('/rules/groups')).length).to.be.greaterThan(10);
    for (const requirement of ['pci_dss', 'gdpr', 'hipaa', 'nist-800-53', 'gpg13', 'tsc', 'mitre']) {
      expect((await items(`/rules/requirement/${requirement}?limit=500`)).length, requirement).to.be.greaterThan(0);
    }
    const uploads = [
      [
        'rules',
        'own_rules.xml',
        '<group name="own,"><rule id="100900" level="3"><match>own</match><description>Own.</description></rule></group>',
      ],
      ['decoders', 'own_decoders.xml', '<decoder name="own"><program_name>^own$</program_name></decoder>'],
      ['lists', 'own-list', 'ann:1\nbob:2\n'],
    ] as const;
    for (const [kind, name, body] of uploads) {
      const path = `/${kind}/files/${name}`;
      await dashboard.list('PUT', `${path}?overwrite=true`, { body, type: OCTETS });
      const again = await dashboard.ok<{ data: { failed_items: { error: { code: number } }[] } }>(
        'PUT',
        `${path}?overwrite=false`,
        { body, type: OCTETS },
      );
      expect(again.data.failed_items[0]?.error.code, kind).to.equal(1905);
      expect((await dashboard.call('GET', `${path}?raw=true`)).text, kind).to.equal(body);
      expect(await items(`/${kind}/files?limit=10&search=own`), kind).to.have.length(1);
    }
    const [list] = await items('/lists?filename=own-list');
    expect(list).to.deep.include({
      items: [
        { key: 'ann', value: '1' },
        { key: 'bob', value: '2' },
      ],
    });
    expect(await first('/manager/configuration/validation')).to.include({ status: 'OK' });
    expect((await dashboard.list('PUT', '/manager/analysisd/reload')).affected_items[0]).to.include({
      name: 'manager',
    });
    for (const [kind, name] of uploads) await dashboard.list('DELETE', `/${kind}/files/${name}`);
  });

  it('shows the integrity of files (3)', async () => {
    const { syscheck } = (await data('/agents/001/config/syscheck/syscheck')) as { syscheck: Item };
    expect(syscheck['disabled']).to.equal('no');
    const files = await dashboard.ok<{ data: { affected_items: Item[] } }>(
      'GET',
      '/syscheck/001?offset=0&limit=15&sort=+file&type=file&q=(size>1)',
    );
    expect(files.data.affected_items).to.be.an('array');
    await dashboard.list('GET', '/syscheck/001?select=uname&distinct=true&limit=30&type=file');
    expect(await first('/syscheck/001/last_scan')).to.have.all.keys('start', 'end');
  });

  it('shows how an agent does by its policies (3)', async () => {
    // This one has told nothing of them.
    expect(await dashboard.list('GET', '/sca/001?sort=-end_scan')).to.deep.include({ affected_items: [] });
    const any = 'q=(title~sshd,rules.rule~sshd,compliance.value~sshd)';
    const checks = `/sca/001/checks/cis_debian12?offset=0&limit=15&sort=+id&${any}`;
    expect(await dashboard.list('GET', checks)).to.deep.include({ affected_items: [] });
  });

  it('shows ATT&CK (3)', async () => {
    for (const kind of ['tactics', 'techniques', 'groups', 'mitigations', 'software']) {
      const [item] = await items(`/mitre/${kind}?limit=1&offset=0`);
      expect(item, kind).to.include.all.keys('id', 'external_id', 'name');
      expect(item?.['source'], kind).to.equal('mitre-attack');
    }
    const [tactic] = await items('/mitre/tactics?limit=1');
    expect(tactic?.['techniques']).to.be.an('array').that.is.not.empty;
    expect((await items('/mitre/metadata')).length).to.be.greaterThan(0);
  });

  it('shows the configuration of the manager (3)', async () => {
    for (const [pair, name] of Object.entries(MANAGER_PAIRS)) {
      const item = await first(`/manager/configuration/${pair}`);
      expect(Object.keys(item), pair).to.deep.equal([name]);
    }
    const commands = (await first('/manager/configuration/analysis/command'))['command'] as Item[];
    expect(commands.at(-1)).to.deep.equal({ name: 'drop', executable: 'drop.sh', timeout_allowed: 0 });
    const responses = (await first('/manager/configuration/analysis/active_response'))['active-response'] as Item[];
    expect(responses.at(-1)).to.deep.include({ command: 'drop', level: 9, location: 'REMOTE_AGENT' });
    for (const pair of OPTIONAL_PAIRS) {
      const { data: optional } = await dashboard.ok<{ data: { failed_items: { error: { code: number } }[] } }>(
        'GET',
        `/manager/configuration/${pair}`,
      );
      expect(optional.failed_items[0]?.error.code, pair).to.equal(1117);
    }
    const raw = await dashboard.call('GET', '/manager/configuration?raw=true');
    expect(raw.headers['content-type']).to.equal('application/xml; charset=utf-8');
    await dashboard.list('PUT', '/manager/configuration', { body: raw.text, type: OCTETS });
    expect(await first('/manager/configuration?section=global')).to.have.property('global');
  });

  it('shows the configuration and the counters of an agent (3)', async () => {
    for (const [pair, name] of Object.entries(AGENT_PAIRS)) {
      expect(Object.keys(await data(`/agents/001/config/${pair}`)), pair).to.deep.equal([name]);
    }
    const collector = await first('/agents/001/stats/logcollector');
    expect(collector).to.have.property('global');
    expect(collector).to.have.nested.property('interval.files').that.is.an('array');
    expect(await first('/agents/001/stats/agent')).to.have.property('buffer_enabled', true);
    const [analysed, heard] = await items('/agents/001/daemons/stats?daemons_list=wazuh-analysisd,wazuh-remoted');
    expect(analysed).to.have.property('name', 'wazuh-analysisd');
    expect(analysed).to.have.nested.property('agents[0].metrics.events.processed').above(0);
    expect(heard).to.have.nested.property('agents[0].id', 1);
    const control = 'agents[0].metrics.messages.received_breakdown.control_breakdown';
    expect(heard).to.have.nested.property(`${control}.startup`).above(0);
  });

  it('shows the log (3)', async () => {
    const lines = await items('/manager/logs?offset=0&limit=100&sort=-timestamp');
    expect(lines[0]).to.include.all.keys('timestamp', 'tag', 'level', 'description');
    expect(lines.some(({ tag }) => tag === 'wazuh-remoted')).to.equal(true);
    expect(
      (await items('/manager/logs?limit=5&tag=wazuh-remoted')).every(({ tag }) => tag === 'wazuh-remoted'),
    ).to.equal(true);
    for (const item of await items('/manager/logs/summary')) expect(Object.keys(item)).to.have.length(1);
  });

  it('is told that there is no cluster (3)', async () => {
    for (const call of [
      '/cluster/nodes?select=name',
      '/cluster/local/info',
      '/cluster/local/config',
      '/cluster/healthcheck',
    ]) {
      expect(await dashboard.refusal('GET', call), call).to.deep.equal([400, 3013]);
    }
  });

  it('administers people (3: security)', async () => {
    const actions = Object.values(await data('/security/actions')) as { resources: string[] }[];
    const resources = await data('/security/resources');
    for (const { resources: named } of actions) {
      for (const resource of named) expect(Object.keys(resources)).to.include(resource);
    }
    const policy = { actions: ['agent:read'], resources: ['agent:id:*'], effect: 'allow' };
    const idOf = (list: { affected_items: Item[] }) => Number(list.affected_items[0]?.['id']);
    const policyId = idOf(await dashboard.list('POST', '/security/policies', { body: { name: 'see', policy } }));
    const roleId = idOf(await dashboard.list('POST', '/security/roles', { body: { name: 'seers' } }));
    const rule = { FIND: { user_name: 'maria' } };
    const ruleId = idOf(await dashboard.list('POST', '/security/rules', { body: { name: 'maria', rule } }));
    const user = { username: 'maria', password: 'Correct-42-horse' };
    const userId = idOf(await dashboard.list('POST', '/security/users', { body: user }));
    expect([policyId, roleId, ruleId, userId].every((id) => id >= 100)).to.equal(true);
    await dashboard.list('POST', `/security/roles/${roleId}/policies?policy_ids=${policyId}`);
    await dashboard.list('POST', `/security/roles/${roleId}/rules?rule_ids=${ruleId}`);
    await dashboard.list('POST', `/security/users/${userId}/roles?role_ids=${roleId}`);
    await dashboard.list('PUT', `/security/users/${userId}/run_as?allow_run_as=true`);
    // Tokens with a context have ended with the rule that was linked: it has logged in again.
    const maria = new DashboardClient(manager, { user_name: 'maria' });
    await maria.login();
    expect(maria.claims['rbac_roles']).to.deep.equal([roleId]);
    expect((await maria.list('GET', '/agents')).total_affected_items).to.equal(2);
    expect(await maria.refusal('GET', '/manager/info')).to.deep.equal([403, 4000]);
    await dashboard.list('DELETE', `/security/users?user_ids=${userId}`);
    await dashboard.list('DELETE', `/security/rules?rule_ids=${ruleId}`);
    await dashboard.list('DELETE', `/security/roles/?role_ids=${roleId}`);
    await dashboard.list('DELETE', `/security/policies/?policy_ids=${policyId}`);
  });

  it('tries lines (3: logtest)', async () => {
    const body = { log_format: 'syslog', location: 'logtest', event: LINE };
    const { data: tried } = await dashboard.ok<{ data: Item }>('PUT', '/logtest', { body });
    expect(tried).to.deep.include({ alert: true });
    expect(tried).to.have.nested.property('output.rule.id', '5710');
    const token = String(tried['token']);
    const again = await dashboard.ok<{ data: Item }>('PUT', '/logtest', { body: { ...body, token } });
    expect(again.data['token']).to.equal(token);
    await dashboard.ok('DELETE', `/logtest/sessions/${token}`);
  });

  it('asks for tasks at every load (3: endpoints)', async () => {
    const call = '/tasks/status?status=In progress&command=upgrade';
    expect((await dashboard.list('GET', call)).affected_items).to.deep.equal([]);
  });

  it('reads policies and inventories of a host that has told of none', async () => {
    for (const path of ['/sca/000?sort=-end_scan', '/syscollector/000/packages', '/syscollector/000/os']) {
      const answer = await dashboard.call('GET', path);
      expect(answer.status, path).to.equal(200);
      expect(answer.json(), path).to.have.nested.property('data.total_affected_items').that.is.a('number');
    }
  });

  it('restarts the manager and finds it again (3: after a restart from the UI)', async () => {
    const pids = () => RESTARTED.map((name) => readRunRecord(new RunFiles(manager, name).record())?.pid);
    const before = pids();
    const accepted = await dashboard.call('PUT', '/manager/restart');
    expect(accepted.status).to.equal(202);
    let states: Item = {};
    // It asks up to 30 times.
    for (let attempt = 0; attempt < 30; attempt += 1) {
      await delay(2000);
      states = await first('/manager/status').catch(() => ({}));
      const after = pids();
      const isNew = after.every((pid, index) => pid !== undefined && pid !== before[index]);
      if (isNew && WAITED_FOR.every((name) => states[name] === 'running')) break;
    }
    for (const [index, pid] of pids().entries()) {
      expect(pid, RESTARTED[index]).not.to.be.oneOf([undefined, before[index]]);
    }
    expect(states).to.include({
      'wazuh-modulesd': 'running',
      'wazuh-analysisd': 'running',
      'wazuh-execd': 'running',
    });
    expect((await first('/agents?agents_list=001'))['name']).to.equal('web01');
  });
});
