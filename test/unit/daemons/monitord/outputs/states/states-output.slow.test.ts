import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { OutputStore } from '../../../../../../daemons/monitord/outputs/output-store.js';
import type { StatesSource } from '../../../../../../daemons/monitord/outputs/states/state-agents.js';
import { StatesOutput } from '../../../../../../daemons/monitord/outputs/states/states-output.js';
import { statesSettings } from '../../../../../../daemons/monitord/outputs/states/states-settings.js';
import { pause } from '../../../../../../lib/async/pause.js';
import { loadManagerConfig } from '../../../../../../lib/config/load-manager-config.js';
import { eventually } from '../../../../../support/eventually.js';
import { InventoryKit } from '../../../../../support/inventory/inventory-kit.js';
import { delta, packageRow, state } from '../../../../../support/inventory/inventory-messages.js';
import { expectedStates, sortedJson } from '../../../../../support/monitord/expected-states.js';
import {
  type BulkFault,
  StrictIndexer,
  type StrictIndexerOptions,
} from '../../../../../support/monitord/strict-indexer.js';
import { RecordingLogger } from '../../../../../support/recording-logger.js';
import { TemporaryHome } from '../../../../../support/temporary-home.js';

const CLUSTER = `<cluster><name>Big</name><node_name>n1</node_name><key>${'k'.repeat(32)}</key><nodes><node>10.0.0.1</node></nodes><disabled>no</disabled></cluster>`;
const ORIGIN = { cluster: 'Big', node: 'n1' };
const PATIENCE_MS = 20_000;
const nameOf = (kind: string): string => `wazuh-states-inventory-${kind}-big`;
const PACKAGES = nameOf('packages');

describe('inventories in indices of states', function () {
  this.timeout(60_000);
  let home: TemporaryHome;
  let kit: InventoryKit;
  let store: OutputStore;
  let indexer: StrictIndexer;
  let logger: RecordingLogger;
  let output: StatesOutput;
  /** What the registry says of agents. */
  let registry: Map<string, Record<string, unknown>>;
  /** Each look is one at indices and agents as well. */
  let clock: number;
  let turns: number;

  beforeEach(async () => {
    home = new TemporaryHome();
    kit = await InventoryKit.open([]);
    store = await OutputStore.open(home.path('queue', 'outputs'));
    logger = new RecordingLogger();
    registry = new Map();
    clock = 0;
    turns = 0;
    for (const id of ['000', '001', '002', '003']) register(id);
    await serve();
  });
  afterEach(async () => {
    await output.stop();
    await indexer.stop();
    await store.close();
    await kit.close();
    home.remove();
  });

  function register(id: string, name = `box${id}`): void {
    kit.known.add(id);
    registry.set(id, { id, name, registerIP: 'any', ip: '10.0.0.1', version: 'Wazuh v4.14.7' });
  }
  async function remove(id: string): Promise<void> {
    kit.known.delete(id);
    registry.delete(id);
    await kit.database.forget([id]);
  }
  async function serve(options: StrictIndexerOptions = {}): Promise<void> {
    if (indexer?.url !== undefined) await indexer.stop();
    indexer = new StrictIndexer(options);
    await indexer.start();
    output = make();
  }

  /** svc-db as the bus shows it. */
  const db = {
    call: async (method: string, params: { ids?: string[] }, { signal }: { signal?: AbortSignal } = {}) => {
      await Promise.resolve();
      signal?.throwIfAborted();
      if (method === 'inventory.changes') turns += 1;
      if (method === 'agents.get') {
        const { ids = [] } = params;
        const items = ids.flatMap((id) => registry.get(id) ?? []);
        return { items, unknown: ids.filter((id) => !registry.has(id)) };
      }
      return kit.handlers[method as 'inventory.changes'](params as never);
    },
  } as unknown as StatesSource;

  function make(): StatesOutput {
    return new StatesOutput({
      ...{ db, home, logger, store: { get: () => Promise.resolve(store) } },
      now: () => (clock += 61_000),
      sleep: (milliseconds, signal) => pause(Math.min(milliseconds, 1), signal),
    });
  }
  function follow({ options = '', hosts = [indexer.url], batch = 5 } = {}): void {
    writeFileSync(
      home.path('etc', 'manager.conf'),
      `<ossec_config>${CLUSTER}<indexer><enabled>yes</enabled><hosts>${hosts.map((host) => `<host>${host}</host>`).join('')}</hosts>
       <options><batch_size>${String(batch)}</batch_size>${options}</options></indexer></ossec_config>`,
    );
    output.follow(statesSettings(loadManagerConfig(home, ['indexer', 'cluster'])));
  }
  /** As after a stop and a start of svc-monitord. */
  async function restart(): Promise<void> {
    await output.stop();
    output = make();
    follow();
  }

  const expected = () => expectedStates(db, [...registry.values()], ORIGIN);
  const actual = (): Record<string, Record<string, unknown>> =>
    Object.fromEntries(
      [...indexer.states.indices].map(([name, { documents }]) => [name, Object.fromEntries(documents)]),
    );
  const isEqual = async () => sortedJson(actual()) === sortedJson(await expected());
  async function caughtUp(): Promise<void> {
    await eventually('indices are as svc-db is', isEqual, PATIENCE_MS).catch(async () => {
      const seen = JSON.stringify({ turns, stats: stats(), db: kit.database.stats(), log: logger.lines.slice(-8) });
      expect(actual(), seen).to.deep.equal(await expected());
    });
    expect(indexer.violations).to.deep.equal([]);
  }
  const stats = (): Record<string, unknown> => output.stats()['indexer states'] ?? {};
  const packages = (...names: string[]) => names.map((name) => delta('packages', 'INSERTED', packageRow(name)));

  it('are copied as they are, then follow what changes', async () => {
    await kit.events(
      '001',
      ...packages('a', 'b', 'c', 'd', 'e', 'f', 'g'),
      delta('groups', 'INSERTED', { group_name: 'adm' }),
    );
    await kit.events('000', delta('osinfo', 'INSERTED', { os_name: 'Ubuntu', hostname: 'manager' }));
    follow();
    await caughtUp();
    expect(indexer.states.indices.size).to.equal(13);
    expect(indexer.states.templates.size).to.equal(13);
    expect(indexer.states.documents(PACKAGES).size).to.equal(7);
    expect([...indexer.states.documents(nameOf('system')).values()][0]).to.nested.include({
      'agent.name': 'box000',
      'agent.version': 'v4.14.7',
      'wazuh.cluster.name': 'Big',
      'wazuh.cluster.node': 'n1',
    });
    await kit.events(
      '001',
      delta('packages', 'DELETED', packageRow('a')),
      delta('packages', 'MODIFIED', packageRow('b', { vendor: 'other' })),
    );
    await kit.sync('002', state('users', { user_name: 'root' }));
    await caughtUp();
    await eventually('nothing waits', () => (stats()['lag'] as { seconds: number }).seconds === 0);
    expect(stats()).to.include({ rejected: 0, failed: 0, available: true, tables_to_copy: 0, agents_to_rewrite: 0 });
    expect(stats()['delivered']).to.be.greaterThan(9);
  });

  it('are there when a table was cleared and filled again at once', async () => {
    await kit.events('001', ...packages('a', 'b', 'c'));
    follow();
    await caughtUp();
    const clear = { component: 'syscollector_packages', data: { id: 1 }, type: 'integrity_clear' };
    await kit.sync('001', JSON.stringify(clear));
    await kit.events('001', ...packages('b', 'x'));
    await caughtUp();
    expect([...indexer.states.documents(PACKAGES).keys()]).to.have.length(2);
    indexer.states.conflicts = 2;
    await remove('001');
    await caughtUp();
    expect(indexer.states.documents(PACKAGES).size).to.equal(0);
  });

  it('are of the agent that has an id now', async () => {
    await kit.events('001', ...packages('a'));
    await kit.events('002', ...packages('a'));
    follow();
    await caughtUp();
    await remove('001');
    register('001', 'another');
    await kit.events('001', ...packages('b'));
    await caughtUp();
    expect([...indexer.states.documents(PACKAGES).values()].map((one) => one['agent'])).to.deep.include({
      ...{ id: '001', name: 'another', version: 'v4.14.7', host: { ip: '10.0.0.1' } },
    });
  });

  it('are of the agent that has an id now, also when all happened while svc-monitord was away', async () => {
    await kit.events('001', ...packages('a'));
    follow();
    await caughtUp();
    await output.stop();
    await remove('001');
    register('001', 'another');
    await kit.events('001', ...packages('b'));
    await restart();
    await caughtUp();
    expect(indexer.states.documents(PACKAGES).size).to.equal(1);
  });

  it('stay when one of two keys that stand for the same document goes', async () => {
    await kit.events('001', delta('hwinfo', 'INSERTED', { board_serial: '', cpu_cores: 2 }));
    follow();
    await caughtUp();
    await kit.events(
      '001',
      delta('hwinfo', 'INSERTED', { board_serial: 'unknown', cpu_cores: 4 }),
      delta('hwinfo', 'DELETED', { board_serial: '', cpu_cores: 2 }),
    );
    await caughtUp();
    const hardware = indexer.states.documents(nameOf('hardware'));
    expect(hardware.get('001_unknown')).to.have.nested.property('host.cpu.cores', 4);
  });

  it('say what agents are called now, also when svc-monitord did not run meanwhile', async () => {
    await kit.events('001', ...packages('a', 'b', 'c', 'd', 'e', 'f'));
    follow();
    await caughtUp();
    register('001', 'renamed');
    await caughtUp();
    await output.stop();
    registry.set('001', { ...registry.get('001'), version: 'Wazuh v4.15.0', ip: '10.9.9.9' });
    await restart();
    await caughtUp();
  });

  it('lose documents that nobody knows, and an index that vanished is filled again', async () => {
    await kit.events('001', ...packages('a', 'b'));
    follow();
    await caughtUp();
    await output.stop();
    // Somebody forgot the position, and documents are from earlier times: of a row, of an agent, and of another node.
    await store.states.clear();
    const index = indexer.states.indices.get(PACKAGES);
    const stray = (id: string, node: string) => ({ agent: { id }, wazuh: { cluster: { name: 'Big', node } } });
    for (const [id, agent, node] of [
      ['001_gone', '001', 'n1'],
      ['009_gone', '009', 'n1'],
      ['010_x', '010', 'n2'],
    ] as const) {
      index?.documents.set(id, stray(agent, node));
    }
    index?.documents.delete('001_a');
    await restart();
    await eventually(
      'strays are gone',
      () => !index?.documents.has('001_gone') && !index?.documents.has('009_gone'),
      PATIENCE_MS,
    );
    expect(index?.documents.has('010_x')).to.equal(true);
    index?.documents.delete('010_x');
    await caughtUp();
    indexer.states.indices.delete(PACKAGES);
    await caughtUp();
    expect(indexer.states.documents(PACKAGES).size).to.equal(2);
  });

  it('come when the receiver that was away is back, and are told of once', async () => {
    await kit.events('001', ...packages('a'));
    follow();
    await caughtUp();
    await indexer.stop();
    await kit.events('001', ...packages('b', 'c'), delta('packages', 'DELETED', packageRow('a')));
    await eventually('it is away', () => stats()['available'] === false, PATIENCE_MS);
    await indexer.start();
    await caughtUp();
    await eventually('it is there', () => stats()['available'] === true, PATIENCE_MS);
    const told = logger.lines.filter((line) => line.includes('Inventories are'));
    expect(told).to.have.length(2);
    expect(told[0]).to.include('warn: Inventories are not sent to the indexer for now: ');
    expect(told[1]).to.include('info: Inventories are sent to the indexer again.');
  });

  it('are kept in a file and counted when a mapping of others refuses them', async () => {
    await kit.events('001', ...packages('a'));
    follow();
    await caughtUp();
    const fields = indexer.states.indices.get(PACKAGES)?.mapping.properties['package']?.properties ?? {};
    fields['vendor'] = { type: 'ip' };
    await kit.events('001', ...packages('b'), delta('groups', 'INSERTED', { group_name: 'adm' }));
    await eventually('it is counted', () => stats()['rejected'] === 1, PATIENCE_MS);
    const rejected = home.path('logs', 'indexer-rejected.json');
    await eventually('it is in the file', () => existsSync(rejected), PATIENCE_MS);
    const { output: stream, document, type } = JSON.parse(readFileSync(rejected, 'utf8')) as Record<string, string>;
    expect([stream, type]).to.deep.equal(['states', 'mapper_parsing_exception']);
    expect(JSON.parse(document ?? '')).to.nested.include({ 'package.name': 'b' });
    await eventually('others go on', () => indexer.states.documents(nameOf('groups')).size === 1, PATIENCE_MS);
  });

  it('go to servers that lack newer types, and to indices that lack fields', async () => {
    await serve({ without: ['match_only_text', 'unsigned_long'] });
    await kit.events('001', delta('groups', 'INSERTED', { group_name: 'adm', group_id: 4, group_description: 'x' }));
    follow();
    await caughtUp();
    const { properties = {} } = indexer.states.indices.get(nameOf('groups'))?.mapping ?? {};
    expect(properties['group']?.properties?.['description']).to.deep.equal({ type: 'text' });
    await output.stop();
    delete properties['group']?.properties?.['is_hidden'];
    (properties['group']?.properties ?? {})['name'] = { type: 'text' };
    await restart();
    await kit.events('001', delta('groups', 'INSERTED', { group_name: 'wheel' }));
    await caughtUp();
    expect(properties['group']?.properties).to.have.property('is_hidden');
    expect(logger.lines.join('\n')).to.match(/warn: Fields of '.*groups-big' have other types than ours.*group\.name/);
  });

  it('are not noted in svc-db when nobody asks for them', async () => {
    follow();
    await caughtUp();
    expect(kit.database.stats()).to.deep.include({ follower: { waiting: 0 } });
    follow({ options: '<states>no</states>' });
    await eventually(
      'nobody follows',
      () => (kit.database.stats()['follower'] as { waiting: unknown }).waiting === null,
    );
    expect(output.stats()).to.deep.equal({});
    await kit.events('001', ...packages('a'));
    follow();
    await caughtUp();
  });

  const agent = fc.constantFrom('000', '001', '002', '003');
  const rows = fc.oneof(
    fc.record({ table: fc.constant('packages'), name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f') }),
    fc.record({ table: fc.constant('groups'), name: fc.constantFrom('adm', 'a"b', 'wheel') }),
    fc.record({ table: fc.constantFrom('hwinfo', 'osinfo'), name: fc.constantFrom(' ', 'one', 'two') }),
  );
  const step = fc.oneof(
    {
      weight: 10,
      arbitrary: fc.record({
        do: fc.constantFrom('INSERTED', 'MODIFIED', 'DELETED', 'state'),
        agent,
        rows,
        more: fc.nat({ max: 3 }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('clear', 'remove', 'rename', 'register'), agent }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('look', 'reopen', 'unfollow', 'restart', 'vanish') }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('fault'),
        bulk: fc.constantFrom<BulkFault>(429, 'garbage', { items: [201, 429, 503] }, { items: [404, 404] }),
        other: fc.option(fc.constantFrom(503, 429, 404)),
      }),
    },
  );
  type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

  const rowOf = (table: string, name: string, more: number): Record<string, string | number> => {
    if (table === 'packages') return packageRow(name, { vendor: `v${String(more)}` });
    if (table === 'groups') return { group_name: name, group_id: more };
    return table === 'hwinfo' ? { board_serial: name, cpu_cores: more } : { os_name: name, release: String(more) };
  };
  async function take(one: Step): Promise<void> {
    if (one.do === 'look') {
      const before = turns;
      await eventually('it has looked', () => turns > before + 1, PATIENCE_MS);
    } else if (one.do === 'reopen') {
      await kit.reopen();
    } else if (one.do === 'unfollow') {
      await kit.handlers['inventory.unfollow']({});
    } else if (one.do === 'restart') {
      await restart();
    } else if (one.do === 'vanish') {
      indexer.states.indices.delete(PACKAGES);
    } else if ('bulk' in one) {
      indexer.faults.push(one.bulk);
      if (one.other !== null) indexer.states.faults.push(one.other);
    } else if (one.do === 'remove') {
      await remove(one.agent);
    } else if (one.do === 'register') {
      register(one.agent);
    } else if (one.do === 'rename') {
      if (registry.has(one.agent)) register(one.agent, `named${String(turns)}`);
    } else if (one.do === 'clear') {
      if (!registry.has(one.agent)) return;
      const clear = { component: 'syscollector_packages', data: { id: 1 }, type: 'integrity_clear' };
      await kit.sync(one.agent, JSON.stringify(clear));
    } else if ('rows' in one && registry.has(one.agent)) {
      const { table, name } = one.rows;
      const row = rowOf(table, name, one.more);
      if (one.do === 'state') await kit.sync(one.agent, state(table, row));
      else await kit.events(one.agent, delta(table, one.do as 'INSERTED', row));
    }
  }

  it('are equal in the end, whatever happens in between', async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        follow();
        for (const one of steps) await take(one);
        await caughtUp();
        indexer.faults.length = 0;
        indexer.states.faults.length = 0;
      }),
      { numRuns: 40 },
    );
  });
});
