import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { expect } from 'chai';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { monitordContract } from '../../../lib/bus/contracts/monitord.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { delta, packageRow } from '../../support/inventory/inventory-messages.js';
import { expectedStates, sortedJson } from '../../support/monitord/expected-states.js';
import { StrictIndexer } from '../../support/monitord/strict-indexer.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const PATIENCE_MS = 30_000;
const AGENTS = ['001', '002', '003'];
const ROUNDS = 6;
const PACKAGES = 60;

describe('inventories in a search engine under kill -9', function () {
  this.timeout(120_000);
  const home = new TemporaryHome();
  const indexer = new StrictIndexer();
  const db = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const monitord = new RequestClient({ contract: monitordContract, path: home.socket('svc-monitord') });
  const running = new Map<DaemonName, RunningDaemon>();
  let position = 0;

  before(async () => {
    await indexer.start();
    for (const directory of ['queue/outputs', 'queue/db', 'logs/alerts', 'logs/archives']) {
      mkdirSync(home.path(directory), { recursive: true, mode: 0o750 });
    }
    const options = new URL('etc/internal_options.conf', productRoot());
    copyFileSync(options, home.path('etc', 'internal_options.conf'));
    // As a configuration of 4.x has it.
    configure('');
    await Promise.all([start('svc-db'), start('svc-monitord')]);
    for (const id of AGENTS) await db.call('agents.register', { id, name: `box${id}`, dateAdd: 1_700_000_000 });
  });
  after(async () => {
    db.close();
    monitord.close();
    for (const daemon of running.values()) await daemon.stop('SIGKILL');
    await indexer.stop();
    home.remove();
  });

  function configure(options: string): void {
    const section = `<indexer><enabled>yes</enabled><hosts><host>${indexer.url}</host></hosts>${options}</indexer>`;
    writeFileSync(home.path('etc', 'manager.conf'), `<ossec_config>${section}</ossec_config>\n`);
  }
  async function start(name: DaemonName): Promise<void> {
    running.set(name, await RunningDaemon.start(name, home));
  }
  async function restart(name: DaemonName): Promise<void> {
    await running.get(name)?.stop('SIGKILL');
    await start(name);
  }
  /** As svc-analysisd does: the same again until it is stored. */
  async function events(agent: string, messages: readonly string[]): Promise<void> {
    const operations = messages.map((message, index) => ({
      ...{ position: position + index, agent, kind: 'inventory' as const, at: Date.now() },
      message: Buffer.from(message),
    }));
    position += messages.length;
    const apply = () => db.call('inventory.apply', { journal: 'test', operations, upTo: position }).then(() => true);
    await eventually('events are stored', () => apply().catch(() => false), PATIENCE_MS);
  }
  /** Packages of a round: some stay as they were, some change, some go. */
  const round = (agent: string, number: number): string[] =>
    Array.from({ length: PACKAGES }, (_, index) => {
      const name = `${agent}-${String((index * 7 + number) % 90)}`;
      const row = packageRow(name, { vendor: `v${String(index % 3 === 0 ? 0 : number)}` });
      return delta('packages', (index + number) % 5 === 0 ? 'DELETED' : 'INSERTED', row);
    });
  const actual = () =>
    Object.fromEntries(
      [...indexer.states.indices].map(([name, { documents }]) => [name, Object.fromEntries(documents)]),
    );
  async function expected() {
    const { items } = await db.call('agents.list', { limit: 100 });
    return expectedStates(db, items, { cluster: hostname(), node: undefined });
  }
  async function caughtUp(): Promise<void> {
    const isEqual = async () => sortedJson(actual()) === sortedJson(await expected());
    await eventually('indices are as svc-db is', isEqual, PATIENCE_MS).catch(async () => {
      expect(actual()).to.deep.equal(await expected());
    });
    expect(indexer.violations).to.deep.equal([]);
  }

  it('are as svc-db has them, whoever is killed on the way', async () => {
    const victims: DaemonName[][] = [['svc-monitord'], ['svc-db'], ['svc-monitord', 'svc-db']];
    let killing = Promise.resolve();
    for (let number = 0; number < ROUNDS; number += 1) {
      const killed = victims[number % victims.length] ?? [];
      // While events come, and while documents are on their way.
      killing = killing.then(async () => {
        await Promise.all(killed.map(restart));
      });
      for (const agent of AGENTS) await events(agent, round(agent, number));
      if (number === 2) await indexer.stop();
      if (number === 4) await indexer.start();
    }
    await killing;
    await caughtUp();
    expect(Object.keys(actual())).to.have.length(13);
  });

  it('follow agents that are renamed while svc-monitord is away, and that are removed', async () => {
    await running.get('svc-monitord')?.stop('SIGKILL');
    await db.call('agents.update', { id: '003', changes: { name: 'renamed', version: 'Wazuh v4.14.1' } });
    await db.call('agents.remove', { ids: ['002'] });
    await start('svc-monitord');
    await caughtUp();
    const stats = async () => {
      const outputs = (await monitord.call('stats', {}))['outputs'] as Record<string, Record<string, unknown>>;
      return outputs['indexer states'] ?? {};
    };
    await eventually('everything is copied', async () => (await stats())['tables_to_copy'] === 0, PATIENCE_MS);
    expect(await stats()).to.include({ rejected: 0, available: true, agents_to_rewrite: 0 });
    const { metrics } = (await monitord.call('statistics.read', {})) as { metrics: { outputs: { name: string }[] } };
    expect(metrics.outputs.map(({ name }) => name)).to.deep.equal(['indexer states']);
  });

  it('are not noted any more when they are taken out of the configuration', async () => {
    const waiting = async () => JSON.stringify((await db.call('stats', {}))['inventory']).includes('"waiting":null');
    expect(await waiting()).to.equal(false);
    configure('<options><states>no</states></options>');
    await monitord.call('reload', {});
    await eventually('nobody follows', waiting, PATIENCE_MS);
  });
});
