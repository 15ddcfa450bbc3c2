import { expect } from 'chai';
import { BusError } from '../../../../lib/bus/bus-error.js';
import type { BusEvent } from '../../../../lib/bus/bus-event.js';
import {
  MAX_BATCH_EVENTS,
  MAX_BATCHES_IN_FLIGHT,
  MAX_EVENT_BYTES,
  MAX_SINK_EVENTS,
  MAX_WINDOW_EVENTS,
} from '../../../../lib/bus/bus-limits.js';
import { EventProducer } from '../../../../lib/bus/event-producer.js';
import { EventSink } from '../../../../lib/bus/event-sink.js';
import { MemoryStreamPositions } from '../../../../lib/bus/stream-positions.js';
import { RecordingJournal, sampleEvent } from '../../../support/bus/bus-events.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const numbers = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${from + index}`);

describe('events over the bus', () => {
  let home: TemporaryHome;
  let path: string;
  let logger: RecordingLogger;
  let journal: RecordingJournal;
  let positions: MemoryStreamPositions;
  let sink: EventSink;
  const producers: EventProducer[] = [];

  const makeSink = (): EventSink => new EventSink({ path, onBatch: journal.append, positions, logger });
  const makeProducer = (daemon = 'svc-apid', graceMs = 60_000): EventProducer => {
    const producer = new EventProducer({ path, daemon, logger, graceMs });
    producers.push(producer);
    producer.start();
    return producer;
  };
  const restartSink = async (): Promise<void> => {
    await sink.stop();
    sink = makeSink();
    await sink.start();
  };

  beforeEach(async () => {
    home = new TemporaryHome();
    path = home.eventsSocket();
    logger = new RecordingLogger();
    journal = new RecordingJournal();
    positions = new MemoryStreamPositions();
    sink = makeSink();
    await sink.start();
  });
  afterEach(async () => {
    journal.release();
    for (const producer of producers.splice(0)) await producer.close(0);
    await sink.stop();
    home.remove();
  });

  it('arrive whole, with everything that is known of them', async () => {
    const producer = makeProducer();
    const agent = {
      id: '001',
      name: 'web',
      ip: 'any',
      labels: new Map([
        ['__proto__', 'x'],
        ['team', 'é'],
      ]),
    };
    const events: BusEvent[] = [
      sampleEvent('one', { agent }),
      sampleEvent('two', { agent, location: '[001] (web) any->/var/\xff\xe9' }),
      sampleEvent('', { queue: '8', idempotency: { key: 'abc', index: 3 } }),
      { ...sampleEvent(''), message: Buffer.from([0, 255, 10, 13]) },
    ];
    await producer.sendAll(events);
    const received = journal.batches.flatMap((batch) => batch.events);
    expect(received).to.have.length(4);
    for (const [index, event] of received.entries()) {
      const { stream, sequence, ...rest } = event;
      expect({ agent: undefined, idempotency: undefined, ...events[index] }).to.deep.equal(rest);
      expect(stream).to.match(/^svc-apid:[0-9a-f-]{36}$/);
      expect(sequence).to.equal(index + 1);
    }
    expect(journal.batches.at(-1)?.positions.get(received[0]!.stream)).to.equal(4);
  });

  it('keep their order through many batches, and each is acknowledged once', async () => {
    const producer = makeProducer();
    const texts = numbers(0, 40_000);
    for (const text of texts) {
      while (!producer.trySend(sampleEvent(text))) await producer.ready();
    }
    await eventually('all are acknowledged', () => producer.pending === 0);
    expect(journal.texts).to.deep.equal(texts);
    expect(producer.counters).to.include({ sent: 40_000, acknowledged: 40_000, resent: 0, duplicates: 0 });
    expect(sink.counters).to.include({ acknowledged: 40_000, duplicates: 0, refused: 0, malformed: 0 });
  });

  it('are acknowledged only when the journal has them', async () => {
    const producer = makeProducer();
    journal.hold();
    let acknowledged = false;
    const sent = producer.send(sampleEvent('a')).then(() => (acknowledged = true));
    await eventually('it is being appended', () => journal.begun === 1);
    // Answers come in order: an acknowledgement from before this one would be here.
    await producer.openStream('another').position();
    expect(acknowledged).to.equal(false);
    journal.release();
    await sent;
    expect(journal.texts).to.deep.equal(['a']);
  });

  it('wait without a word for a sink that comes soon after their start, and warn when it goes', async () => {
    await sink.stop();
    const producer = makeProducer();
    const sent = producer.send(sampleEvent('early'));
    for (let tries = 0; tries < 3; tries += 1) await new Promise((resolve) => setTimeout(resolve, 30));
    sink = makeSink();
    await sink.start();
    await sent;
    expect(logger.lines).to.deep.equal([]);
    await sink.stop();
    await eventually('the outage is logged', () => logger.lines.some((line) => line.includes('cannot be delivered')));
  });

  it('wait for a sink that is not there yet', async () => {
    await sink.stop();
    const producer = makeProducer('svc-apid', 0);
    const sent = producer.send(sampleEvent('early'));
    await eventually('the outage is logged', () => logger.lines.some((line) => line.includes('cannot be delivered')));
    expect(producer.connected).to.equal(false);
    sink = makeSink();
    await sink.start();
    await sent;
    expect(producer.connected).to.equal(true);
    expect(logger.lines).to.deep.equal([
      `warn: Events cannot be delivered: '${path}' does not exist. Trying again until they can`,
      'info: Events are delivered again; 1 are waiting',
    ]);
  });

  it('stop being taken when the window is full, and are taken again when it is not', async () => {
    const producer = makeProducer();
    journal.hold();
    let taken = 0;
    while (producer.trySend(sampleEvent(`${taken}`))) taken += 1;
    expect(taken).to.equal(MAX_WINDOW_EVENTS);
    expect(producer.room).to.equal(0);
    expect(producer.counters.refused).to.equal(1);
    const refused = await producer.sendAll([sampleEvent('x'), sampleEvent('y')]).catch((error: unknown) => error);
    expect(refused).to.include({ code: 'busy' });
    const ready = producer.ready();
    journal.release();
    await ready;
    await producer.send(sampleEvent('last'));
    expect(journal.texts).to.deep.equal([...numbers(0, taken), 'last']);
  });

  it('are taken whole or not at all when sent together', async () => {
    const producer = makeProducer();
    journal.hold();
    await producer.ready();
    for (let count = 0; count < MAX_WINDOW_EVENTS - 1; count += 1) producer.trySend(sampleEvent('fill'));
    const error = await producer.sendAll([sampleEvent('x'), sampleEvent('y')]).catch((reason: unknown) => reason);
    expect(error).to.include({ code: 'busy' });
    expect(producer.room).to.equal(1);
  });

  it('are sent again after a failed append, and only once to the journal', async () => {
    const producer = makeProducer();
    await producer.send(sampleEvent('0'));
    journal.failure = 'no space left on device';
    const sent = [1, 2, 3].map((number) => producer.send(sampleEvent(`${number}`)));
    await eventually('it was refused', () => sink.counters.refused > 2);
    expect(producer.connected).to.equal(false);
    const late = await producer.sendAll([sampleEvent('4')], { deadlineMs: 5000 }).catch((reason: unknown) => reason);
    expect(late).to.include({ code: 'refused' });
    journal.failure = undefined;
    await Promise.all(sent);
    await eventually('all are acknowledged', () => producer.pending === 0);
    expect(journal.texts).to.deep.equal(['0', '1', '2', '3']);
    expect(producer.connected).to.equal(true);
    expect(producer.counters.resent).to.be.greaterThan(2);
    expect(producer.counters.sentBack).to.be.greaterThan(2);
    expect(logger.lines).to.deep.equal([
      'error: Events cannot be taken: no space left on device. Their producers keep them and try again',
      'info: Events are taken again',
    ]);
  });

  it('whose sender was told that they were refused never arrive, through failures and restarts', async () => {
    const producer = makeProducer();
    const outcomes = new Map<string, string>();
    const sending: Promise<void>[] = [];
    for (let round = 0; round < 60; round += 1) {
      const texts = numbers(round * 100, 1 + ((round * 37) % 100));
      const limits = { startMs: 200, deadlineMs: 1000 };
      const sent = producer.sendAll(
        texts.map((text) => sampleEvent(text)),
        limits,
      );
      sending.push(
        sent
          .then(
            () => 'taken',
            (error: unknown) => (error instanceof BusError ? error.code : 'unknown'),
          )
          .then((outcome) => {
            for (const text of texts) outcomes.set(text, outcome);
          }),
      );
      if (round % 7 === 3) journal.failure = 'no space left on device';
      if (round % 7 === 5) journal.failure = undefined;
      if (round % 20 === 10) await restartSink();
      await new Promise((resolve) => setTimeout(resolve, round % 5));
    }
    journal.failure = undefined;
    await Promise.all(sending);
    await eventually('the window is empty', () => producer.pending === 0);
    expect(new Set(journal.texts).size).to.equal(journal.texts.length);
    const arrived = new Set(journal.texts);
    for (const [text, outcome] of outcomes) {
      if (outcome === 'taken') expect(arrived.has(text), `${text} was acknowledged`).to.equal(true);
      if (outcome === 'refused') expect(arrived.has(text), `${text} was refused`).to.equal(false);
    }
    expect(new Set(outcomes.values())).to.include('taken').and.to.include('refused');
  });

  it('are withdrawn when no sink takes them up', async () => {
    await sink.stop();
    const producer = makeProducer();
    const patient = producer.send(sampleEvent('patient'));
    const error = await producer
      .sendAll([sampleEvent('x'), sampleEvent('y')], { startMs: 30, deadlineMs: 600_000 })
      .catch((reason: unknown) => reason);
    expect(error).to.include({ code: 'refused', message: 'no sink took the events within 30 ms' });
    expect([producer.pending, producer.counters.withdrawn]).to.deep.equal([1, 2]);
    await restartSink();
    await patient;
    expect(journal.texts).to.deep.equal(['patient']);
  });

  it('are neither lost nor doubled when the sink restarts under load', async () => {
    const producer = makeProducer();
    const texts = numbers(0, 30_000);
    let restarts = 0;
    for (const [index, text] of texts.entries()) {
      while (!producer.trySend(sampleEvent(text))) await producer.ready();
      if (index % 6000 === 5999) {
        await restartSink();
        restarts += 1;
      }
    }
    await eventually('all are acknowledged', () => producer.pending === 0);
    expect(restarts).to.equal(5);
    expect(journal.texts).to.deep.equal(texts);
  });

  it('are dropped as duplicates when their acknowledgement got lost', async () => {
    const producer = makeProducer();
    await producer.send(sampleEvent('0'));
    // The sink is stopped while it appends: the journal has the event, the producer does not know.
    journal.hold();
    const sent = producer.send(sampleEvent('1'));
    await eventually('it is being appended', () => journal.begun === 2);
    const first = positions;
    positions = new MemoryStreamPositions();
    for (const [stream, sequence] of first.entries()) positions.set(stream, sequence + 1);
    journal.release();
    await restartSink();
    await sent;
    expect(journal.texts).to.deep.equal(['0', '1']);
  });

  it('of a followed file go on where the sink is, after both were restarted', async () => {
    const first = makeProducer('svc-logcollector');
    const file = first.openStream('2049:1234:1');
    expect(await file.position()).to.equal(0);
    await file.send(sampleEvent('line one'), 9);
    await file.send(sampleEvent('line two'), 18);
    expect(file.acknowledged).to.equal(18);
    await first.close(0);
    await restartSink();

    const second = makeProducer('svc-logcollector');
    // Its own notes are older than what the sink has.
    const again = second.openStream('2049:1234:1', 9);
    expect(await again.position()).to.equal(18);
    await again.send(sampleEvent('line two'), 18);
    await again.send(sampleEvent('line three'), 29);
    expect(second.counters.duplicates).to.equal(1);
    expect(journal.texts).to.deep.equal(['line one', 'line two', 'line three']);
    expect(() => again.trySend(sampleEvent('back'), 29)).to.throw(RangeError, 'does not follow 29');
    expect(() => second.openStream('2049:1234:1')).to.throw('open already');
    again.close();
    expect(() => again.trySend(sampleEvent('closed'), 30)).to.throw(BusError, 'was closed');
    const reopened = second.openStream('2049:1234:1');
    expect(await reopened.position()).to.equal(29);
  });

  it('go back to where the sink is when it lost some, if their source can be read again', async () => {
    const first = makeProducer('svc-logcollector');
    const file = first.openStream('2049:1234:1');
    for (const end of [9, 18, 27]) await file.send(sampleEvent(`line to ${end}`), end);
    await first.close(0);
    // The power went: what was acknowledged last is not on the sink's disk.
    positions = new MemoryStreamPositions();
    positions.set('2049:1234:1', 9);
    journal.texts.length = 1;
    await restartSink();

    const second = makeProducer('svc-logcollector');
    const again = second.openStream('2049:1234:1', 27, { rewind: true });
    expect(await again.position()).to.equal(9);
    await Promise.all([18, 27, 36].map((end) => again.send(sampleEvent(`line to ${end}`), end)));
    expect(journal.texts).to.deep.equal([9, 18, 27, 36].map((end) => `line to ${end}`));
    // One that the sink does not know begins where its producer says, and one that is in use is believed.
    const other = second.openStream('2049:99:1', 50, { rewind: true });
    expect(await other.position()).to.equal(50);
    positions = new MemoryStreamPositions();
    positions.set('2049:1234:1', 9);
    await restartSink();
    await again.send(sampleEvent('line to 45'), 45);
    expect(journal.texts.at(-1)).to.equal('line to 45');
    // Too early to be asked: what is sent cannot be taken back.
    await restartSink();
    const eager = makeProducer('svc-logcollector').openStream('2049:1234:1', 60, { rewind: true });
    await eager.send(sampleEvent('line to 70'), 70);
    expect(await eager.position()).to.equal(70);
  });

  it('of many files share batches and keep their own positions', async () => {
    const producer = makeProducer('svc-logcollector');
    const files = Array.from({ length: 2500 }, (_, index) => producer.openStream(`2049:${index}:1`));
    await Promise.all(files.map((file) => file.position()));
    for (let round = 1; round <= 3; round += 1) {
      for (const file of files) expect(file.trySend(sampleEvent(file.name), round * 10)).to.equal(true);
      if (round === 2) await restartSink();
    }
    await eventually('all are acknowledged', () => producer.pending === 0);
    expect(journal.texts).to.have.length(7500);
    expect(files.every((file) => file.acknowledged === 30)).to.equal(true);
    const counts = new Map<string, number>();
    for (const text of journal.texts) counts.set(text, (counts.get(text) ?? 0) + 1);
    expect(new Set(counts.values())).to.deep.equal(new Set([3]));
  });

  it('go on after the sink has forgotten their stream', async () => {
    positions = new MemoryStreamPositions(1);
    await restartSink();
    const [one, two] = [makeProducer(), makeProducer()];
    for (let round = 0; round < 5; round += 1) {
      await one.send(sampleEvent(`one ${round}`));
      await two.send(sampleEvent(`two ${round}`));
    }
    expect(journal.texts).to.deep.equal([0, 1, 2, 3, 4].flatMap((round) => [`one ${round}`, `two ${round}`]));
  });

  it('are sent back when the sink has too many, and arrive in the end', async () => {
    journal.hold();
    const many = Array.from({ length: MAX_SINK_EVENTS / (MAX_BATCHES_IN_FLIGHT * MAX_BATCH_EVENTS) + 2 }, () =>
      makeProducer(),
    );
    for (const producer of many) for (let n = 0; producer.trySend(sampleEvent(`${n}`)); n += 1);
    await eventually('a batch was refused', () => sink.counters.refused > 0);
    expect(sink.waiting).to.be.within(MAX_SINK_EVENTS - 8192, MAX_SINK_EVENTS + 512);
    journal.release();
    await eventually('all are acknowledged', () => many.every((producer) => producer.pending === 0));
    expect(journal.texts).to.have.length(many.length * MAX_WINDOW_EVENTS);
    const seen = new Set(journal.batches.flatMap((b) => b.events.map((e) => `${e.stream} ${e.sequence}`)));
    expect(seen.size).to.equal(many.length * MAX_WINDOW_EVENTS);
  });

  it('that no sink would take are refused where they are made', () => {
    const producer = makeProducer();
    const refused: [Partial<BusEvent>, string][] = [
      [{ message: Buffer.alloc(MAX_EVENT_BYTES + 1) }, 'too_large'],
      [{ queue: '' }, 'bad_event'],
      [{ queue: '12' }, 'bad_event'],
      [{ location: 'snow \u2603' }, 'bad_event'],
      [{ receivedAt: NaN }, 'bad_event'],
      [{ idempotency: { key: 'with space', index: 0 } }, 'bad_event'],
    ];
    for (const [more, code] of refused) {
      expect(() => producer.trySend(sampleEvent('x', more)))
        .to.throw(BusError)
        .with.property('code', code);
    }
    expect(producer.pending).to.equal(0);
  });

  it('of the largest size go through', async () => {
    const producer = makeProducer();
    const events = numbers(0, 20).map((text) => sampleEvent('', { message: Buffer.alloc(MAX_EVENT_BYTES, text) }));
    // The window is full by bytes before the last: they are taken together or not at all.
    await producer.sendAll(events);
    expect(journal.texts.map((text) => text.length)).to.deep.equal(events.map(() => MAX_EVENT_BYTES));
  });

  it('are delivered before a producer closes, or their senders are told', async () => {
    const producer = makeProducer();
    await producer.ready();
    for (const text of numbers(0, 2000)) producer.trySend(sampleEvent(text));
    await producer.close();
    expect(journal.texts).to.have.length(2000);

    journal.hold();
    const other = makeProducer();
    const sent = other.send(sampleEvent('late')).catch((error: unknown) => error);
    await eventually('it is on the wire', () => other.counters.sent === 1);
    await other.close(20);
    expect(await sent).to.include({ code: 'closed' });
    expect(logger.lines.at(-1)).to.equal('warn: 1 events were not acknowledged when their producer was closed');
    expect(() => other.trySend(sampleEvent('later'))).to.throw(BusError, 'closed');
  });
});
