import { mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { decodeKeyText } from '../../../lib/agents/key-text.js';
import type { HttpMethod } from '../../../lib/contract/api-contract.js';
import { MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { ListCaller } from '../../support/api/api-list.js';
import { TestApi } from '../../support/api/test-api.js';
import { furnishAuthd } from '../../support/authd/authd-server.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { DbServer } from '../../support/db/db-server.js';
import { eventually } from '../../support/eventually.js';
import { KeepingSink } from '../../support/remoted/remoted-home.js';

type Problem = { error: number; detail: string };

describe('agents over the API, with svc-db, svc-authd and svc-remoted', function () {
  this.timeout(60_000);
  let api: TestApi;
  let db: DbServer;
  let lists: ListCaller;
  let sink: KeepingSink;
  let authd: RunningDaemon | undefined;
  let remoted: RunningDaemon | undefined;
  const agents: MinimalAgent[] = [];

  before(async () => {
    api = new TestApi();
    api.now = Date.now();
    await api.start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
    await furnishAuthd(api.home);
    // svc-remoted takes away groups without a folder.
    mkdirSync(api.home.path('etc/shared/db'));
    writeFileSync(
      api.home.path('etc/manager.conf'),
      '<manager_config><auth><port>0</port></auth><remote><connection>secure</connection><port>0</port>' +
        '<local_ip>127.0.0.1</local_ip><protocol>tcp</protocol></remote></manager_config>\n',
    );
    db = await DbServer.start(api.home, Date.now);
    await db.groups('web', 'db');
    sink = new KeepingSink(api.home);
    await sink.start();
    authd = await RunningDaemon.start('svc-authd', api.home);
    lists = new ListCaller(api);
  });
  after(async () => {
    for (const agent of agents) agent.close();
    await remoted?.stop('SIGKILL');
    await authd?.stop('SIGKILL');
    await sink.stop();
    await api.stop();
    await db.stop();
    await api.remove();
  });

  const problem = async (method: HttpMethod, path: string, body?: unknown, template = path.split('?')[0]!) => {
    const answer = await api.call(method, path, body);
    lists.checker.check(method, template, answer);
    expect(answer.headers['content-type'], answer.text).to.match(/^application\/problem\+json/);
    const { error, detail } = answer.json() as Problem;
    return [answer.status, error, detail];
  };
  const added = async (path: string, body?: unknown) => {
    const answer = await api.call('POST', path, body);
    expect(answer.status, answer.text).to.equal(200);
    lists.checker.check('POST', path.split('?')[0]!, answer);
    expect(Object.keys(answer.json() as object)).to.deep.equal(['data', 'error']);
    return (answer.json() as { data: { id: string; key: string } }).data;
  };
  const known = async () =>
    (await lists.get('/agents?select=name&q=id!=000')).data.affected_items.map(({ id, name }) => `${id} ${name}`);
  const groupsOf = async (id: string) =>
    (await lists.get(`/agents?agents_list=${id}&select=group`)).data.affected_items[0]?.['group'];
  const failures = (list: Awaited<ReturnType<ListCaller['get']>>) =>
    list.data.failed_items.map(({ error, id }) => [error.code, ...id]);

  it('adds agents, which the next request shows, and gives their keys', async () => {
    const web = await added('/agents', { name: 'web01', ip: '10.0.0.1' });
    expect(web.id).to.equal('001');
    expect(decodeKeyText(web.key)).to.include({ id: '001', name: 'web01', ip: '10.0.0.1' });
    expect((await added('/agents', { name: 'web02' })).id).to.equal('002');
    const inserted = await added('/agents/insert', { name: 'db01', id: '010', key: 'k'.repeat(64), ip: 'fe80::1' });
    expect(decodeKeyText(inserted.key)).to.include({ id: '010', name: 'db01', key: 'k'.repeat(64) });
    expect((await added('/agents/insert/quick?agent_name=db02')).id).to.equal('011');
    expect(await known()).to.deep.equal(['001 web01', '002 web02', '010 db01', '011 db02']);
    expect(await groupsOf('001')).to.deep.equal(['default']);

    const key = '/agents/{agent_id}/key';
    const shown = await lists.get('/agents/001/key', key);
    expect(shown).to.deep.include({ message: 'Obtained keys for all selected agents', error: 0 });
    expect(shown.data.affected_items).to.deep.equal([web]);
    expect(failures(await lists.get('/agents/000/key', key))).to.deep.equal([[1703, '000']]);
    const none = await lists.get('/agents/099/key', key);
    expect(none).to.include({ message: 'No agent keys were obtained', error: 1 });
    expect(failures(none)).to.deep.equal([[1701, '099']]);
  });

  it('refuses what is there already or cannot be', async () => {
    const named = 'There is an agent with the same';
    expect(await problem('POST', '/agents', { name: 'web01' })).to.deep.equal([400, 1705, `${named} name: web01`]);
    expect(await problem('POST', '/agents', { name: 'x1', ip: '10.0.0.1' })).to.deep.equal([
      400,
      1706,
      `${named} IP or the IP is invalid: 10.0.0.1`,
    ]);
    expect((await problem('POST', '/agents', { name: 'x1', ip: '10.0.0.999' })).slice(0, 2)).to.deep.equal([400, 1706]);
    expect(await problem('POST', '/agents', { name: 'a'.repeat(129) })).to.deep.equal([
      400,
      1738,
      'Agent name is too long',
    ]);
    expect((await problem('POST', '/agents', { name: '%' })).slice(0, 2)).to.deep.equal([400, 1725]);
    for (const id of ['010', '0010', '000']) {
      const body = { name: 'x2', id, key: 'a'.repeat(64), force: { enabled: false } };
      expect((await problem('POST', '/agents/insert', body)).slice(0, 2), id).to.deep.equal([400, 1708]);
    }
    // Registered only now: it may not be replaced yet.
    const replacing = { name: 'web01', force: { enabled: true } };
    expect((await problem('POST', '/agents', replacing)).slice(0, 2)).to.deep.equal([400, 1705]);
    expect(await known()).to.have.length(4);
  });

  it('says which hosts take a name from each other', async () => {
    const now = { enabled: true, disconnected_time: { enabled: false }, after_registration_time: '0' };
    let last = '';
    for (let round = 0; round < 3; round += 1) last = (await added('/agents', { name: 'twin', force: now })).id;
    const [status, code, detail] = await problem('POST', '/agents', { name: 'twin' });
    expect([status, code]).to.deep.equal([400, 1705]);
    expect(detail).to.match(
      new RegExp(
        `^There is an agent with the same name: twin \\(used by several hosts.*; replaced 2 times .*${last} has it now\\)$`,
      ),
    );
    await lists.call('DELETE', `/agents?agents_list=${last}&status=all&older_than=0s`);
  });

  it('puts agents into groups and takes them out', async () => {
    const path = '/agents/{agent_id}/group/{group_id}';
    const into = (id: string, group: string, query = '') =>
      lists.call('PUT', `/agents/${id}/group/${group}${query}`, { template: path });
    expect(await into('001', 'web')).to.include({ message: 'All selected agents were assigned to web', error: 0 });
    expect(await groupsOf('001')).to.deep.equal(['default', 'web']);
    const again = await into('001', 'web');
    expect(again).to.include({ message: 'No agents were assigned to web', error: 1 });
    expect(failures(again)).to.deep.equal([[1751, '001']]);
    expect(failures(await into('000', 'web'))).to.deep.equal([[1703, '000']]);
    expect(failures(await into('099', 'web'))).to.deep.equal([[1701, '099']]);
    expect(await problem('PUT', '/agents/001/group/none', undefined, path)).to.deep.equal([
      404,
      1710,
      'The group does not exist',
    ]);
    const single = await into('001', 'db', '?force_single_group=true');
    expect(single.message).to.equal('All selected agents were assigned to db and removed from the other groups');
    expect(await groupsOf('001')).to.deep.equal(['db']);

    const some = await lists.call('PUT', '/agents/group?group_id=web&agents_list=001,000,002,099');
    expect(some).to.include({ message: 'Some agents were not assigned to web', error: 2 });
    expect(some.data.affected_items).to.deep.equal(['001', '002']);
    expect(failures(some)).to.deep.equal([
      [1701, '099'],
      [1703, '000'],
    ]);
    const all = await lists.call('PUT', '/agents/group?group_id=web');
    expect(all.data).to.deep.include({ affected_items: ['010', '011'], total_failed_items: 0 });

    const out = async (id: string, group: string) => {
      const answer = await api.call('DELETE', `/agents/${id}/group/${group}`);
      lists.checker.check('DELETE', path, answer);
      return answer.json() as { message?: string; error: number };
    };
    expect(await out('001', 'web')).to.deep.equal({ message: "Agent '001' removed from 'web'.", error: 0 });
    expect((await out('001', 'db')).message).to.equal(
      "Agent '001' removed from 'db'. Agent reassigned to group default.",
    );
    const codes: number[] = [];
    for (const [id, group] of [
      ['099', 'web'],
      ['000', 'web'],
      ['001', 'none'],
      ['001', 'web'],
      ['001', 'default'],
    ] as const) {
      codes.push((await out(id, group)).error);
    }
    expect(codes).to.deep.equal([1701, 1703, 1710, 1734, 1745]);

    const template = '/agents/{agent_id}/group';
    const listed = await lists.call('DELETE', '/agents/002/group?groups_list=default,web,db,none', { template });
    expect(listed).to.include({ message: 'Specified agent was not removed from some groups', error: 2 });
    expect(listed.data.affected_items).to.deep.equal(['web']);
    expect(failures(listed)).to.deep.equal([
      [1710, 'none'],
      [1734, 'db'],
      [1745, 'default'],
    ]);
    const every = await lists.call('DELETE', '/agents/010/group', { template });
    expect(every).to.include({ message: 'Specified agent was removed from returned groups', error: 0 });
    expect(await groupsOf('010')).to.deep.equal(['default']);
    const removed = await lists.call('DELETE', '/agents/group?group_id=web&agents_list=all');
    expect(removed).to.include({ message: 'All selected agents were removed from group web', error: 0 });
    expect(removed.data.affected_items).to.deep.equal(['011']);
    const not = await lists.call('DELETE', '/agents/group?group_id=web&agents_list=001,099');
    expect(not).to.include({ message: 'No agent was removed from group web', error: 1 });
    expect(failures(not)).to.deep.equal([
      [1701, '099'],
      [1734, '001'],
    ]);
  });

  it('sends commands and questions to agents that are connected, through svc-remoted', async () => {
    const restart = '/agents/{agent_id}/restart';
    // Nobody is connected: svc-remoted is not needed to say so.
    expect(failures(await lists.call('PUT', '/agents/001/restart', { template: restart }))).to.deep.equal([
      [1707, '001'],
    ]);
    expect(await lists.call('PUT', '/agents/restart')).to.deep.equal({
      data: { affected_items: [], total_affected_items: 0, total_failed_items: 0, failed_items: [] },
      message: 'Restart command was not sent to any agent',
      error: 0,
    });
    await db.registry.edit((edit) => edit.setAgent(1, { ...db.registry.agents.get(1)!.record, status: 'active' }));
    const [status, code, detail] = await problem('PUT', '/agents/001/restart', undefined, restart);
    expect([status, code]).to.deep.equal([500, 1017]);
    expect(detail).to.include('svc-remoted->stopped');

    remoted = await RunningDaemon.start('svc-remoted', api.home);
    const connected = async (id: string, version: string) => {
      const { data } = await lists.get(`/agents/${id}/key`, '/agents/{agent_id}/key');
      const agent = new MinimalAgent(decodeKeyText(String(data.affected_items[0]?.['key']))!);
      agents.push(agent);
      await agent.connect(remoted!.port('agents_tcp'));
      await agent.start();
      await identified(agent, id, version);
      return agent;
    };
    const identified = async (agent: MinimalAgent, id: string, version: string) => {
      agent.keepalive([], version);
      await eventually('it is active', async () => {
        const { data: list } = await lists.get(`/agents?agents_list=${id}&status=active&q=lastKeepAlive<1h`);
        return list.affected_items[0]?.['version'] === version;
      });
    };
    const current = await connected('002', 'Wazuh v4.14.7');
    const old = await connected('011', 'Wazuh v3.6.1');

    const all = await lists.call('PUT', '/agents/restart');
    expect(all).to.deep.include({ message: 'Restart command was sent to all agents', error: 0 });
    expect(all.data.affected_items).to.deep.equal(['002', '011']);
    await current.until('restarts', () => current.received.some((text) => text.startsWith('execd ')));
    await old.until('restarts', () => old.received.some((text) => text.startsWith('execd ')));
    expect(JSON.parse(current.received.at(-1)!.slice('execd '.length))).to.deep.equal({
      version: 1,
      origin: { name: 'node01', module: 'api' },
      command: 'restart-wazuh0',
      parameters: { extra_args: [], alert: { data: {} } },
    });
    expect(old.received.at(-1)).to.equal('execd restart-ossec0 - null (from_the_server) (no_rule_id)');

    const some = await lists.call('PUT', '/agents/reconnect?agents_list=002,001,000,099');
    expect(some).to.include({ message: 'Force reconnect command was not sent to some agents', error: 2 });
    expect(some.data.affected_items).to.deep.equal(['002']);
    expect(failures(some)).to.deep.equal([
      [1701, '099'],
      [1703, '000'],
      [1707, '001'],
    ]);
    await current.until('reconnects', () => current.received.at(-1) === 'force_reconnect');

    const answers: Record<string, string> = {
      'agent getconfig client': 'ok {"client":{"notify_time":10}}',
      'com getconfig active-response': 'ok  {"active-response":{"disabled":"no"}}',
      'syscheck getconfig syscheck': 'err No such file or directory',
      'agent getstate': '{"error":0,"data":{"status":"connected","last_ack":"2026-11-21 00:42:57","msg_count":34}}',
      'logcollector getstate':
        '{"error":0,"remaining":true,"json_updated":false,"data":{"global":{"start":"2026-11-21 00:42:57","files":[{"location":"a"}]}}}',
      'logcollector getstate next':
        '{"error":0,"remaining":false,"json_updated":false,"data":{"global":{"start":"2026-11-21 00:42:57","files":[{"location":"b"}]}}}',
    };
    current.onRequest = (target, payload) => answers[`${target} ${payload}`] ?? 'err Could not get requested section';
    const template = '/agents/{agent_id}/config/{component}/{configuration}';
    const config = async (id: string, rest: string) => {
      const answer = await api.call('GET', `/agents/${id}/config/${rest}`);
      lists.checker.check('GET', template, answer);
      return answer.json() as { data?: unknown; error: number; detail?: string };
    };
    expect(await config('002', 'agent/client')).to.deep.equal({ data: { client: { notify_time: 10 } }, error: 0 });
    expect((await config('002', 'com/active-response')).data).to.deep.equal({ 'active-response': { disabled: 'no' } });
    expect((await config('002', 'syscheck/syscheck')).error).to.equal(1117);
    expect((await config('002', 'wmodules/wmodules')).detail).to.equal(
      'Requested component configuration does not exist: wmodules:wmodules',
    );
    expect((await config('000', 'request/global')).data).to.have.nested.property('global.remoted');
    expect((await config('000', 'request/remote')).data).to.have.nested.property('remote[0].connection', 'secure');
    expect((await config('000', 'auth/auth')).data).to.have.nested.property('auth.port', 0);
    expect((await config('002', 'agent/syscheck')).error).to.equal(1128);
    expect((await config('001', 'agent/client')).error).to.equal(1740);
    expect((await config('099', 'agent/client')).error).to.equal(1701);
    expect((await config('011', 'agent/client')).error).to.equal(1735);
    const stats = (id: string, component: string) =>
      lists.get(`/agents/${id}/stats/${component}`, '/agents/{agent_id}/stats/{component}');
    expect((await stats('002', 'agent')).data.affected_items).to.deep.equal([
      { status: 'connected', last_ack: '2026-11-21T00:42:57Z', msg_count: 34 },
    ]);
    expect((await stats('002', 'logcollector')).data.affected_items).to.deep.equal([
      { global: { start: '2026-11-21T00:42:57Z', files: [{ location: 'a' }, { location: 'b' }] } },
    ]);
    expect(failures(await stats('000', 'agent'))).to.deep.equal([[1310, '000']]);
    expect(failures(await stats('001', 'agent'))).to.deep.equal([[1117, '001']]);
    expect(failures(await stats('011', 'agent'))).to.deep.equal([[1735, '011']]);

    // These numbers are those of another product: it is older than any release line.
    await identified(old, '011', 'OSSEC HIDS v4.2.0');
    old.received.length = 0;
    expect((await config('011', 'agent/client')).error).to.equal(1735);
    expect(failures(await stats('011', 'agent'))).to.deep.equal([[1735, '011']]);
    const reconnected = await lists.call('PUT', '/agents/reconnect?agents_list=002,011');
    expect(reconnected.data.affected_items).to.deep.equal(['002']);
    expect(failures(reconnected)).to.deep.equal([[1735, '011']]);
    expect(reconnected.data.failed_items[0]?.error.message).to.include('OSSEC-HIDS agents do not know this order');
    await lists.call('PUT', '/agents/011/restart', { template: restart });
    await old.until('restarts', () => old.received.some((text) => text.startsWith('execd ')));
    expect(old.received.filter((text) => /^(?:execd|force|req)/.test(text))).to.deep.equal([
      'execd restart-ossec0 - null (from_the_server) (no_rule_id)',
    ]);

    const group = '/agents/group/{group_id}/restart';
    const grouped = await lists.call('PUT', '/agents/group/default/restart', { template: group });
    expect(grouped.data.affected_items).to.deep.equal(['002', '011']);
    const empty = await lists.call('PUT', '/agents/group/db/restart', { template: group });
    expect(empty).to.include({ message: 'Restart command was not sent to any agent', error: 0 });
    expect((await problem('PUT', '/agents/group/none/restart', undefined, group)).slice(0, 2)).to.deep.equal([
      404, 1710,
    ]);
  });

  it('deletes agents that meet the conditions, with their keys', async () => {
    const some = await lists.call('DELETE', '/agents?agents_list=000,010,099&status=never_connected&q=id>1');
    expect(some).to.include({ message: 'No agents were deleted', error: 1 });
    expect(failures(some)).to.deep.equal([
      [1701, '099'],
      [1703, '000'],
      [1731, '010'],
    ]);
    expect(some.data.failed_items[2]?.error.message).to.equal(
      'Agent is not eligible for the action to be performed: some of the requirements are not met -> ' +
        "status: ['never_connected'], older_than: 7d, q: id>1",
    );
    const one = await lists.call('DELETE', '/agents?agents_list=010&status=all&older_than=0s');
    expect(one).to.include({ message: 'All selected agents were deleted', error: 0 });
    expect(await known()).to.deep.equal(['001 web01', '002 web02', '011 db02']);
    const none = await lists.call('DELETE', '/agents?agents_list=all&status=all');
    expect(none).to.include({ message: 'No agents were deleted', error: 0 });
    const all = await lists.call('DELETE', '/agents?agents_list=all&status=all&older_than=0s&name=WEB01&purge=true');
    expect(all.data.affected_items).to.deep.equal(['001']);
    expect(await known()).to.deep.equal(['002 web02', '011 db02']);
    expect((await added('/agents', { name: 'web01' })).id).to.equal('015');
  });

  it('says which daemon does not run', async () => {
    await authd?.stop('SIGKILL');
    for (const [method, path, body] of [
      ['POST', '/agents', { name: 'late' }],
      ['GET', '/agents/002/key'],
      ['DELETE', '/agents?agents_list=002&status=all&older_than=0s'],
    ] as const) {
      expect(await problem(method, path, body, path.split('?')[0]!.replace('002', '{agent_id}'))).to.deep.equal([
        400,
        1726,
        'Wazuh authd is not running',
      ]);
    }
    await db.stop();
    const [status, code, detail] = await problem('GET', '/agents');
    expect([status, code]).to.deep.equal([500, 1017]);
    expect(detail).to.include('svc-db->stopped');
    db = await DbServer.start(api.home, Date.now);
  });
});
