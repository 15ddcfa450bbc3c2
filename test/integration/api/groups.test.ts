import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { expect } from 'chai';
import { parseMergedFile } from '../../../lib/agentlink/merged-file.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { ApiClient } from '../../support/api/api-client.js';
import type { ApiList } from '../../support/api/api-list.js';
import { ResponseChecker } from '../../support/api/response-checker.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { KeepingSink, RemotedHome } from '../../support/remoted/remoted-home.js';

const CONFIGURATION = '/groups/{group_id}/configuration';
const FILE = '/groups/{group_id}/files/{file_name}';
const MEMBER = '/agents/{agent_id}/group/{group_id}';
const TEMPLATE = '<agent_config>\n  <!-- template -->\n</agent_config>\n';
/** A slow machine may take its time to build merged files. */
const BUILT_MS = 30_000;

describe('groups over HTTPS, with svc-apid, svc-db and svc-remoted', function () {
  this.timeout(120_000);
  const checker = new ResponseChecker();
  const connections = new Agent({ keepAlive: true });
  let home: RemotedHome;
  let sink: KeepingSink;
  let client: ApiClient;
  let db: RequestClient<typeof dbContract>;
  const daemons: RunningDaemon[] = [];

  before(async () => {
    home = new RemotedHome();
    mkdirSync(home.path('api/configuration/security'), { recursive: true });
    mkdirSync(home.path('etc/shared/default'), { recursive: true });
    writeFileSync(home.path('etc/shared/agent-template.conf'), TEMPLATE);
    writeFileSync(home.path('etc/shared/default/agent.conf'), TEMPLATE);
    const settings = 'host: ["127.0.0.1"]\nport: 0\naccess:\n  max_request_per_minute: 0\n';
    writeFileSync(home.path('api/configuration/api.yaml'), settings);
    sink = new KeepingSink(home);
    await sink.start();
    for (const name of ['svc-db', 'svc-remoted', 'svc-apid'] as const satisfies readonly DaemonName[]) {
      daemons.push(await RunningDaemon.start(name, home));
    }
    client = new ApiClient(home, connections);
    db = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
    for (const id of ['001', '002']) {
      await db.call('agents.register', { id, name: `agent${id}`, dateAdd: 0 });
    }
  });
  after(async () => {
    connections.destroy();
    db.close();
    for (const daemon of daemons.reverse()) await daemon.stop('SIGKILL');
    await sink.stop();
    home.remove();
  });

  const call = async (method: string, path: string, template: string, body?: string, type = 'application/json') => {
    const answer = await client.call(method, path, body === undefined ? {} : { 'content-type': type }, body);
    if (answer === undefined) throw new Error(`${method} ${path} had no answer`);
    checker.check(method, template, answer);
    return { status: answer.status, body: answer.json() as ApiList & { error: number; detail?: string } };
  };
  const ok = async (...request: Parameters<typeof call>) => {
    const { status, body } = await call(...request);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  };
  const create = (group: string) => ok('POST', '/groups', '/groups', JSON.stringify({ group_id: group }));
  const item = async (group: string) =>
    (await ok('GET', `/groups?groups_list=${group}`, '/groups')).data.affected_items[0] ?? {};
  const groupsOf = async (id: string) =>
    (await ok('GET', `/agents?agents_list=${id}&select=group`, '/agents')).data.affected_items[0]?.['group'];
  /** agent.conf as agents would get it. */
  const distributed = (group: string) => {
    const files = parseMergedFile(readFileSync(home.path('etc/shared', group, 'merged.mg')));
    return files.find(({ name }) => name === 'agent.conf')?.content.toString();
  };

  it('makes a group whose files are merged for agents', async () => {
    await create('web');
    const sum = await eventually('merged.mg of web', async () => (await item('web'))['mergedSum'], BUILT_MS);
    expect(sum).to.equal(
      createHash('md5')
        .update(readFileSync(home.path('etc/shared/web/merged.mg')))
        .digest('hex'),
    );
    expect(distributed('web')).to.equal(TEMPLATE);
    const entries = (await ok('GET', '/groups/web/files/merged.mg', FILE)).data as unknown as { file_name: string }[];
    expect(entries.map(({ file_name }) => file_name)).to.include('agent.conf');
  });

  it('distributes a configuration that is stored, and keeps the last one when a new one is refused', async () => {
    const put = (text: string) => call('PUT', '/groups/web/configuration', CONFIGURATION, text, 'application/xml');
    const before = await item('web');
    const conf = '<agent_config os="Linux"><labels><label key="k">v</label></labels></agent_config>';
    expect((await put(conf)).body).to.deep.equal({ message: 'Agent configuration was successfully updated', error: 0 });
    const stored = readFileSync(home.path('etc/shared/web/agent.conf'), 'utf8');
    expect(stored).to.match(/^<agent_config os="Linux">\n {2}<labels>\n/);
    await eventually('the new merged.mg', () => distributed('web') === stored, BUILT_MS);
    const after = await item('web');
    expect(after['mergedSum']).not.to.equal(before['mergedSum']);

    const refused = await put('<agent_config><syscheck><frequency>often</frequency></syscheck></agent_config>');
    expect([refused.status, refused.body.error]).to.deep.equal([400, 1114]);
    expect(readFileSync(home.path('etc/shared/web/agent.conf'), 'utf8')).to.equal(stored);
    expect(await item('web')).to.deep.equal(after);
    const shown = await ok('GET', '/groups/web/configuration', CONFIGURATION);
    expect(shown.data.affected_items).to.deep.equal([
      { filters: { os: 'Linux' }, config: { labels: [{ label: [{ value: 'v', key: 'k' }] }] } },
    ]);
  });

  it('takes agents into a folder from the moment it is there', async () => {
    mkdirSync(home.path('etc/shared/by-hand'));
    await ok('PUT', '/agents/001/group/by-hand', MEMBER);
    expect(await groupsOf('001')).to.deep.equal(['default', 'by-hand']);
    expect(await item('by-hand')).to.include({ name: 'by-hand', count: 1 });
    const status = await ok('GET', '/agents?agents_list=001&select=group_config_status', '/agents');
    expect(status.data.affected_items).to.deep.equal([{ id: '001', group_config_status: 'not synced' }]);
  });

  it('keeps memberships while groups come and go under the eyes of svc-remoted', async () => {
    const made = Array.from({ length: 30 }, (_none, index) => `race-${index}`);
    for (const group of made) {
      await create(group);
      await ok('PUT', `/agents/002/group/${group}`, MEMBER);
    }
    // svc-remoted has seen the last one, and all those before it.
    await eventually('merged files of all', async () => (await item('race-29'))['mergedSum'], BUILT_MS);
    expect(await groupsOf('002')).to.deep.equal(['default', ...made]);
    const removed = await ok('DELETE', `/groups?groups_list=${made.slice(1).join(',')}`, '/groups');
    expect(removed.data.total_affected_items).to.equal(29);
    expect(await groupsOf('002')).to.deep.equal(['default', 'race-0']);
  });

  it('deletes groups for good', async () => {
    const removed = await ok('DELETE', '/groups?groups_list=all', '/groups');
    expect(removed.data.affected_items).to.include.members(['web', 'by-hand', 'race-0']);
    expect([await groupsOf('001'), await groupsOf('002')]).to.deep.equal([['default'], ['default']]);
    await create('last');
    // A scan later nothing is back.
    await eventually('merged.mg of last', async () => (await item('last'))['mergedSum'], BUILT_MS);
    const left = await ok('GET', '/groups?select=name', '/groups');
    expect(left.data.affected_items).to.deep.equal([{ name: 'default' }, { name: 'last' }]);
    expect((await db.call('groups.list', {})).groups.map(({ name }) => name)).to.deep.equal(['default', 'last']);
  });
});
