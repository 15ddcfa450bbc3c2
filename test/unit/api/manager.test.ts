import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { commonHandlers } from '../../../lib/bus/contracts/common.js';
import { logcollectorContract } from '../../../lib/bus/contracts/logcollector.js';
import { monitordContract } from '../../../lib/bus/contracts/monitord.js';
import { RequestServer } from '../../../lib/bus/request-server.js';
import { addUser } from '../../support/api/rbac-user.js';
import { ResponseChecker } from '../../support/api/response-checker.js';
import { TestApi } from '../../support/api/test-api.js';
import { DbServer } from '../../support/db/db-server.js';

const CONFIGURATION = `<manager_config>
  <global><logall>no</logall><white_list>127.0.0.1</white_list></global>
  <integration><name>virustotal</name><api_key>top-secret</api_key><group>syscheck</group></integration>
  <ruleset><rule_dir>etc/rules</rule_dir><rule_dir>etc/rules</rule_dir></ruleset>
</manager_config>
`;

type List = { data: { affected_items: unknown[]; failed_items: unknown[] }; message: string; error: number };

describe('the manager over the API', () => {
  const checker = new ResponseChecker();
  let api: TestApi;
  beforeEach(async () => {
    api = await new TestApi().start();
    writeFileSync(api.home.path('etc', 'manager.conf'), CONFIGURATION);
  });
  afterEach(() => api.remove());

  const list = async (path: string, headers: Record<string, string> = {}): Promise<List> => {
    const answer = await api.call('GET', path, undefined, headers);
    expect(answer.status, answer.text).to.equal(200);
    checker.check('GET', path.split('?')[0]!, answer);
    return answer.json() as List;
  };
  const stopped = Object.fromEntries(
    [
      'analysisd',
      'authd',
      'monitord',
      'execd',
      'logcollector',
      'remoted',
      'syscheckd',
      'clusterd',
      'modulesd',
      'db',
      'apid',
    ].map((name) => [`svc-${name}`, 'stopped']),
  );

  it('shows exactly eleven daemons, from var/run when svc-monitord does not answer', async () => {
    const answer = await list('/manager/status');
    expect(answer.data.affected_items).to.deep.equal([stopped]);
    expect(answer.message).to.equal('Processes status was successfully read');
  });

  it('shows what svc-monitord says about the daemons, in two words', async () => {
    let states = { 'svc-db': 'running', 'svc-authd': 'failed', 'svc-agentd': 'running' };
    let asked = 0;
    const refuse = () => Promise.reject(new Error('not asked'));
    const server = new RequestServer({
      contract: monitordContract,
      handlers: {
        ping: refuse,
        stats: refuse,
        config: refuse,
        reload: refuse,
        status: () => {
          asked += 1;
          return states;
        },
        info: refuse,
        configuration: refuse,
        raw_configuration: refuse,
        logs: refuse,
        logs_summary: refuse,
        'statistics.read': refuse,
      },
      path: api.home.socket('svc-monitord'),
      logger: api.logger,
    });
    await server.start();
    try {
      api.elapsed += 1000;
      const together = await Promise.all(Array.from({ length: 5 }, () => list('/manager/status')));
      for (const { data } of together) {
        expect(data.affected_items).to.deep.equal([{ ...stopped, 'svc-db': 'running' }]);
      }
      expect(asked, 'asked for all of them').to.equal(1);
      states = { ...states, 'svc-authd': 'running' };
      api.elapsed += 249;
      await list('/manager/status');
      expect(asked).to.equal(1);
      api.elapsed += 1;
      expect((await list('/manager/status')).data.affected_items).to.deep.equal([
        { ...stopped, 'svc-db': 'running', 'svc-authd': 'running' },
      ]);
    } finally {
      await server.stop();
    }
  });

  it('shows information', async () => {
    const { data, message } = await list('/manager/info');
    expect(message).to.equal('Basic information was successfully read');
    expect(data.affected_items[0]).to.include({ path: api.home.root, version: 'v4.14.7', type: 'server' });
  });

  it('shows the configuration, a section, a field and the file', async () => {
    const all = (await list('/manager/configuration')).data.affected_items[0] as Record<string, unknown>;
    expect(all['global']).to.deep.equal({ logall: 'no', white_list: ['127.0.0.1'] });
    expect((await list('/manager/configuration?section=GLOBAL')).data.affected_items).to.deep.equal([
      { global: { logall: 'no', white_list: ['127.0.0.1'] } },
    ]);
    expect((await list('/manager/configuration?section=global&field=logall')).data.affected_items).to.deep.equal([
      { global: { logall: 'no' } },
    ]);
    expect((await list('/manager/configuration?section=ruleset&distinct=true')).data.affected_items).to.deep.equal([
      { ruleset: { rule_dir: ['etc/rules'] } },
    ]);
    const raw = await api.call('GET', '/manager/configuration?raw=true');
    expect(raw.headers['content-type']).to.equal('application/xml; charset=utf-8');
    expect(raw.text).to.equal(CONFIGURATION);
  });

  it('shows what a daemon has in force and counts, also for agent 000', async () => {
    const span = { start: '2026-05-08 10:00:00', end: '2026-05-08 12:00:00', files: [] };
    const internal = { logcollector: { queue_size: 1024 } };
    const server = new RequestServer<typeof logcollectorContract>({
      contract: logcollectorContract,
      handlers: {
        ...commonHandlers('svc-logcollector', {
          stats: () => ({}),
          sections: new Map([['internal', () => internal]]),
          reload: () => Promise.resolve([]),
        }),
        getstate: () => ({ global: span, interval: span }),
      },
      path: api.home.socket('svc-logcollector'),
      logger: api.logger,
    });
    const active = async (pair: string): Promise<List> => {
      const answer = await api.call('GET', `/manager/configuration/${pair}`);
      checker.check('GET', '/manager/configuration/{component}/{configuration}', answer);
      return answer.json() as List;
    };
    const agent = async (rest: string) => {
      const answer = await api.call('GET', `/agents/000/${rest}`);
      const [kind] = rest.split('/');
      const template = kind === 'stats' ? 'stats/{component}' : 'config/{component}/{configuration}';
      checker.check('GET', `/agents/{agent_id}/${template}`, answer);
      return answer.json() as List;
    };
    const failed = ({ data }: List) => (data.failed_items as { error: { code: number }; id: string[] }[])[0];
    const db = await DbServer.start(api.home, () => api.now);
    await server.start();
    try {
      const shown = await active('logcollector/internal');
      expect(shown).to.deep.include({ message: 'Active configuration was successfully read', error: 0 });
      expect(shown.data.affected_items).to.deep.equal([internal]);
      expect(await agent('config/logcollector/internal')).to.deep.equal({ data: internal, error: 0 });
      const unknown = await active('logcollector/socket');
      expect(unknown.message).to.equal('Could not read active configuration');
      expect(failed(unknown)).to.deep.nested.include({ 'error.code': 1116, id: ['manager'] });
      expect((await agent('config/logcollector/socket')).error).to.equal(1116);
      // Two daemons that do not run, the second of them not part of this product.
      for (const pair of ['auth/auth', 'mail/alerts']) {
        expect(failed(await active(pair)), pair).to.deep.nested.include({ 'error.code': 1117 });
        expect((await agent(`config/${pair}`)).error, pair).to.equal(1117);
      }
      // A part whose daemon this product does not have: nothing of it is in force.
      expect((await active('wmodules/wmodules')).data.affected_items).to.deep.equal([{ wmodules: [] }]);
      expect(failed(await active('com/active-response'))).to.deep.nested.include({ 'error.code': 1117 });
      expect(await agent('config/wmodules/wmodules')).to.deep.equal({ data: { wmodules: [] }, error: 0 });
      // Of the manager as a whole, so that it is svc-monitord that is missed here.
      expect(failed(await active('com/logging'))).to.deep.nested.include({ 'error.code': 1117 });
      expect(failed(await active('com/internal'))).to.deep.nested.include({ 'error.code': 1117 });
      expect((await active('auth/alerts')).error).to.equal(1128);
      expect((await agent('config/auth/alerts')).error).to.equal(1128);

      const counted = { ...span, start: '2026-05-08T10:00:00Z', end: '2026-05-08T12:00:00Z' };
      expect((await agent('stats/logcollector')).data.affected_items).to.deep.equal([
        { global: counted, interval: counted },
      ]);
    } finally {
      await server.stop();
      rmSync(api.home.socket('svc-logcollector'), { force: true });
    }
    try {
      expect(failed(await agent('stats/logcollector'))).to.deep.nested.include({ 'error.code': 1117, id: ['000'] });
      expect(failed(await agent('stats/agent'))).to.deep.nested.include({ 'error.code': 1310 });
    } finally {
      await db.stop();
    }
  });

  it('says what of the configuration cannot be shown', async () => {
    const failure = async (query: string) => {
      const { data, message, error } = await list(`/manager/configuration?${query}`);
      expect([message, error, data.affected_items]).to.deep.equal(['Could not read configuration', 1, []]);
      return data.failed_items[0] as { id: string[]; error: { code: number; message: string } };
    };
    expect(await failure('section=wdb'.replace('wdb', 'logging'))).to.have.nested.property('error.code', 1102);
    const absent = await failure('section=alerts');
    expect(absent.id).to.deep.equal(['manager']);
    expect(absent.error).to.include({ code: 1106, message: 'Requested section not present in configuration: alerts' });
    expect(await failure('section=global&field=none')).to.have.nested.property('error.code', 1103);
    const unknown = await api.call('GET', '/manager/configuration?section=foo');
    expect(unknown.status).to.equal(400);
    writeFileSync(api.home.path('etc', 'manager.conf'), '<manager_config><global></manager_config>');
    expect((await failure('section=global')).error.message).to.match(/^Requested component does not exist: .+/);
  });

  it('masks secrets for those who may not change the configuration', async () => {
    const password = 'Secret-43-password';
    await addUser(api, { name: 'viewer', password, roles: [2] });
    const authorization = `Bearer ${await api.login('viewer', password)}`;
    const masked = await list('/manager/configuration?section=integration', { authorization });
    expect(JSON.stringify(masked)).to.include('*****').and.not.include('top-secret');
    const raw = await api.call('GET', '/manager/configuration?raw=true', undefined, { authorization });
    expect(raw.text).to.include('*****').and.not.include('top-secret');
    const admin = await list('/manager/configuration?section=integration');
    expect(JSON.stringify(admin)).to.include('top-secret');
  });

  it('names the node in a cluster', async () => {
    const cluster = `<cluster><node_name>n7</node_name><key>${'k'.repeat(32)}</key><nodes><node>192.0.2.1</node></nodes></cluster>`;
    writeFileSync(api.home.path('etc', 'manager.conf'), CONFIGURATION.replace('</manager', `${cluster}</manager`));
    expect((await list('/manager/info')).message).to.equal('Basic information was successfully read in specified node');
    const failed = (await list('/manager/configuration?section=alerts')).data.failed_items[0];
    expect(failed).to.deep.include({ id: ['n7'] });
  });

  it('shows its log', async () => {
    const nothing = await api.call('GET', '/manager/logs');
    expect(nothing.status).to.equal(500);
    expect(nothing.json()).to.deep.include({ error: 1020, title: 'Security Manager Internal Error' });
    expect(nothing.json()).to.have.nested.property('dapi_errors.node01.logfile', 'WAZUH_HOME/logs/api.log');
    mkdirSync(api.home.path('logs'), { recursive: true });
    writeFileSync(
      api.home.path('logs', 'manager.log'),
      '2026/05/08 12:00:00 svc-execd: INFO: one\n2026/05/08 12:00:01 svc-db: ERROR: two\n2026/05/08 12:00:02 svc-db: INFO: three\n',
    );
    const texts = async (query: string) =>
      (await list(`/manager/logs?${query}`)).data.affected_items.map(
        (item) => (item as { description: string }).description,
      );
    expect(await texts('')).to.deep.equal([' three', ' two', ' one']);
    expect(await texts('level=error')).to.deep.equal([' two']);
    expect(await texts('tag=svc-db&sort=timestamp')).to.deep.equal([' two', ' three']);
    expect(await texts('search=ONE')).to.deep.equal([' one']);
    expect(await texts('limit=1&offset=1')).to.deep.equal([' two']);
    expect((await list('/manager/logs?select=tag&distinct=true')).data.affected_items).to.deep.equal([
      { tag: 'svc-db' },
      { tag: 'svc-execd' },
    ]);
    expect((await api.call('GET', '/manager/logs?limit=501')).status).to.equal(400);
    expect((await list('/manager/logs/summary')).data.affected_items).to.deep.equal([
      { 'svc-db': { all: 2, info: 1, error: 1, critical: 0, warning: 0, debug: 0 } },
      { 'svc-execd': { all: 1, info: 1, error: 0, critical: 0, warning: 0, debug: 0 } },
    ]);
  });

  it('shows the settings of the API', async () => {
    expect((await list('/manager/api/config')).data.affected_items).to.deep.equal([
      { node_name: 'manager', node_api_config: {} },
    ]);
  });
});
