import { expect } from 'chai';
import { Dealer, Router } from 'zeromq';
import { MAX_BATCH_EVENTS, MAX_EVENT_BYTES, MAX_GROUP_BYTES } from '../../../../lib/bus/bus-limits.js';
import {
  type Ack,
  BatchEncoder,
  decodeFromProducer,
  decodeFromSink,
  encodeAck,
  encodeHello,
  encodeNack,
  encodeWelcome,
  type Nack,
  type Welcome,
} from '../../../../lib/bus/event-frames.js';
import { EventProducer } from '../../../../lib/bus/event-producer.js';
import { EventSink } from '../../../../lib/bus/event-sink.js';
import { encodeMessage } from '../../../../lib/bus/message-codec.js';
import { SourceMemory } from '../../../../lib/bus/source-memory.js';
import { MemoryStreamPositions } from '../../../../lib/bus/stream-positions.js';
import { RecordingJournal, sampleEvent } from '../../../support/bus/bus-events.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const STREAM = '2049:5:1';

/** A batch of one stream: after `previous`, one event a sequence. */
function batch(number: number, previous: number, sequences: readonly number[], stream = STREAM): Buffer {
  const encoder = new BatchEncoder();
  let before = previous;
  for (const sequence of sequences) {
    encoder.add(stream, before, sequence, sampleEvent(`${sequence}`));
    before = sequence;
  }
  return encoder.finish(number);
}

describe('the event sink, frame by frame', () => {
  let home: TemporaryHome;
  let journal: RecordingJournal;
  let positions: MemoryStreamPositions;
  let sink: EventSink;
  let dealer: Dealer;

  const say = (frame: Buffer) => dealer.send(frame);
  const hear = async (): Promise<Welcome | Ack | Nack> => {
    const [frame] = await dealer.receive();
    return decodeFromSink(frame!);
  };
  const ask = async (frame: Buffer): Promise<Welcome | Ack | Nack> => {
    await say(frame);
    return hear();
  };

  beforeEach(async () => {
    home = new TemporaryHome();
    journal = new RecordingJournal();
    positions = new MemoryStreamPositions();
    sink = new EventSink({
      path: home.eventsSocket(),
      onBatch: journal.append,
      positions,
      logger: new RecordingLogger(),
    });
    await sink.start();
    dealer = new Dealer({ linger: 0, receiveTimeout: 5000 });
    dealer.connect(`ipc://${home.eventsSocket()}`);
  });
  afterEach(async () => {
    journal.release();
    dealer.close();
    await sink.stop();
    home.remove();
  });

  it('says where to go on, and believes a producer that knows more', async () => {
    positions.set('old', 70);
    const streams = [
      { stream: 'old', position: 30 },
      { stream: 'new', position: 12 },
    ];
    expect(await ask(encodeHello(4, streams))).to.deep.equal({
      kind: 'welcome',
      token: 4,
      streams: [
        { stream: 'old', position: 70 },
        { stream: 'new', position: 12 },
      ],
    });
    await ask(encodeHello(5, [{ stream: 'old', position: 90 }]));
    expect([positions.get('old'), positions.get('new')]).to.deep.equal([90, 12]);
  });

  it('takes no batch of a stream it has not heard of', async () => {
    expect(await ask(batch(0, 0, [1]))).to.include({ kind: 'nack', number: 0, code: 'unknown_stream' });
    expect(journal.texts).to.deep.equal([]);
  });

  it('takes no batch that follows on a missing one', async () => {
    await ask(encodeHello(1, [{ stream: STREAM, position: 0 }]));
    expect(await ask(batch(0, 0, [10, 20]))).to.deep.equal({ kind: 'ack', number: 0, duplicates: 0 });
    expect(await ask(batch(2, 30, [40]))).to.include({ kind: 'nack', number: 2, code: 'gap' });
    expect(await ask(batch(1, 20, [30]))).to.include({ kind: 'ack', number: 1 });
    expect(await ask(batch(3, 30, [40]))).to.include({ kind: 'ack', number: 3 });
    expect(journal.texts).to.deep.equal(['10', '20', '30', '40']);
  });

  it('sends everything back that was on its way behind a failed batch', async () => {
    await ask(encodeHello(1, [{ stream: STREAM, position: 0 }]));
    journal.hold();
    journal.failure = 'no space left on device';
    await say(batch(0, 0, [1]));
    await eventually('it is being appended', () => journal.begun === 1);
    await say(batch(1, 1, [2]));
    await eventually('the next one waits', () => sink.waiting === 1);
    journal.release();
    expect(await hear()).to.deep.equal({ kind: 'nack', number: 0, code: 'failed', message: 'no space left on device' });
    expect(await hear()).to.include({ kind: 'nack', number: 1, code: 'failed' });
    journal.failure = undefined;
    expect(await ask(batch(2, 2, [3]))).to.include({ kind: 'nack', number: 2, code: 'gap' });
    expect(await ask(batch(3, 0, [1, 2, 3]))).to.include({ kind: 'ack', number: 3 });
    expect(journal.texts).to.deep.equal(['1', '2', '3']);
  });

  it('acknowledges a repeated batch only when the first of its kind is safe', async () => {
    await ask(encodeHello(1, [{ stream: STREAM, position: 0 }]));
    journal.hold();
    await say(batch(0, 0, [1, 2]));
    await say(batch(1, 0, [1, 2, 3]));
    expect(await ask(encodeHello(2, [{ stream: STREAM, position: 0 }]))).to.deep.include({
      kind: 'welcome',
      streams: [{ stream: STREAM, position: 0 }],
    });
    expect(journal.texts).to.deep.equal([]);
    journal.release();
    expect(await hear()).to.deep.equal({ kind: 'ack', number: 0, duplicates: 0 });
    expect(await hear()).to.deep.equal({ kind: 'ack', number: 1, duplicates: 2 });
    expect(journal.texts).to.deep.equal(['1', '2', '3']);
    expect(positions.get(STREAM)).to.equal(3);
  });

  it('hands on no more bytes in one go than a record of the journal has room for', async () => {
    await ask(encodeHello(1, [{ stream: STREAM, position: 0 }]));
    const text = 'x'.repeat(MAX_EVENT_BYTES);
    const encoder = new BatchEncoder();
    journal.hold();
    for (let number = 0; number < 6; number += 1) {
      for (let sequence = number * 10 + 1; sequence <= number * 10 + 10; sequence += 1) {
        encoder.add(STREAM, number * 10, sequence, sampleEvent(text));
      }
      await say(encoder.finish(number));
      await eventually('the first one is being appended', () => journal.begun === 1);
    }
    await eventually('the others wait', () => sink.waiting === 50);
    journal.release();
    for (let number = 0; number < 6; number += 1) {
      expect(await hear()).to.deep.equal({ kind: 'ack', number, duplicates: 0 });
    }
    expect(journal.batches.map(({ count }) => count)).to.deep.equal([10, 30, 20]);
    for (const { bytes } of journal.batches) expect(bytes).to.be.at.most(MAX_GROUP_BYTES);
  });

  it('takes a batch of two streams whole or not at all', async () => {
    await ask(encodeHello(1, [{ stream: STREAM, position: 0 }]));
    const encoder = new BatchEncoder();
    encoder.add(STREAM, 0, 1, sampleEvent('known'));
    encoder.add('other', 0, 1, sampleEvent('unknown'));
    expect(await ask(encoder.finish(0))).to.include({ kind: 'nack', code: 'unknown_stream', message: 'other' });
    expect(await ask(batch(1, 0, [1]))).to.deep.equal({ kind: 'ack', number: 1, duplicates: 0 });
    expect(journal.texts).to.deep.equal(['1']);
  });

  it('says so when it cannot read a batch', async () => {
    const answer = await ask(encodeMessage([2, 6, [], [], ['too', 'few']]));
    expect(answer).to.deep.equal({
      kind: 'nack',
      number: 6,
      code: 'malformed',
      message: 'events of the batch are malformed',
    });
    expect(sink.counters.malformed).to.equal(1);
  });
});

describe('the event producer, frame by frame', () => {
  let home: TemporaryHome;
  let router: Router;
  let producer: EventProducer;
  let logger: RecordingLogger;
  let peer: Buffer;

  const say = (frame: Buffer) => router.send([peer, frame]);
  const hear = async (): Promise<ReturnType<typeof decodeFromProducer>> => {
    const [from, frame] = await router.receive();
    peer = from!;
    return decodeFromProducer(frame!, new SourceMemory());
  };
  /** Hears a greeting and answers that the sink is as far as the producer says. */
  const welcome = async (): Promise<void> => {
    const hello = await hear();
    if (hello.kind !== 'hello') throw new Error('no greeting');
    await say(encodeWelcome(hello.token, hello.streams));
  };
  /** Number and texts of the next batch. */
  const nextBatch = async (): Promise<[number, ...string[]]> => {
    const message = await hear();
    if (message.kind !== 'batch') throw new Error('no batch');
    return [message.number, ...message.events.map((event) => event.message.toString())];
  };

  beforeEach(async () => {
    home = new TemporaryHome();
    router = new Router({ linger: 0, mandatory: true, receiveTimeout: 5000 });
    await router.bind(`ipc://${home.eventsSocket()}`);
    logger = new RecordingLogger();
    producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-apid', logger });
    producer.start();
    await welcome();
  });
  afterEach(async () => {
    await producer.close(0);
    router.close();
    home.remove();
  });

  it('tells the sender of an event that will never be taken, logs it, and goes on', async () => {
    const bad = producer.send(sampleEvent('bad')).catch((error: unknown) => error);
    const [number] = await nextBatch();
    const good = producer.send(sampleEvent('good'));
    await nextBatch();
    await say(encodeNack(number, 'malformed', 'event 0 of the batch is malformed'));
    expect(await bad).to.include({ code: 'rejected' });
    await welcome();
    const [again, ...texts] = await nextBatch();
    expect(texts).to.deep.equal(['good']);
    await say(encodeAck(again, 0));
    await good;
    expect(producer.counters).to.include({ rejected: 1, acknowledged: 1, resent: 1, sent: 2 });
    expect(logger.lines).to.deep.equal([
      'error: 1 events were refused and are lost: event 0 of the batch is malformed',
    ]);
  });

  it('asks where the sink is when an acknowledgement is missing', async () => {
    const first = producer.send(sampleEvent('first'));
    await nextBatch();
    const second = producer.send(sampleEvent('second'));
    const [number] = await nextBatch();
    await say(encodeAck(number, 0));
    const hello = await hear();
    if (hello.kind !== 'hello') throw new Error('no greeting');
    const [own] = hello.streams;
    await say(encodeWelcome(hello.token, [{ stream: own!.stream, position: 2 }]));
    await Promise.all([first, second]);
    expect(producer.counters).to.include({ acknowledged: 2, duplicates: 2, resent: 0 });
  });

  it('sends again in order after a refusal, and not what was acknowledged meanwhile', async () => {
    const sent = ['one', 'two'].map((text) => producer.send(sampleEvent(text)));
    const [first] = await nextBatch();
    const third = producer.send(sampleEvent('three'));
    const [second] = await nextBatch();
    await say(encodeNack(second, 'busy', 'many'));
    await say(encodeAck(first, 0));
    await Promise.all(sent);
    expect(producer.pending).to.equal(1);
    const hello = await hear();
    if (hello.kind !== 'hello') throw new Error('no greeting');
    expect(hello.streams.map(({ position }) => position)).to.deep.equal([2]);
    await say(encodeWelcome(hello.token, hello.streams));
    const [again, ...texts] = await nextBatch();
    expect(texts).to.deep.equal(['three']);
    await say(encodeAck(again, 0));
    await third;
  });

  const SOON = { deadlineMs: 60_000 };
  const failureOf = (sending: Promise<void>) => sending.then(() => undefined).catch((error: unknown) => error);

  it('tells a sender in a hurry of a refusal at once, and takes its events back', async () => {
    const patient = producer.send(sampleEvent('patient'));
    const refused = failureOf(producer.sendAll([sampleEvent('one'), sampleEvent('two')], SOON));
    const [number, ...texts] = await nextBatch();
    expect(texts).to.deep.equal(['patient', 'one', 'two']);
    await say(encodeNack(number, 'failed', 'disk full'));
    expect(await refused).to.include({ code: 'refused', message: 'the sink takes no events: disk full' });
    // Not even sent: the sink has just said so.
    expect(await failureOf(producer.sendAll([sampleEvent('three')], SOON))).to.include({ code: 'refused' });
    expect([producer.pending, producer.refusal]).to.deep.equal([1, 'disk full']);
    expect(producer.counters).to.include({ sentBack: 3, withdrawn: 2, refused: 0 });
    await welcome();
    const [again, ...left] = await nextBatch();
    expect(left).to.deep.equal(['patient']);
    // This one is sent: it is how the sender learns that all is well again.
    const fourth = producer.sendAll([sampleEvent('four')], SOON);
    const [next, ...last] = await nextBatch();
    expect(last).to.deep.equal(['four']);
    await say(encodeAck(again, 0));
    await say(encodeAck(next, 0));
    await Promise.all([patient, fourth]);
    expect([producer.connected, producer.refusal]).to.deep.equal([true, undefined]);
    expect(producer.counters).to.include({ acknowledged: 2, resent: 1, sent: 4 });
  });

  it('does not promise that nothing was taken when the sink had it before', async () => {
    const doubtful = failureOf(producer.sendAll([sampleEvent('doubtful')], SOON));
    await nextBatch();
    void failureOf(producer.sendAll([sampleEvent('next')], SOON));
    const [second] = await nextBatch();
    // The answer to the first got lost, and the sink, asked, has it not on the disk yet.
    await say(encodeAck(second, 0));
    await welcome();
    const [again, ...texts] = await nextBatch();
    expect(texts).to.deep.equal(['doubtful', 'next']);
    await say(encodeNack(again, 'busy', 'many'));
    expect(await doubtful).to.include({ code: 'unconfirmed' });
    expect(producer.pending).to.equal(0);
  });

  it('does not promise it either when a part was taken', async () => {
    const large = Array.from({ length: MAX_BATCH_EVENTS + 1 }, (_, index) => sampleEvent(`${index}`));
    const parted = failureOf(producer.sendAll(large, SOON));
    const [first] = await nextBatch();
    const [second] = await nextBatch();
    await say(encodeAck(first, 0));
    await say(encodeNack(second, 'failed', 'disk full'));
    expect(await parted).to.include({ code: 'unconfirmed' });
    expect(producer.counters).to.include({ acknowledged: MAX_BATCH_EVENTS, withdrawn: 1 });
  });

  it('does not send again what its sender gave up', async () => {
    const late = failureOf(producer.sendAll([sampleEvent('late')], { deadlineMs: 20 }));
    await nextBatch();
    expect(await late).to.include({ code: 'timeout' });
    expect(producer.pending).to.equal(1);
    const patient = producer.send(sampleEvent('patient'));
    const [second] = await nextBatch();
    await say(encodeAck(second, 0));
    await welcome();
    const [again, ...texts] = await nextBatch();
    expect(texts).to.deep.equal(['patient']);
    await say(encodeAck(again, 0));
    await patient;
    expect(producer.counters).to.include({ withdrawn: 1, acknowledged: 1 });
  });

  it('waits longer from refusal to refusal', async () => {
    void producer.send(sampleEvent('stubborn')).catch(() => undefined);
    const started = performance.now();
    for (let round = 0; round < 5; round += 1) {
      const [number] = await nextBatch();
      await say(encodeNack(number, 'failed', 'disk full'));
      await welcome();
      expect(producer.connected).to.equal(false);
    }
    // 10 + 20 + 40 + 80 + 160 ms.
    expect(performance.now() - started).to.be.greaterThan(300);
  });
});
