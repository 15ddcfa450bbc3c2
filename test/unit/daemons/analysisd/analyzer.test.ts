import { expect } from 'chai';
import type { Analysis } from '../../../../daemons/analysisd/analysis.js';
import { Analyzer } from '../../../../daemons/analysisd/pipeline/analyzer.js';
import type { EventWriter } from '../../../../daemons/analysisd/pipeline/event-writer.js';
import type { JournalFeed } from '../../../../daemons/analysisd/pipeline/journal-feed.js';
import type { RecordedEntry } from '../../../../daemons/analysisd/pipeline/journal-record.js';
import type { ReceivedEvent } from '../../../../lib/bus/bus-event.js';
import { EventHeads } from '../../../../lib/journal/event-heads.js';
import { encodeEvents } from '../../../support/bus/listed-batch.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

/** An analyzer with one record and an analysis that does as the test wants. */
class Bench {
  checkpoints = 0;
  flushes: number[] = [];
  taken = 0;
  failure: unknown;
  readonly analyzer: Analyzer;

  constructor(
    events: number,
    bytes: number,
    onTake: () => void,
    isFull: (bench: Bench) => boolean,
    ready = Promise.resolve(),
  ) {
    const event = { queue: '1', location: 'x', message: Buffer.alloc(bytes), receivedAt: 0, stream: 's' };
    const content = Array.from({ length: events }, (_, index): ReceivedEvent => ({ ...event, sequence: index + 1 }));
    const payload = encodeEvents(content);
    const entries: RecordedEntry[] = [
      { position: 0, next: 100, writtenAt: 0, content: new EventHeads().read(payload), payload },
    ];
    let wake = (): void => {};
    const feed = {
      next: () => entries.shift(),
      wait: () => new Promise<void>((resolve) => (wake = resolve)),
      wake: () => {
        wake();
      },
    };
    const analysis = {
      checkpointDue: false,
      flush: () => this.flushes.push(this.taken),
      endReplay: () => {},
    };
    Object.defineProperty(analysis, 'isFull', { get: () => isFull(this) });
    const writer = {
      begin: nothing,
      take: () => {
        this.taken += 1;
        onTake();
      },
    };
    this.analyzer = new Analyzer({
      ready: () => ready,
      analysis: analysis as unknown as Analysis,
      feed: feed as unknown as JournalFeed,
      writer: writer as unknown as EventWriter,
      configuration: { compiledFor: () => expect.fail('no ruleset is asked for') },
      logger: new RecordingLogger(),
      epsLimiter: undefined,
      now: () => 0,
      start: { position: 0, done: 0 },
      startIsSettled: true,
      replayEnd: 0,
      checkpoint: () => {
        this.checkpoints += 1;
        return new Promise((resolve) => setImmediate(resolve, true));
      },
      onWritten: () => {},
    });
  }

  async run(events: number): Promise<void> {
    this.analyzer.start((error) => (this.failure = error));
    await eventually('all events are taken', () => this.taken === events);
  }
}

const nothing = (): void => {};
/** The one that ends a replay. */
const FIRST_CHECKPOINT = 1;

describe('analyzer', () => {
  it('lets others have their turn between events that take long', async () => {
    let inTurn = 0;
    let most = 0;
    const bench = new Bench(
      20,
      10,
      () => {
        most = Math.max(most, ++inTurn);
        for (const until = performance.now() + 10; performance.now() < until;);
      },
      () => false,
    );
    let turn = setImmediate(function next() {
      inTurn = 0;
      turn = setImmediate(next);
    });
    try {
      await bench.run(20);
    } finally {
      clearImmediate(turn);
      await bench.analyzer.stop();
    }
    expect(most).to.be.lessThan(6);
    expect(bench.failure).to.equal(undefined);
  });

  it('takes the first event when it is ready', async () => {
    let isReady = (): void => {};
    const ready = new Promise<void>((resolve) => (isReady = resolve));
    const bench = new Bench(20, 10, nothing, () => false, ready);
    const running = bench.run(20);
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    expect(bench.taken).to.equal(0);
    isReady();
    await running;
    await bench.analyzer.stop();
    expect(bench.failure).to.equal(undefined);
  });

  it('writes before large events add up to much', async () => {
    const bench = new Bench(300, 64 * 1024, nothing, () => false);
    await bench.run(300);
    await eventually('all are written', () => bench.flushes.at(-1) === 300);
    await bench.analyzer.stop();
    const steps = bench.flushes.map((taken, index) => taken - (bench.flushes[index - 1] ?? 0));
    expect(Math.max(...steps)).to.be.at.most(16);
  });

  it('makes the checkpoints that give room at once', async () => {
    const bench = new Bench(1, 10, nothing, ({ checkpoints }) => checkpoints < FIRST_CHECKPOINT + 3);
    await bench.run(1);
    await eventually('there is room', () => bench.analyzer.position === 100 && bench.analyzer.recordTime === undefined);
    await bench.analyzer.stop();
    expect(bench.checkpoints).to.equal(FIRST_CHECKPOINT + 3);
  });

  it('does not drive a disk that takes nothing with checkpoints, and can be stopped meanwhile', async () => {
    const bench = new Bench(1, 10, nothing, () => true);
    await bench.run(1);
    await eventually('three checkpoints', () => bench.checkpoints >= FIRST_CHECKPOINT + 3);
    // Each takes one turn of the event loop: without a pause there would be a hundred.
    for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(bench.checkpoints).to.equal(FIRST_CHECKPOINT + 3);
    await bench.analyzer.stop();
    expect(bench.failure).to.equal(undefined);
  });
});
