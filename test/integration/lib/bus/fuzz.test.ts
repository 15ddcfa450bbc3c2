import { expect } from 'chai';
import fc from 'fast-check';
import { Dealer, Router } from 'zeromq';
import { MessageError } from '../../../../lib/bus/check-message.js';
import {
  BatchEncoder,
  decodeFromProducer,
  decodeFromSink,
  encodeAck,
  encodeHello,
  encodeNack,
  encodeWelcome,
} from '../../../../lib/bus/event-frames.js';
import { EventProducer } from '../../../../lib/bus/event-producer.js';
import { EventSink } from '../../../../lib/bus/event-sink.js';
import { decodeMessage, encodeMessage } from '../../../../lib/bus/message-codec.js';
import { probeSocket } from '../../../../lib/bus/probe-socket.js';
import { RequestClient } from '../../../../lib/bus/request-client.js';
import { RequestServer } from '../../../../lib/bus/request-server.js';
import { SourceMemory } from '../../../../lib/bus/source-memory.js';
import { MemoryStreamPositions } from '../../../../lib/bus/stream-positions.js';
import { RecordingJournal, sampleEvent } from '../../../support/bus/bus-events.js';
import { sampleContract, sampleHandlers } from '../../../support/bus/sample-contract.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

/** A valid batch with every kind of cell. */
function sampleBatch(): Buffer {
  const encoder = new BatchEncoder();
  const agent = { id: '001', name: 'web', ip: 'any', labels: new Map([['team', 'blue']]) };
  encoder.add('svc-x:1', 0, 1, sampleEvent('one', { agent }));
  encoder.add('2049:1:1', 10, 20, sampleEvent('two', { idempotency: { key: 'k', index: 0 } }));
  return encoder.finish(3);
}

const REQUESTS = [
  encodeMessage({ id: 1, method: 'add', params: { a: 1, b: 2 } }),
  encodeMessage({ id: 2, method: 'config', params: { section: 'wdb' }, deadline: 1e15 }),
  encodeMessage({ id: 3, method: 'echo', params: [null, true, { deep: [[[]]] }] }),
];
const PRODUCER_FRAMES = [encodeHello(1, [{ stream: 'svc-x:1', position: 0 }]), sampleBatch()];
const SINK_FRAMES = [
  encodeWelcome(1, [{ stream: 'svc-x:1', position: 5 }]),
  encodeAck(0, 0),
  encodeNack(0, 'busy', 'many'),
];
/** Plain data that looks like the protocol and is not. */
const IMITATIONS: unknown[] = [
  null,
  [],
  {},
  [1],
  [2],
  [2, 0],
  [2, 0, [['s', 0]], [['1', 'l', null]], [0, 1, 1, 'length', Buffer.alloc(1), null]],
  [2, 0, [['s', 0]], [['1', 'l', null]], ['length', 1, 1, 0, Buffer.alloc(1), null]],
  [2, 0, [['s', 0]], [['1', 'l', [1, 2, 3]]], []],
  [2, 0, [['s', 9]], [['1', 'l', null]], [0, 9, 1, 0, Buffer.alloc(1), null]],
  [2, 0, [['s', 0]], [['1', 'l', null]], [0, 1, NaN, 0, Buffer.alloc(1), null]],
  [2, 0, [['s', 0]], [['1', 'l', null]], [0, 1, 1, 0, 'text', null]],
  [2, 0, [['s', 0]], [['11', 'l', null]], [0, 1, 1, 0, Buffer.alloc(1), null]],
  [2, 0, [['s', 0]], [['1', '\u2603', null]], [0, 1, 1, 0, Buffer.alloc(1), null]],
  [2, 0, [['s', 0]], [['1', 'l', null]], [0, 1, 1, 0, Buffer.alloc(1), ['', 0]]],
  [1, 1, [['bad name', 0]]],
  [1, 1, [['s', -1]]],
  [1, 1, [['s', 1.5]]],
  [9, 1, []],
  { id: 'x', method: 'add' },
  { id: -1, method: 'add' },
  { id: 5 },
  { id: 6, method: 7 },
  { id: 7, method: 'x'.repeat(1000) },
  { id: 8, method: 'add', deadline: 'soon' },
  { id: 9, method: '__proto__', params: {} },
  { id: 10, method: 'constructor', params: {} },
  { id: 11, error: null },
  { id: 12, error: { code: 1, message: 2 } },
];

/** Random bytes, valid frames with some bytes changed or cut, and imitations. */
function hostileFrames(valid: readonly Buffer[]): fc.Arbitrary<Buffer> {
  const mutated = fc
    .tuple(
      fc.constantFrom(...valid),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      fc.nat(5),
    )
    .map(([frame, changes, cut]) => {
      const copy = Buffer.from(frame);
      for (const [at, byte] of changes) copy[at % copy.length] = byte;
      return copy.subarray(0, copy.length - (cut === 5 ? 0 : cut));
    });
  return fc.oneof(
    fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
    mutated,
    fc.constantFrom(...IMITATIONS).map(encodeMessage),
  );
}

describe('hostile frames on the bus', () => {
  let home: TemporaryHome;
  const logger = new RecordingLogger();
  const closing: (() => unknown)[] = [];

  beforeEach(() => {
    home = new TemporaryHome();
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    home.remove();
  });

  it('are read or refused with a MessageError, from either side', () => {
    const frames = hostileFrames([...PRODUCER_FRAMES, ...SINK_FRAMES]);
    const read = (decode: (frame: Buffer) => unknown) => (frame: Buffer) => {
      try {
        decode(frame);
      } catch (error) {
        expect(error).to.be.instanceOf(MessageError);
      }
    };
    fc.assert(
      fc.property(
        frames,
        read((frame) => decodeFromProducer(frame, new SourceMemory())),
      ),
      { numRuns: 5000 },
    );
    fc.assert(fc.property(frames, read(decodeFromSink)), { numRuns: 2000 });
  });

  for (const imitation of IMITATIONS.slice(5, 15)) {
    it(`are never taken for a batch: ${JSON.stringify(imitation)}`, () => {
      expect(() => decodeFromProducer(encodeMessage(imitation), new SourceMemory())).to.throw(MessageError);
    });
  }

  it('do not harm a server', async () => {
    const path = home.socket('svc-db');
    const server = new RequestServer({ contract: sampleContract, handlers: sampleHandlers(), path, logger });
    await server.start();
    const client = new RequestClient({ contract: sampleContract, path });
    const dealer = new Dealer({ linger: 0 });
    closing.push(
      () => server.stop(0),
      () => {
        client.close();
        dealer.close();
      },
    );
    dealer.connect(`ipc://${path}`);
    const frames = fc.sample(hostileFrames(REQUESTS), 3000);
    for (const frame of frames) await dealer.send(frame);
    for (const parts of [[], [''], ['a', 'b'], ['', '', '']]) await dealer.send([...parts, 'x', REQUESTS[0]!]);
    await eventually('all were read', () => server.counters.received === frames.length + 4);
    const { answered, failed, malformed, expired } = server.counters;
    expect(answered + failed + malformed + expired).to.equal(frames.length + 4);
    expect(malformed).to.be.greaterThan(500);
    expect(failed).to.be.greaterThan(100);
    expect(await client.call('add', { a: 20, b: 22 })).to.equal(42);
  });

  it('do not harm a sink, nor get into the journal by halves', async () => {
    const journal = new RecordingJournal();
    const path = home.eventsSocket();
    const sink = new EventSink({ path, onBatch: journal.append, positions: new MemoryStreamPositions(), logger });
    await sink.start();
    const producer = new EventProducer({ path, daemon: 'svc-apid', logger });
    producer.start();
    const dealer = new Dealer({ linger: 0 });
    closing.push(
      () => sink.stop(),
      () => producer.close(0),
      () => {
        dealer.close();
      },
    );
    dealer.connect(`ipc://${path}`);
    const frames = fc.sample(hostileFrames(PRODUCER_FRAMES), 3000);
    for (const frame of frames) await dealer.send(frame);
    for (const parts of [[''], ['a', 'b'], ['', '', '']]) await dealer.send([...parts, PRODUCER_FRAMES[1]!]);
    await producer.send(sampleEvent('still alive'));
    await eventually('all were read', () => sink.counters.malformed > 1000);
    expect(journal.texts).to.include('still alive');
    for (const event of journal.batches.flatMap((batch) => batch.events)) {
      expect(event.queue).to.have.length(1);
      expect(event.location).to.be.a('string');
      expect(event.message).to.be.instanceOf(Buffer);
      expect(event.sequence).to.satisfy(Number.isSafeInteger);
    }
  });

  it('do not harm a client: it waits for the answer among them', async () => {
    const path = home.socket('svc-db');
    const router = new Router({ linger: 0, mandatory: true });
    await router.bind(`ipc://${path}`);
    const client = new RequestClient({ contract: sampleContract, path });
    closing.push(
      () => {
        router.close();
      },
      () => {
        client.close();
      },
    );
    const call = client.call('add', { a: 1, b: 2 });
    const [peer, request] = await router.receive();
    const { id } = decodeMessage(request!) as { id: number };
    const frames = fc
      .sample(hostileFrames(REQUESTS), 1000)
      // What happens to be an answer to this very call is no garbage.
      .filter((frame) => !frame.includes(encodeMessage({ id }).subarray(1)));
    for (const frame of frames) await router.send([peer!, frame]);
    await router.send([peer!, 'two', 'frames']);
    await router.send([peer!, encodeMessage({ id, result: 3 })]);
    expect(await call).to.equal(3);
    expect(client.counters.malformed).to.be.greaterThan(100);
  });

  it('do not harm a producer: it goes on and loses nothing', async () => {
    const path = home.eventsSocket();
    const router = new Router({ linger: 0, mandatory: true });
    await router.bind(`ipc://${path}`);
    const producer = new EventProducer({ path, daemon: 'svc-apid', logger });
    producer.start();
    const sent = producer.send(sampleEvent('one'));
    const [peer] = await router.receive();
    // Acknowledgements and refusals of batches it never sent, and welcomes to greetings it never made.
    const frames = fc.sample(
      hostileFrames([encodeAck(900, 0), encodeNack(900, 'gap', 'x'), encodeWelcome(900, [])]),
      1000,
    );
    for (const frame of frames) await router.send([peer!, frame]);
    await router.send([peer!, 'two', 'frames']);
    await eventually('all were read', () => producer.counters.malformed > 100);
    await router.unbind(`ipc://${path}`);
    router.close();
    await eventually('the false sink is gone', async () => !(await probeSocket(path, 1000)).listening);

    const journal = new RecordingJournal();
    const sink = new EventSink({ path, onBatch: journal.append, positions: new MemoryStreamPositions(), logger });
    closing.push(
      () => sink.stop(),
      () => producer.close(0),
    );
    await sink.start();
    await sent;
    expect(journal.texts).to.deep.equal(['one']);
  });
});
