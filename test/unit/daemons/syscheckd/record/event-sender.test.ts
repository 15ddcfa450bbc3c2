import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { EventSender, type PaceClock } from '../../../../../daemons/syscheckd/record/event-sender.js';
import { FileStore } from '../../../../../daemons/syscheckd/store/file-store.js';
import type { OutEvent } from '../../../../../daemons/syscheckd/store/outbox.js';
import { EventProducer } from '../../../../../lib/bus/event-producer.js';
import { EventSink } from '../../../../../lib/bus/event-sink.js';
import { MemoryStreamPositions } from '../../../../../lib/bus/stream-positions.js';
import { StoreError } from '../../../../../lib/store/store-error.js';
import { RecordingJournal } from '../../../../support/bus/bus-events.js';
import { eventually } from '../../../../support/eventually.js';
import { memoryDirectory } from '../../../../support/memory-directory.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';

const event = (text: string, queue: OutEvent['queue'] = '8'): OutEvent => ({
  queue,
  location: 'syscheck',
  message: Buffer.from(text),
});

/** Goes on only when it is slept by. */
class PaceOfTest implements PaceClock {
  time = 0;
  readonly naps: number[] = [];
  now = (): number => this.time;
  sleep = (ms: number): Promise<void> => {
    this.naps.push(ms);
    this.time += ms;
    return Promise.resolve();
  };
}

describe('sender of events', () => {
  let directory: string;
  let store: FileStore;
  let positions: MemoryStreamPositions;
  let journal: RecordingJournal;
  let sink: EventSink | undefined;
  let producer: EventProducer;
  let sender: EventSender;
  let clock: PaceOfTest;
  let maxEps: number;
  const logger = new RecordingLogger();
  const failures: unknown[] = [];
  const failed = (error: unknown): void => void failures.push(error);

  beforeEach(async () => {
    directory = mkdtempSync(join(memoryDirectory(), 'svc-sender-'));
    positions = new MemoryStreamPositions();
    journal = new RecordingJournal();
    maxEps = 0;
    clock = new PaceOfTest();
    logger.lines.length = 0;
    failures.length = 0;
    await openStore();
  });

  afterEach(async () => {
    await stop();
    await sink?.stop();
    sink = undefined;
    rmSync(directory, { recursive: true, force: true });
  });

  async function openStore(): Promise<void> {
    store = await FileStore.open(join(directory, 'db'), logger);
    producer = new EventProducer({ path: join(directory, 'events.sock'), daemon: 'test', logger });
    sender = new EventSender({ outbox: store.outbox, producer, maxEps: () => maxEps, logger, failed, clock });
    producer.start();
    sender.start();
  }

  async function startSink(): Promise<void> {
    sink = new EventSink({ path: join(directory, 'events.sock'), onBatch: journal.append, positions, logger });
    await sink.start();
  }

  async function stop(drainMs = 2000): Promise<void> {
    await sender.stop(() => producer.close(drainMs));
    await store.close();
  }

  const arrived = (count: number): Promise<boolean> =>
    eventually(`${count} events`, () => journal.texts.length >= count);
  const cleared = (): Promise<boolean> => eventually('the outbox is empty', () => store.outbox.size === 0);

  it('brings them in order and takes out what is acknowledged', async () => {
    await startSink();
    const texts = Array.from({ length: 1000 }, (_, index) => `event ${index}`);
    for (const text of texts.slice(0, 3)) await store.outbox.put([event(text)]);
    await store.outbox.put(texts.slice(3).map((text) => event(text)));
    await arrived(1000);
    expect(journal.texts).to.deep.equal(texts);
    const [first] = journal.batches[0]!.events;
    expect(first).to.include({ queue: '8', location: 'syscheck', sequence: 1 });
    expect(first!.stream).to.match(/^svc-syscheckd:[0-9a-f-]{36}$/);
    await cleared();
    expect(store.outbox.bytes).to.equal(0);
  });

  it('keeps them over restarts while there is no sink, and goes on where the sink is', async () => {
    await store.outbox.put([event('one'), event('two')]);
    await stop(0);
    await openStore();
    await store.outbox.put([event('three')]);
    const { name } = store.outbox;
    // The sink had two of them before: what took them out did not reach the disk.
    positions.set(name, 2);
    await startSink();
    await arrived(1);
    await cleared();
    await stop();
    await openStore();
    expect(store.outbox.name).to.equal(name);
    await store.outbox.put([event('four')]);
    await arrived(2);
    expect(journal.texts).to.deep.equal(['three', 'four']);
    expect(journal.batches.at(-1)!.events[0]).to.include({ sequence: 4, stream: name });
  });

  it('takes another name when the sink knows more than was ever given out', async () => {
    await store.outbox.put([event('one')]);
    const { name } = store.outbox;
    positions.set(name, 7);
    await startSink();
    await arrived(1);
    expect(journal.texts).to.deep.equal(['one']);
    expect(store.outbox.name).to.not.equal(name);
    expect(logger.lines.join()).to.contain('the state is older than the sink');
    await cleared();
  });

  it('says when the sink has lost what it had acknowledged, and goes on', async () => {
    await startSink();
    await store.outbox.put([event('one'), event('two')]);
    await cleared();
    await stop();
    positions.set(store.outbox.name, 1);
    await openStore();
    await store.outbox.put([event('three')]);
    await arrived(3);
    expect(journal.texts).to.deep.equal(['one', 'two', 'three']);
    expect(logger.lines).to.include('warn: The sink has lost 1 events of files that it had acknowledged');
  });

  it('keeps what the sink does not take', async () => {
    journal.failure = 'disk full';
    await startSink();
    await store.outbox.put([event('one')]);
    await eventually('it was refused', () => sink!.counters.refused > 0);
    expect(store.outbox.size).to.equal(1);
    journal.failure = undefined;
    await cleared();
    expect(journal.texts).to.deep.equal(['one']);
  });

  it('says that it cannot go on when the outbox cannot be read', async () => {
    await startSink();
    const damage = new StoreError('damaged', 'the outbox is not what it should be');
    store.outbox.behind = () => {
      throw damage;
    };
    await store.outbox.put([event('one')]);
    await eventually('it is told', () => failures.length > 0);
    expect(failures).to.deep.equal([damage]);
    expect(logger.lines).to.include(`error: Events of files are not sent any more: ${damage.message}`);
  });

  it('sends so many events of queue 8 in a second, and the others at once', async () => {
    maxEps = 10;
    await startSink();
    await store.outbox.put(Array.from({ length: 25 }, (_, index) => event(`event ${index}`)));
    await store.outbox.put(Array.from({ length: 25 }, () => event('notice', '1')));
    await arrived(50);
    expect(clock.naps).to.deep.equal([1000, 1000]);
    maxEps = 0;
    await store.outbox.put(Array.from({ length: 100 }, () => event('more')));
    await arrived(150);
    expect(clock.naps).to.have.length(2);
  });
});
