import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { expect } from 'chai';
import { RemotedCounters } from '../../../daemons/remoted/remoted-counters.js';
import {
  remotedStateText,
  remotedStatistics,
  type StatisticsSources,
} from '../../../daemons/remoted/remoted-statistics.js';
import { SyslogCounters } from '../../../daemons/remoted/syslog/syslog-counters.js';
import type { analysisdContract } from '../../../lib/bus/contracts/analysisd.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import { RequestServer } from '../../../lib/bus/request-server.js';
import { controlSocket } from '../../../lib/control/control-protocol.js';
import { serveAnalysisd } from '../../support/analysisd/analysisd-server.js';
import { ListCaller } from '../../support/api/api-list.js';
import { addUser } from '../../support/api/rbac-user.js';
import { TestApi } from '../../support/api/test-api.js';
import { serveContract } from '../../support/bus/serve-contract.js';
import { eventually } from '../../support/eventually.js';

const CLUSTER = `<manager_config><cluster><node_name>left</node_name><key>${'k'.repeat(32)}</key><nodes><node>192.0.2.1</node></nodes></cluster></manager_config>`;

describe('control of the manager over the API', () => {
  let api: TestApi;
  let lists: ListCaller;
  let analysisd: RequestServer<typeof analysisdContract> | undefined;
  let supervisor: Server | undefined;
  let asked: unknown[];

  beforeEach(async () => {
    asked = [];
    api = await new TestApi().start();
    lists = new ListCaller(api);
  });
  afterEach(async () => {
    await api.remove();
    await analysisd?.stop();
    analysisd = undefined;
    supervisor?.close();
    supervisor = undefined;
  });

  /** Answers one after the other, the last one again and again: a restart in between would be a race. */
  const serve = async (...answers: { error: 0 | 1; data: string[] }[]) => {
    const next = () => (answers.length > 1 ? answers.shift() : answers[0]) ?? { error: 0 as const, data: [] };
    analysisd = await serveAnalysisd(api, { 'ruleset.reload': next });
  };
  const supervise = (answer: (request: { command: string }) => object) =>
    new Promise<void>((resolve) => {
      supervisor = createServer((socket) => {
        let line = '';
        socket.on('data', (data) => {
          line += data.toString();
          if (!line.endsWith('\n')) return;
          const request = JSON.parse(line) as { command: string };
          asked.push(request);
          socket.end(`${JSON.stringify(answer(request))}\n`);
        });
      });
      supervisor.listen(controlSocket(api.home), resolve);
    });
  const problem = async (method: string, path: string) => {
    const answer = await api.call(method, path);
    lists.checker.check(method, path, answer);
    return { status: answer.status, ...(answer.json() as { detail: string; error: number }) };
  };

  it('reloads the ruleset', async () => {
    await serve({ error: 0, data: [] });
    const answer = await lists.call('PUT', '/manager/analysisd/reload');
    expect(answer.message).to.equal('Reload request sent to ');
    expect(answer.data.affected_items).to.deep.equal([
      { name: 'manager', msg: 'Ruleset reload request sent successfully.' },
    ]);
  });

  it('shows the warnings of a reload, and why one was refused', async () => {
    await serve(
      { error: 0, data: ['first', 'second'] },
      { error: 1, data: ["(1226): Error reading XML file 'etc/rules/x.xml'"] },
    );
    const warned = await lists.call('PUT', '/manager/analysisd/reload');
    expect(warned.data.affected_items).to.deep.equal([{ name: 'manager', msg: 'first, second' }]);
    const refused = await lists.call('PUT', '/manager/analysisd/reload');
    expect([refused.error, refused.message]).to.deep.equal([1, 'Could not send reload request to any node']);
    expect(refused.data.failed_items).to.deep.equal([
      {
        error: {
          code: 1914,
          message: "Failed to reload ruleset: (1226): Error reading XML file 'etc/rules/x.xml'",
          remediation: 'See logs/manager.log for what does not load.',
        },
        id: ['manager'],
      },
    ]);
  });

  it('names svc-analysisd when it is not there to reload', async () => {
    const answer = await problem('PUT', '/manager/analysisd/reload');
    expect(answer).to.include({ status: 500, error: 1017 });
    expect(answer.detail).to.equal('Some Wazuh daemons are not ready yet in node "node01" (svc-analysisd->stopped)');
  });

  it('checks the configuration with the daemons themselves', async function () {
    this.timeout(20_000);
    const good = await lists.get('/manager/configuration/validation');
    expect(good.message).to.equal('Validation was successfully checked');
    expect(good.data.affected_items).to.deep.equal([{ name: 'manager', status: 'OK' }]);
    const failing = (name: string, checkError: string) =>
      writeFileSync(api.home.path('etc', `${name}.test.json`), JSON.stringify({ checkError }));
    failing('svc-analysisd', "(1230): Invalid element in the configuration: 'foo'.");
    failing('svc-apid', "(1230): Invalid element in the configuration: 'foo'.");
    const bad = await lists.get('/manager/configuration/validation');
    expect([bad.error, bad.message]).to.deep.equal([1, 'Could not check validation']);
    expect(bad.data.failed_items[0]?.id).to.deep.equal(['manager']);
    expect(bad.data.failed_items[0]?.error).to.include({
      code: 1908,
      message: "Error validating configuration: (1230): Invalid element in the configuration: 'foo'.",
    });
  });

  it('has the supervisor replace the configuration, and says why it did not', async () => {
    const put = (text: string) => lists.call('PUT', '/manager/configuration', { body: text });
    const missing = await put('<manager_config></manager_config>');
    expect(missing.data.failed_items[0]?.error).to.include({
      code: 1126,
      message: 'Error updating ossec configuration: the supervisor does not run',
    });
    let answer: object = { kind: 'done' };
    await supervise(() => answer);
    const text = `<manager_config>\n<global></global>${'<!-- "long" -->\n'.repeat(3000)}</manager_config>`;
    const good = await put(text);
    expect(good.message).to.equal('Configuration was successfully updated');
    expect(good.data.affected_items).to.deep.equal(['manager']);
    expect(asked).to.deep.equal([{ command: 'configure', text }]);
    answer = { kind: 'error', message: 'id', code: 1124 };
    const refused = await put(text);
    expect([refused.error, refused.message]).to.deep.equal([1, 'Could not update configuration']);
    expect(refused.data.failed_items[0]?.id).to.deep.equal(['manager']);
    expect(refused.data.failed_items[0]?.error).to.include({ code: 1124, message: 'Remote command detected: id' });
  });

  it('asks the supervisor for a restart, after the answer and a check', async function () {
    this.timeout(20_000);
    await supervise(() => ({ kind: 'done' }));
    const answer = await lists.call('PUT', '/manager/restart', { status: 202 });
    expect(answer.message).to.equal('Restart request sent to ');
    expect(answer.data.affected_items).to.deep.equal(['manager']);
    await eventually('the restart is asked for', () => asked.length === 2);
    expect(asked).to.deep.equal([{ command: 'ping' }, { command: 'restart' }]);
  });

  it('restarts nothing with a bad configuration', async function () {
    this.timeout(20_000);
    writeFileSync(api.home.path('etc', 'svc-apid.test.json'), JSON.stringify({ checkError: 'port is taken' }));
    await supervise(() => ({ kind: 'done' }));
    await lists.call('PUT', '/manager/restart', { status: 202 });
    await eventually('the refusal is logged', () =>
      api.logger.lines.some((line) => /Restart refused, the configuration is not valid: .*port is taken/.test(line)),
    );
    expect(asked).to.deep.equal([{ command: 'ping' }]);
  });

  it('says when there is no supervisor, or it refuses', async () => {
    expect(await problem('PUT', '/manager/restart')).to.deep.include({
      status: 500,
      error: 1901,
      detail: "'execq' socket has not been created: the supervisor does not run",
    });
    await supervise(() => ({ kind: 'error', message: 'the supervisor is stopping' }));
    expect(await problem('PUT', '/manager/restart')).to.include({ status: 500, error: 1902 });
  });

  it('needs two actions, those of the node with a cluster', async () => {
    const password = 'Secret-43-password';
    await addUser(api, { name: 'half', password }, [
      { actions: ['manager:read'], resources: ['*:*:*'], effect: 'allow' },
    ]);
    const headers = { authorization: `Bearer ${await api.login('half', password)}` };
    for (const path of ['/manager/analysisd/reload', '/manager/restart']) {
      const denied = await api.request('PUT', path, { headers });
      expect(denied.status).to.equal(403);
      expect(denied.json()).to.include({ detail: 'Permission denied: Resource type: *:*' });
    }
    writeFileSync(api.home.path('etc/manager.conf'), CLUSTER);
    const denied = await api.request('GET', '/manager/configuration/validation', { headers });
    expect(denied.json()).to.include({ detail: 'Permission denied: Resource type: node:id' });
    await serve({ error: 0, data: [] });
    const answer = await lists.call('PUT', '/manager/analysisd/reload');
    expect(answer.message).to.equal('Reload request sent to all specified nodes');
    expect(answer.data.affected_items[0]).to.include({ name: 'left' });
  });
});

describe('statistics over the API', () => {
  let api: TestApi;
  let lists: ListCaller;
  beforeEach(async () => {
    api = await new TestApi().start();
    lists = new ListCaller(api);
  });
  afterEach(() => api.remove());

  const write = (path: string, text: string) => {
    mkdirSync(api.home.path(path, '..'), { recursive: true });
    writeFileSync(api.home.path(path), text);
  };
  const refusal = async (path: string, status: number) => {
    const answer = await api.call('GET', path);
    expect(answer.status).to.equal(status);
    lists.checker.check('GET', path.split('?')[0] ?? '', answer);
    return answer.json() as { detail: string; error: number };
  };

  it('show the totals of each hour of a day', async () => {
    write(
      'stats/totals/2026/Feb/ossec-totals-03.log',
      '8-5710-5-3\n8-1002-2-1\n8--4--120--2--0\n\n9--0--7--0--1\n\nHour totals - 0:0\nTotal events for day:127\n',
    );
    const answer = await lists.get('/manager/stats?date=2026-02-03');
    expect(answer.message).to.equal('Statistical information for each node was successfully read');
    expect(answer.data.affected_items).to.deep.equal([
      {
        hour: 8,
        alerts: [
          { sigid: 5710, level: 5, times: 3 },
          { sigid: 1002, level: 2, times: 1 },
        ],
        totalAlerts: 4,
        events: 120,
        syscheck: 2,
        firewall: 0,
      },
      { hour: 9, alerts: [], totalAlerts: 0, events: 7, syscheck: 0, firewall: 1 },
    ]);
    expect(await refusal('/manager/stats?date=2026-02-04', 400)).to.include({
      error: 1308,
      detail: 'Stats file does not exist: stats/totals/2026/Feb/ossec-totals-04.log',
    });
    const today = new Date(api.now);
    expect((await refusal('/manager/stats', 400)).detail).to.include(String(today.getFullYear()));
    write('stats/totals/2026/Feb/ossec-totals-05.log', '8--x--1--1--1\n');
    expect(await refusal('/manager/stats?date=2026-02-05', 500)).to.include({ error: 1309 });
    expect((await refusal('/manager/stats?date=2026-2-5', 400)).detail).to.match(/is not a 'date'/);
  });

  it('show averages by hour and weekday, 0 for what is not there', async () => {
    write('stats/hourly-average/0', '12');
    write('stats/hourly-average/23', '7');
    write('stats/hourly-average/24', '3');
    write('stats/hourly-average/5', 'rubbish');
    write('stats/weekly-average/6/1', '9');
    const hourly = await lists.get('/manager/stats/hourly');
    expect(hourly.message).to.equal('Statistical information per hour for each node was successfully read');
    const averages = new Array<number>(24).fill(0);
    averages[0] = 12;
    averages[23] = 7;
    expect(hourly.data.affected_items).to.deep.equal([{ averages, interactions: 3 }]);
    const weekly = await lists.get('/manager/stats/weekly');
    expect(weekly.message).to.equal('Statistical information per week for each node was successfully read');
    const days = weekly.data.affected_items;
    expect(days.flatMap((day) => Object.keys(day))).to.deep.equal(['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']);
    expect(days[6]).to.deep.nested.include({ 'Sat.hours[1]': 9, 'Sat.interactions': 0 });
  });

  it('show the state file of svc-analysisd as numbers', async () => {
    expect(await refusal('/manager/stats/analysisd', 400)).to.include({
      error: 1308,
      detail: 'Stats file does not exist: var/run/wazuh-analysisd.state',
    });
    expect((await api.call('GET', '/manager/stats/analysisd')).headers, 'refused').to.include({ deprecated: 'true' });
    write(
      'var/run/wazuh-analysisd.state',
      "# State file\n\n# Events\ntotal_events_decoded='1204'\n\n# Usage\nevent_queue_usage='0.25'\n__proto__='1'\nbad='x'\n",
    );
    const answer = await api.call('GET', '/manager/stats/analysisd');
    lists.checker.check('GET', '/manager/stats/analysisd', answer);
    expect(answer.headers).to.include({ deprecated: 'true' });
    expect(answer.text).to.include('[{"total_events_decoded": 1204, "event_queue_usage": 0.25, "__proto__": 1}]');
  });

  it('show what svc-remoted counts, in both forms', async () => {
    const sources: StatisticsSources = {
      counters: new RemotedCounters(),
      startedAt: 1_749_106_800_000,
      now: () => 1_749_110_401_000,
      tcpSessions: () => 3,
      queued: () => 0,
      queueSize: 100,
      waiting: () => 0,
      mostWaiting: 100,
      syslog: new SyslogCounters(),
    };
    write('var/run/svc-remoted.state', remotedStateText(sources));
    const flat = await lists.get('/manager/stats/remoted');
    expect(flat.data.affected_items[0]).to.include({ tcp_sessions: 3, total_queue_size: 100, evt_count: 0 });
    const methods = Object.keys(remotedContract.methods);
    const refuse = () => Promise.reject(new Error('not asked'));
    const server = new RequestServer({
      contract: remotedContract,
      handlers: {
        ...Object.fromEntries(methods.map((name) => [name, refuse])),
        'statistics.read': () => remotedStatistics(sources),
      } as never,
      path: api.home.socket('svc-remoted'),
      logger: api.logger,
    });
    await server.start();
    try {
      const { data } = await lists.get('/manager/daemons/stats?daemons_list=svc-remoted');
      expect(data.affected_items[0]).to.deep.include({
        name: 'svc-remoted',
        uptime: '2025-06-05T07:00:00+00:00',
        timestamp: '2025-06-05T08:00:01+00:00',
      });
      expect(data.affected_items[0]).to.have.nested.property('metrics.tcp_sessions', 3);
    } finally {
      await server.stop();
    }
  });

  it('ask daemons for theirs, and name those that do not answer', async () => {
    const server = await serveAnalysisd(api, {
      'statistics.read': () => ({
        uptime: 1749106800,
        timestamp: 1749110401,
        name: 'wazuh-analysisd',
        metrics: { bytes: { received: 5 } },
      }),
    });
    try {
      const item = {
        timestamp: '2025-06-05T08:00:01+00:00',
        uptime: '2025-06-05T07:00:00+00:00',
        name: 'svc-analysisd',
        metrics: { bytes: { received: 5 } },
      };
      for (const name of ['svc-analysisd', 'wazuh-analysisd']) {
        const one = await lists.get(`/manager/daemons/stats?daemons_list=${name}`);
        expect(one.message).to.equal('Statistical information for each daemon was successfully read');
        expect(one.data.affected_items).to.deep.equal([item]);
      }
      const all = await lists.get('/manager/daemons/stats');
      expect([all.error, all.message]).to.deep.equal([2, 'Could not read statistical information for some daemons']);
      expect(all.data.failed_items).to.have.length(1);
      expect(all.data.failed_items[0]).to.deep.nested.include({ 'error.code': 1121, id: ['svc-db', 'svc-remoted'] });
      const db = await serveContract(api.home, dbContract, {
        'statistics.read': () => ({ uptime: 0, timestamp: 1, name: 'wazuh-db', metrics: { queries: { received: 2 } } }),
      });
      try {
        const both = await lists.get('/manager/daemons/stats');
        expect(both.data.affected_items.map(({ name }) => name)).to.deep.equal(['svc-analysisd', 'svc-db']);
        expect(both.data.affected_items[1]).to.deep.include({ metrics: { queries: { received: 2 } } });
        expect(both.data.failed_items[0]).to.deep.nested.include({ 'error.code': 1121, id: ['svc-remoted'] });
      } finally {
        await db.stop();
      }
    } finally {
      await server.stop();
    }
    rmSync(api.home.socket('svc-analysisd'), { force: true });
    const none = await lists.get('/manager/daemons/stats?daemons_list=svc-analysisd');
    expect([none.error, none.message]).to.deep.equal([1, 'Could not read statistical information for any daemon']);
    expect(existsSync(api.home.socket('svc-analysisd'))).to.equal(false);
    expect((await refusal('/manager/daemons/stats?daemons_list=svc-authd', 400)).detail).to.match(
      /^'svc-authd' is not/,
    );
  });
});
