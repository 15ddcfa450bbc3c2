import { expect } from 'chai';
import fc from 'fast-check';
import { type ApiList, ListCaller } from '../../../support/api/api-list.js';
import { TestApi } from '../../../support/api/test-api.js';
import { TestCluster } from '../../../support/api/test-cluster.js';
import { DbServer } from '../../../support/db/db-server.js';
import { delta, packageRow } from '../../../support/inventory/inventory-messages.js';

const ON = { experimentalFeatures: true, access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } };
const NAMES = ['nginx', 'Bash', 'curl', 'apt', 'zlib'];
const AGENTS = 24;
const NODES = ['node01', 'node02', 'node03'];
const nodeOf = (id: number) => NODES[id % 3]!;
const idText = (id: number) => String(id).padStart(3, '0');

/** Packages of an agent: some agents have none, names and sizes repeat. */
function packagesOf(id: number): readonly string[] {
  return Array.from({ length: id % 5 }, (_none, index) => {
    const name = NAMES[(id + index) % NAMES.length]!;
    return delta('packages', 'INSERTED', { ...packageRow(`${name}-${index}`), size: (id * 7) % 4 });
  });
}

async function fillPackages(db: DbServer, ids: readonly number[]): Promise<void> {
  const operations = ids
    .flatMap((id) => packagesOf(id).map((text) => ({ agent: idText(id), text })))
    .map(({ agent, text }, position) => ({
      ...{ position, agent, kind: 'inventory' as const, at: 1_795_222_800_000, message: Buffer.from(text) },
    }));
  await db.stores.inventory.apply({ journal: 'one', operations, upTo: operations.length });
}

describe('lists of rows over all nodes', () => {
  let cluster: TestCluster;
  let single: { api: TestApi; db: DbServer; lists: ListCaller };
  before(async () => {
    cluster = await TestCluster.start(NODES, ON);
    await cluster.fill(AGENTS, nodeOf);
    const all = Array.from({ length: AGENTS }, (_none, index) => index + 1);
    for (const { name, db } of cluster.nodes.values()) {
      // An agent that has moved has left rows behind: they never show.
      const stale = all.filter((id) => id % 6 === 0);
      await fillPackages(
        db,
        [...new Set([...all.filter((id) => nodeOf(id) === name), ...stale])].sort((a, b) => a - b),
      );
    }
    const api = await new TestApi().start(ON);
    const db = await DbServer.start(api.home, () => api.now);
    await db.fill(AGENTS);
    await db.registry.edit((edit) => {
      for (const id of all) edit.setAgent(id, { ...db.registry.agents.get(id)!.record, status: 'active' });
    });
    await fillPackages(db, all);
    single = { api, db, lists: new ListCaller(api) };
  });
  after(async () => {
    await single.api.stop();
    await single.db.stop();
    await single.api.remove();
    await cluster.remove();
  });

  const path = '/experimental/syscollector/packages';
  const ask = async (node: string, query: string): Promise<ApiList> => cluster.node(node).lists.get(`${path}?${query}`);

  it('are answered by any node as one node with all of it would', async () => {
    const query = fc.record(
      {
        offset: fc.nat(60),
        limit: fc.integer({ min: 1, max: 20 }),
        sort: fc.constantFrom('name', '-name', '+size,name', '-size', '-agent_id', 'scan.time', '-section,name'),
        search: fc.constantFrom('ng', '-ng', 'zzz'),
        select: fc.constantFrom('name', 'size,agent_id', 'scan.time'),
        name: fc.constantFrom('nginx-0', 'bash-1'),
        agents_list: fc.uniqueArray(fc.integer({ min: 1, max: AGENTS + 2 }), { minLength: 1, maxLength: 9 }),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(query, fc.constantFrom(...NODES), async ({ agents_list: ids, ...others }, node) => {
        const parameters = new URLSearchParams();
        for (const [name, value] of Object.entries(others)) parameters.set(name, String(value));
        if (ids !== undefined) parameters.set('agents_list', ids.map(idText).join(','));
        const text = parameters.toString();
        expect(await ask(node, text), `${node} ${text}`).to.deep.equal(await single.lists.get(`${path}?${text}`));
      }),
      { numRuns: 60 },
    );
  });

  it('refuse what is wrong with the question as one node does', async () => {
    for (const query of ['sort=nothing', 'select=nothing', 'sort=-nothing&agents_list=001,002']) {
      const one = await single.api.call('GET', `${path}?${query}`);
      const three = await cluster.node('node02').api.call('GET', `${path}?${query}`);
      const clear = (text: string) => text.replace(/"dapi_errors": \{"node\d+"/, '');
      expect([three.status, clear(three.text)], query).to.deep.equal([one.status, clear(one.text)]);
    }
  });

  it('lack the rows of a node that is away, and say so', async () => {
    cluster.away.add('node03');
    try {
      const all = await ask('node01', 'limit=1000&sort=name');
      expect(all.data.failed_items.map(({ error, id }) => [error.code, ...id])).to.deep.equal([[3022, 'node03']]);
      expect(new Set(all.data.affected_items.map(({ agent_id: id }) => nodeOf(Number(id))))).to.deep.equal(
        new Set(['node01', 'node02']),
      );
      const named = await ask('node01', 'agents_list=001,002,003');
      expect(named.data.failed_items.map(({ error, id }) => [error.code, ...id])).to.deep.equal([[3022, '002']]);
      expect(named.error).to.equal(2);
    } finally {
      cluster.away.clear();
    }
  });
});
