import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import type { BusEvent } from '../../../lib/bus/bus-event.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { EventProducer } from '../../../lib/bus/event-producer.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { PipelineHome } from '../../support/analysisd/pipeline-kit.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { identity, KeepingSink, RemotedHome } from '../../support/remoted/remoted-home.js';
import { fileAttributes, fimEvent } from '../../support/syscheckd/fim-kit.js';

/** Events of the test; `SVC_FIM_EVENTS=200000` for a large run. */
const EVENTS = Number(process.env['SVC_FIM_EVENTS'] ?? 20_000);
const FILES = EVENTS / 5;
const KILLS = 4;
const PATIENCE_MS = 60_000;
const SECTIONS = '<journal><checkpoint_interval>1s</checkpoint_interval></journal>';

type Client = RequestClient<typeof dbContract>;

async function register(client: Client, id: string): Promise<void> {
  await client.call('agents.register', { id, name: `box${id}`, dateAdd: 1_700_000_000 });
}

describe('files of agents under kill -9', function () {
  this.timeout(180_000);
  const home = new PipelineHome(Date.now(), { sections: SECTIONS });
  const client: Client = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const daemons = new Map<'svc-db' | 'svc-analysisd', RunningDaemon>();
  let producer: EventProducer | undefined;

  afterEach(async () => {
    await producer?.close(0);
    for (const daemon of daemons.values()) await daemon.stop('SIGKILL');
  });
  after(() => {
    client.close();
    home.remove();
  });

  const start = async (name: 'svc-db' | 'svc-analysisd'): Promise<void> => {
    daemons.set(name, await RunningDaemon.start(name, home));
  };
  const restart = async (name: 'svc-db' | 'svc-analysisd'): Promise<void> => {
    await daemons.get(name)?.stop('SIGKILL');
    await start(name);
  };

  /** Each file is added, modified three times, and one in ten is deleted in the end; the others once more. */
  function event(index: number): BusEvent {
    const round = Math.floor(index / FILES);
    const file = index % FILES;
    const last = file % 10 === 0 ? 'deleted' : 'modified';
    const type = round === 0 ? 'added' : round === 4 ? last : 'modified';
    const attributes = fileAttributes({ content: `${file} ${round}`, mtime: 1_700_000_000 + round, inode: file });
    return {
      queue: '8',
      location: 'syscheck',
      message: Buffer.from(fimEvent(type, `/srv/${String(file)}`, attributes, 1_700_000_000 + round)),
      receivedAt: Date.now(),
      agent: { id: '001', name: 'box001', ip: 'any', labels: undefined },
    };
  }

  it('are stored once each: entries and numbers of changes are exactly right', async () => {
    mkdirSync(home.path('queue/db'), { recursive: true });
    await Promise.all([start('svc-db'), start('svc-analysisd')]);
    await register(client, '001');
    producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-test', logger: new RecordingLogger() });
    producer.start();
    const victims = ['svc-db', 'svc-analysisd'] as const;
    let killing = Promise.resolve();
    for (let index = 0; index < EVENTS; index += 1) {
      while (!producer.trySend(event(index))) await producer.ready();
      const part = Math.floor(EVENTS / (KILLS + 1));
      const victim = victims[Math.floor(index / part) % 2];
      if (victim === undefined || index % part !== part - 1 || index / part > KILLS) continue;
      // The last two go down together.
      const all = index / part > KILLS - 1 ? victims : [victim];
      killing = killing.then(() => Promise.all(all.map(restart))).then(() => undefined);
    }
    await killing;
    const left = FILES - FILES / 10;
    await eventually(
      'the last event is stored',
      async () => {
        const query = { agent: '001', limit: 1, q: 'date>2023-11-14 22:13:23;changes=5' };
        return (await client.call('fim.list', query).catch(() => undefined))?.total === left;
      },
      PATIENCE_MS,
    );
    const { items, total } = await client.call('fim.list', { agent: '001', limit: 100_000, sort: 'inode' });
    expect(total).to.equal(left);
    const expected = Array.from({ length: FILES }, (_none, file) => file).filter((file) => file % 10 !== 0);
    expect(items.map(({ file, changes, inode }) => [file, changes, inode])).to.deep.equal(
      expected.map((file) => [`/srv/${String(file)}`, 5, file]),
    );
    const { hash_sha1: hash } = fileAttributes({ content: '1 4', mtime: 1_700_000_004, inode: 1 });
    expect((await client.call('fim.list', { agent: '001', hash: String(hash) })).total).to.equal(1);
    const { hash_sha1: old } = fileAttributes({ content: '1 3', mtime: 1_700_000_003, inode: 1 });
    expect((await client.call('fim.list', { agent: '001', hash: String(old) })).total).to.equal(0);
  });
});

describe('synchronisation of files over svc-remoted', function () {
  this.timeout(60_000);
  const home = new RemotedHome();
  const sink = new KeepingSink(home);
  const key = identity(1);
  const client: Client = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const agent = new MinimalAgent(key);
  const daemons: RunningDaemon[] = [];

  after(async () => {
    agent.close();
    client.close();
    for (const daemon of daemons) await daemon.stop('SIGKILL');
    await sink.stop();
    home.remove();
  });

  it('goes as recorded (agent-transcript.md 6), and is no event', async () => {
    home.keys(key);
    mkdirSync(home.path('queue/db'), { recursive: true });
    await sink.start();
    daemons.push(await RunningDaemon.start('svc-db', home), await RunningDaemon.start('svc-remoted', home));
    await register(client, key.id);
    await agent.connect(daemons[1]?.port('agents_tcp') ?? 0);
    await agent.start();
    const answered = async (count: number): Promise<string | undefined> => {
      await agent.until('an answer', () => agent.received.length >= count);
      return agent.received[count - 1];
    };
    agent.event(
      'fim_file',
      '{"component":"fim_file","data":{"begin":"/fim/a.txt","checksum":"eb9193b0c923219f588640a38e0204088a0ca2a5","end":"/fim/b.txt","id":1795220397},"type":"integrity_check_global"}',
      '5',
    );
    expect(await answered(2)).to.equal(
      'fim_file dbsync no_data {"begin":"/fim/a.txt","end":"/fim/b.txt","id":1795220397}',
    );
    for (const state of [
      '{"component":"fim_file","data":{"attributes":{"attributes":"","checksum":"6bcb04a5d71e0bf79b4a195ee1aad6e3996a6d54","gid":"0","group_name":"root","hash_md5":"b1946ac92492d2347c6235b4d2611184","hash_sha1":"f572d396fae9206628714fb2ce00f72e94f2258f","hash_sha256":"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03","inode":"2303207","mtime":1795219946,"perm":"rw-r--r--","size":6,"type":"file","uid":"0","user_name":"root"},"index":"/fim/a.txt","timestamp":1795220397},"type":"state"}',
      '{"component":"fim_file","data":{"attributes":{"attributes":"","checksum":"8e167195a110d446caac80753a7238feeff056d3","gid":"0","group_name":"root","hash_md5":"c193497a1a06b2c72230e6146ff47080","hash_sha1":"7bbef45b3bc70855010e02460717643125c3beca","hash_sha256":"27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a","inode":"2303208","mtime":1795219946,"perm":"rw-r--r--","size":4,"type":"file","uid":"0","user_name":"root"},"index":"/fim/b.txt","timestamp":1795220397},"type":"state"}',
    ]) {
      agent.event('fim_file', state, '5');
    }
    const again = (checksum: string, id: number): void => {
      agent.event(
        'fim_file',
        `{"component":"fim_file","data":{"begin":"/fim/a.txt","checksum":"${checksum}","end":"/fim/b.txt","id":${String(id)}},"type":"integrity_check_global"}`,
        '5',
      );
    };
    // One that agrees is not answered: the next answer is that of the one which does not.
    again('eb9193b0c923219f588640a38e0204088a0ca2a5', 1_795_220_697);
    again('0000000000000000000000000000000000000000', 1_795_220_997);
    expect(await answered(3)).to.equal(
      'fim_file dbsync checksum_fail {"begin":"/fim/a.txt","end":"/fim/b.txt","id":1795220997}',
    );
    agent.event('syscheck', '{"type":"scan_end","data":{"timestamp":1795220397}}', '8');
    await eventually('the event', () => sink.texts(key.id).length >= 1);
    expect(sink.texts(key.id)).to.deep.equal(['{"type":"scan_end","data":{"timestamp":1795220397}}']);
    const { items } = await client.call('fim.list', { agent: key.id, sort: '-file', select: ['inode', 'date'] });
    expect(items).to.deep.equal([
      { file: '/fim/b.txt', inode: 2_303_208, date: '2026-11-21T00:19:57Z' },
      { file: '/fim/a.txt', inode: 2_303_207, date: '2026-11-21T00:19:57Z' },
    ]);
    await client.call('agents.remove', { ids: [key.id] });
    expect((await client.call('fim.list', { agent: key.id })).total).to.equal(0);
  });
});
