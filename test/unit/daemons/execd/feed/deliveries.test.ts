import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Deliveries } from '../../../../../daemons/execd/feed/deliveries.js';
import { ResponseStore } from '../../../../../daemons/execd/response-store.js';
import { BusError } from '../../../../../lib/bus/bus-error.js';
import { eventually } from '../../../../support/eventually.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';

type Sending = { readonly ids: readonly string[]; readonly message: string };

/** svc-db and svc-remoted as far as deliveries ask them. */
class Peers {
  readonly versions = new Map<string, string | undefined>();
  readonly active: string[] = [];
  readonly away = new Set<string>();
  readonly sent: string[] = [];
  readonly tried: string[] = [];
  down = false;
  refuse: BusError | undefined;

  db = {
    call: (method: string, params: { ids?: string[] }) => {
      if (this.down) return Promise.reject(new BusError('unavailable', 'svc-db is not available'));
      if (method === 'agents.ids') return Promise.resolve({ ids: ['000', ...this.active] });
      const ids = params.ids ?? [];
      const known = ids.filter((id) => this.versions.has(id));
      return Promise.resolve({
        items: known.map((id) => ({ id, version: this.versions.get(id) })),
        unknown: ids.filter((id) => !this.versions.has(id)),
      });
    },
  };

  remoted = {
    call: (_method: string, { ids, message }: Sending) => {
      this.tried.push(...ids);
      if (this.refuse !== undefined) return Promise.reject(this.refuse);
      const there = ids.filter((id) => !this.away.has(id));
      this.sent.push(
        ...there.map((id) => `${id} ${message.replace(/^execd (\{.*"command":)?"?([a-z]+\d+).*$/, '$2')}`),
      );
      const failed = ids.filter((id) => this.away.has(id)).map((id) => ({ id, code: 'disconnected', message: 'away' }));
      return Promise.resolve({ sent: there.length, failed });
    },
  };
}

describe('deliveries of responses to agents', () => {
  let directory: string;
  let store: ResponseStore;
  let peers: Peers;
  let deliveries: Deliveries;
  let logger: RecordingLogger;
  let now: number;

  const begin = () => {
    deliveries = new Deliveries({
      store: store.feed,
      db: peers.db as never,
      remoted: peers.remoted as never,
      node: () => 'node01',
      logger,
      now: () => now,
      retryMs: 5,
    });
    deliveries.start((error) => {
      logger.critical(String(error));
    });
  };
  const restart = async () => {
    await deliveries.stop();
    begin();
  };
  const add = (command: string, agents: readonly string[], all = false) =>
    deliveries.add({ command, extraArgs: [], alert: '{}', expires: now + 60_000 }, { agents: [...agents], all }, [
      store.feed.positions.put('responses', { file: command, offset: 1 }),
    ]);
  const done = () => eventually('everything is delivered', () => deliveries.waiting === 0);

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'deliveries-'));
    store = await ResponseStore.open(directory);
    peers = new Peers();
    logger = new RecordingLogger();
    now = 1_800_000_000_000;
    for (const id of ['001', '002', '003']) peers.versions.set(id, 'Wazuh v4.14.7');
    begin();
  });
  afterEach(async () => {
    await deliveries.stop();
    await store.close();
    rmSync(directory, { recursive: true });
    expect(logger.lines.filter((line) => line.startsWith('critical'))).to.deep.equal([]);
  });

  it('send each agent what its version takes, once, and forget it', async () => {
    peers.versions.set('002', 'Wazuh v4.1.5');
    await add('lock60', ['001', '002']);
    await done();
    expect(peers.sent).to.deep.equal(['001 lock60', '002 lock60']);
    expect([...store.feed.orders.entries(), ...store.feed.recipients.entries()]).to.deep.equal([]);
    expect(store.feed.positions.get('responses')).to.deep.equal({ file: 'lock60', offset: 1 });
    expect(deliveries.counts).to.deep.equal({ sent: 2, dropped: 0 });
  });

  it('wait for agents that are away, over a restart, in the order of what was decided', async () => {
    peers.away.add('001');
    await add('lock1', ['001', '002']);
    await add('lock2', ['001']);
    await eventually('the other has it', () => peers.sent.length === 1);
    await restart();
    await eventually('it is tried again', () => peers.tried.filter((id) => id === '001').length > 3);
    expect(deliveries.waiting).to.equal(2);
    peers.away.clear();
    await done();
    expect(peers.sent).to.deep.equal(['002 lock1', '001 lock1', '001 lock2']);
  });

  it('name all agents that are active when they are sent to', async () => {
    peers.down = true;
    await add('lock60', ['003'], true);
    peers.active.push('001', '003');
    peers.down = false;
    await done();
    expect(peers.sent.sort()).to.deep.equal(['001 lock60', '003 lock60']);
    await add('lock61', [], true);
    peers.active.length = 0;
    await done();
  });

  it('wait for the daemons they ask, and say once that they do, and once that it is over', async () => {
    peers.down = true;
    await add('lock60', ['001']);
    await eventually('it failed', () => logger.lines.length > 0);
    await restart();
    peers.down = false;
    await done();
    expect(peers.sent).to.deep.equal(['001 lock60']);
    peers.refuse = new BusError('unavailable', 'svc-remoted is not available');
    await add('lock61', ['001']);
    await eventually('it failed several times', () => peers.tried.length > 4);
    peers.refuse = undefined;
    await done();
    await eventually('it is said', () => logger.lines.some((line) => line.includes('again')));
    const said = logger.lines.filter((line) => line.includes('svc-remoted') || line.includes('again'));
    expect(said.slice(-2)).to.deep.equal([
      'warn: Active responses for agents wait: svc-remoted is not available',
      'info: Active responses are brought to agents again.',
    ]);
  });

  it('give up what nobody needs any more, what no agent takes, and agents that are gone, and say so', async () => {
    peers.away.add('001');
    await add('lock60', ['001', '099']);
    await eventually('the unknown one is given up', () => deliveries.counts.dropped === 1);
    now += 60_001;
    await done();
    expect(deliveries.counts).to.deep.equal({ sent: 0, dropped: 2 });
    expect(logger.lines[0]).to.equal(
      "warn: Active response 'lock60' is not sent to agents 099: there is no such agent.",
    );
    peers.away.clear();
    peers.refuse = new BusError('bad_message', 'too long');
    await add('lock61', ['001', '002']);
    await done();
    expect(deliveries.counts.dropped).to.equal(4);
    expect([...store.feed.orders.entries()]).to.deep.equal([]);
  });

  it('wait for an agent whose version is not known', async () => {
    peers.versions.set('001', undefined);
    await add('lock60', ['001']);
    await eventually('it was looked at', () =>
      logger.lines.some((line) => line.includes('Unable to read agent version')),
    );
    peers.versions.set('001', 'Wazuh v4.9.0');
    await done();
    expect(peers.sent).to.deep.equal(['001 lock60']);
  });
});
