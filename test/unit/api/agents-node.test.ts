import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { groupHash, LONG_HASH_CHARS } from '../../../lib/agentlink/merged-file.js';
import { ListCaller } from '../../support/api/api-list.js';
import { TestApi } from '../../support/api/test-api.js';
import { DbServer } from '../../support/db/db-server.js';
import { RemotedServer } from '../../support/remoted/remoted-server.js';

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const CLUSTER = `<manager_config><cluster><node_name>node01</node_name><key>${'k'.repeat(32)}</key><nodes><node>192.0.2.1</node></nodes></cluster></manager_config>`;

describe('agents of this node over the API', () => {
  let api: TestApi;
  let db: DbServer;
  let lists: ListCaller;
  before(async () => {
    api = await new TestApi().start();
    db = await DbServer.start(api.home, () => api.now);
    await db.fill(60);
    lists = new ListCaller(api);
  });
  after(async () => {
    await api.stop();
    await db.stop();
    await api.remove();
  });

  it('say whether they have the configuration of their groups', async () => {
    const template = '/agents/{agent_id}/group/is_sync';
    const is = (id: string) => lists.get(`/agents/${id}/group/is_sync`, template);
    const set = (id: number, groups: string[], mergedSum: string | undefined) =>
      db.registry.edit((edit) => {
        const { mergedSum: _before, ...record } = db.registry.agents.get(id)!.record;
        edit.setAgent(id, { ...record, groups, ...(mergedSum === undefined ? {} : { mergedSum }) });
      });
    const merged = (directory: string, content: string) => {
      mkdirSync(api.home.path(directory), { recursive: true });
      writeFileSync(api.home.path(directory, 'merged.mg'), content);
    };
    const expectSync = async (id: string, synced: boolean) => {
      const answer = await is(id);
      expect(answer.message).to.equal('Sync info was returned for all selected agents');
      expect(answer.data.affected_items).to.deep.equal([{ id, synced }]);
    };
    merged('etc/shared/site-0', 'one group');
    await set(1, ['site-0'], md5('one group'));
    await expectSync('001', true);
    merged('etc/shared/site-0', 'changed');
    await expectSync('001', false);
    // The list of an agent with several has a file of its own, by its order.
    merged(`var/multigroups/${groupHash(['default', 'site-0'])}`, 'two groups');
    await set(1, ['default', 'site-0'], md5('two groups'));
    await expectSync('001', true);
    await set(1, ['site-0', 'default'], md5('whatever'));
    await expectSync('001', true);
    // It is still to be made when each group has its own.
    merged('etc/shared/default', 'the default');
    await expectSync('001', false);
    // Another list has the same short hash.
    const long = groupHash(['site-0', 'default'], LONG_HASH_CHARS);
    merged(`var/multigroups/${groupHash(['site-0', 'default'])}`, 'of others');
    merged(`var/multigroups/${long}`, 'whatever');
    await expectSync('001', true);
    await set(1, ['site-0'], undefined);
    await expectSync('001', false);
    rmSync(api.home.path('etc/shared/site-0/merged.mg'));
    await expectSync('001', true);
    await db.registry.edit((edit) => {
      edit.setAgent(1, { ...db.registry.agents.get(1)!.record, status: 'never_connected' });
    });
    await expectSync('001', false);
    for (const [id, code] of [
      ['000', 1703],
      ['999', 1701],
    ] as const) {
      const answer = await is(id);
      expect(answer).to.include({ message: 'No sync info was returned', error: 1 });
      expect(answer.data.failed_items[0]).to.deep.nested.include({ 'error.code': code, id: [id] });
    }
  });

  it('are restarted when they report to it, in a cluster only', async () => {
    const template = '/agents/node/{node_id}/restart';
    const refused = async (node: string) => {
      const answer = await api.call('PUT', `/agents/node/${node}/restart`);
      lists.checker.check('PUT', template, answer);
      return [answer.status, (answer.json() as { error: number }).error];
    };
    expect(await refused('node01')).to.deep.equal([400, 3013]);
    writeFileSync(api.home.path('etc/manager.conf'), CLUSTER);
    // Whether there is such a node svc-clusterd would know.
    expect(await refused('node02')).to.deep.equal([500, 3022]);

    await db.registry.edit((edit) => {
      const row = db.registry.agents.byId().find(({ id, record }) => id !== 0 && record.status === 'active')!;
      edit.setAgent(row.id, { ...row.record, nodeName: 'node02' });
    });
    const remoted = await RemotedServer.start(api.home);
    try {
      const answer = await lists.call('PUT', '/agents/node/node01/restart', { template });
      const rows = db.registry.agents.byId().filter(({ id, record }) => id !== 0 && record.status === 'active');
      const expected = rows.filter(({ record }) => record.nodeName === 'node01').map(({ idText }) => idText);
      expect(expected).to.have.length(rows.length - 1);
      expect(answer).to.deep.include({ message: 'Restart command was sent to all agents', error: 0 });
      expect(answer.data.affected_items).to.deep.equal(expected);
      expect(remoted.sent.flatMap(({ ids }) => ids).sort()).to.deep.equal(expected);
    } finally {
      await remoted.stop();
    }
  });
});
