import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { BusError } from '../../../../lib/bus/bus-error.js';
import { EventProducer } from '../../../../lib/bus/event-producer.js';
import { EventSink } from '../../../../lib/bus/event-sink.js';
import { RequestClient } from '../../../../lib/bus/request-client.js';
import { MemoryStreamPositions } from '../../../../lib/bus/stream-positions.js';
import { RecordingJournal, sampleEvent } from '../../../support/bus/bus-events.js';
import { sampleContract } from '../../../support/bus/sample-contract.js';
import { BusChild } from '../../../support/bus/spawn-bus-child.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

/** Longer than a test may take: whoever waits for this deadline fails. */
const PATIENT = { deadlineMs: 600_000 };

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('kill -9 on the bus', function () {
  // A dozen processes are started, one after the other.
  this.timeout(180_000);

  let home: TemporaryHome;
  let logger: RecordingLogger;
  const children: BusChild[] = [];
  const start = async (...args: Parameters<typeof BusChild.start>): Promise<BusChild> => {
    const child = await BusChild.start(...args);
    children.push(child);
    return child;
  };

  beforeEach(() => {
    home = new TemporaryHome();
    logger = new RecordingLogger();
  });
  afterEach(async () => {
    for (const child of children.splice(0)) if (!child.ended) await child.signal('SIGKILL');
    home.remove();
  });

  it('of the sink loses no acknowledged event and doubles none', async () => {
    const journal = home.path('queue', 'journal');
    let sink = await start('sink', home.eventsSocket(), journal);
    const producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-apid', logger });
    producer.start();
    let given = 0;
    let acknowledged = 0;
    let stop = false;
    const sending = (async () => {
      while (!stop) {
        await producer.ready();
        for (let count = 0; count < 20 && producer.room > 0; count += 1) {
          void producer.send(sampleEvent(`${given++}`)).then(() => acknowledged++);
        }
        await pause(1);
      }
    })();
    for (let kill = 0; kill < 3; kill += 1) {
      const before = acknowledged;
      await eventually('events flow', () => acknowledged > before + 50);
      await pause(Math.random() * 20);
      await sink.signal('SIGKILL');
      // One that is killed when events are in its journal and nobody was told.
      const mute = await start('mute', home.eventsSocket(), journal);
      await eventually('it has events', () => mute.appended);
      const known = producer.counters.duplicates;
      await mute.signal('SIGKILL');
      sink = await start('sink', home.eventsSocket(), journal);
      await eventually('the producer learns what is there', () => producer.counters.duplicates > known);
    }
    stop = true;
    await sending;
    await eventually('all are acknowledged', () => acknowledged === given);
    await producer.close();
    const texts = readFileSync(journal, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .flatMap((line) => (JSON.parse(line) as { texts: string[] }).texts);
    expect(texts).to.deep.equal(Array.from({ length: given }, (_, index) => `${index}`));
  });

  it('of a follower of a file loses no line and doubles none', async () => {
    const lines = Array.from({ length: 12_000 }, (_, index) => `line ${index} ${'x'.repeat(index % 50)}`);
    const file = home.path('tmp', 'followed.log');
    writeFileSync(file, `${lines.join('\n')}\n`);
    const journal = new RecordingJournal();
    /** Behind so many lines the sink takes none until the kill has been. */
    const kills = [2000, 4000, 6000];
    const sink = new EventSink({
      path: home.eventsSocket(),
      onBatch: async (batch) => {
        await eventually('the kill has been', () => journal.texts.length <= (kills[0] ?? lines.length));
        await journal.append(batch);
        await pause(2);
      },
      positions: new MemoryStreamPositions(),
      logger,
      // Fewer than there are between two kills.
      maxGroupEvents: 1000,
    });
    await sink.start();
    let child = await start('follow', home.eventsSocket(), file);
    for (let reached = kills[0]; reached !== undefined; reached = kills[0]) {
      const many = reached;
      await eventually('lines arrive', () => journal.texts.length > many || child.ended);
      expect(child.done, 'it has lines left').to.equal(false);
      await child.signal('SIGKILL');
      kills.shift();
      child = await start('follow', home.eventsSocket(), file);
    }
    await eventually('it is done', () => child.done || child.ended);
    await sink.stop();
    expect(journal.texts).to.deep.equal(lines);
  });

  it('of a server ends its calls at once, and the client goes on with the next server', async () => {
    const path = home.socket('svc-db');
    const client = new RequestClient({ contract: sampleContract, path });
    for (let kill = 0; kill < 3; kill += 1) {
      const server = await start('server', path);
      expect(await client.call('add', { a: kill })).to.equal(kill + 1);
      const calls = Array.from({ length: 50 }, () => client.call('wait', { ms: 600_000 }, PATIENT));
      const ended = Promise.allSettled(calls);
      await eventually('calls are running', async () => (await client.call('add', { a: 1 })) === 2);
      await server.signal('SIGKILL');
      for (const result of await ended) {
        expect(result.status === 'rejected' && (result.reason as BusError).code).to.equal('unavailable');
      }
      const error: unknown = await client.call('ping', {}, PATIENT).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(BusError).and.to.include({ code: 'unavailable' });
    }
    client.close();
  });

  it('is not needed: a server that hangs is unavailable to new callers, whatever their deadline', async () => {
    const path = home.socket('svc-db');
    const server = await start('server', path);
    await server.signal('SIGSTOP');
    const client = new RequestClient({ contract: sampleContract, path });
    const error: unknown = await client.call('ping', {}, PATIENT).catch((reason: unknown) => reason);
    expect(error).to.include({
      code: 'unavailable',
      message: `svc-db is not available: the process that holds '${path}' does not answer`,
    });
    await server.signal('SIGCONT');
    expect(await client.call('add', { a: 1 })).to.equal(2);
    client.close();
  });
});
