import { expect } from 'chai';
import { EventGate, type WaitingSource } from '../../../../daemons/remoted/event-gate.js';
import { ReadAhead } from '../../../../daemons/remoted/read-ahead.js';
import { MAX_READMITTED, READ_AHEAD_BYTES, READ_AHEAD_EVENTS } from '../../../../daemons/remoted/remoted-limits.js';
import type { BusEvent } from '../../../../lib/bus/bus-event.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

/** A window that a test fills and empties. */
class ManualWindow {
  readonly taken: string[] = [];
  room = 0;
  pending = 0;
  #waiting: (() => void)[] = [];
  #following: (() => void)[] = [];

  trySend(event: BusEvent): boolean {
    if (this.room <= 0) return false;
    this.room -= 1;
    this.pending += 1;
    this.taken.push(event.message.toString());
    return true;
  }

  ready(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  progress(): Promise<void> {
    return new Promise((resolve) => this.#following.push(resolve));
  }

  /** Events are acknowledged, the oldest first. */
  async acknowledge(count: number): Promise<void> {
    this.pending -= count;
    for (const resolve of this.#following.splice(0)) resolve();
    await new Promise((resolve) => setImmediate(resolve));
  }

  async give(room: number): Promise<void> {
    this.room = room;
    for (const resolve of this.#waiting.splice(0)) resolve();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const event = (text: string): BusEvent => ({ queue: '1', location: '/x', message: Buffer.from(text), receivedAt: 1 });

/** A source with messages of its own, as a connection has them. */
class Source implements WaitingSource {
  reads = 0;
  readonly ahead = new ReadAhead();

  /** @param later what it reads when it may */
  constructor(
    private readonly gate: EventGate,
    private readonly texts: string[],
    private readonly later: string[] = [],
  ) {}

  resume(): boolean {
    for (let text = this.texts.shift(); text !== undefined; text = this.texts.shift()) {
      if (!this.gate.offer(event(text), this)) return false;
    }
    return true;
  }

  read(): void {
    this.reads += 1;
    this.texts.push(...this.later.splice(0));
    this.resume();
  }
}

describe('the gate for events', () => {
  let window: ManualWindow;
  let logger: RecordingLogger;
  let gate: EventGate;

  beforeEach(() => {
    window = new ManualWindow();
    logger = new RecordingLogger();
    gate = new EventGate(window, 2, logger);
  });

  it('lets sources stand still and go on in turn, each in its order', async () => {
    const sources = ['a', 'b', 'c'].map(
      (name) =>
        new Source(
          gate,
          [1, 2, 3].map((number) => name + String(number)),
        ),
    );
    for (const source of sources) source.resume();
    expect(gate.heldCount).to.equal(3);
    await window.give(2);
    expect(window.taken).to.deep.equal(['a1', 'a2']);
    await window.give(4);
    expect(window.taken).to.deep.equal(['a1', 'a2', 'b1', 'b2', 'b3', 'c1']);
    await window.give(10);
    expect(window.taken.slice(6)).to.deep.equal(['a3', 'c2', 'c3']);
    expect(gate.heldCount).to.equal(0);
  });

  it('lets nobody pass those who wait', async () => {
    const held = new Source(gate, ['first']);
    held.resume();
    window.room = 5;
    expect(gate.queue(event('datagram'))).to.equal(true);
    expect(window.taken).to.deep.equal([]);
    await window.give(5);
    expect(window.taken).to.have.members(['first', 'datagram']);
    expect(gate.queue(event('free'))).to.equal(true);
    expect(window.taken.at(-1)).to.equal('free');
  });

  it('queues so many datagrams, and says once that there are more', async () => {
    expect(['1', '2', '3', '4'].map((text) => gate.queue(event(text)))).to.deep.equal([true, true, false, false]);
    expect(logger.lines).to.deep.equal(['warn: Message queue is full (2). Events may be lost.']);
    await window.give(1);
    expect(gate.queued).to.equal(1);
    await window.give(1);
    expect(window.taken).to.deep.equal(['1', '2']);
    expect(gate.queued).to.equal(0);
  });

  it('lets sources read on in groups, and none while others have an event in hand', async () => {
    const sources = Array.from(
      { length: 2 * MAX_READMITTED },
      (_, index) => new Source(gate, [`a${String(index)}`], [`b${String(index)}`]),
    );
    for (const source of sources) source.resume();
    const reads = () => sources.filter((source) => source.reads > 0).length;
    await window.give(1);
    expect(reads()).to.equal(0);
    await window.give(2 * MAX_READMITTED - 1);
    await eventually('the first group', () => reads() === MAX_READMITTED);
    expect(gate.heldCount).to.equal(MAX_READMITTED);
    await window.give(10_000);
    await eventually('all others', () => reads() === sources.length);
    expect(window.taken).to.have.length(4 * MAX_READMITTED);
  });

  it('reads nobody further ahead of the acknowledgements than two blocks, and lets the others go on', async () => {
    window.room = 10_000;
    const texts = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}${String(at)}`);
    const flood = new Source(gate, texts('f', 3 * READ_AHEAD_EVENTS), ['last']);
    expect(flood.resume()).to.equal(false);
    expect(window.taken).to.have.length(2 * READ_AHEAD_EVENTS);
    expect(new Source(gate, ['other']).resume()).to.equal(true);
    expect([gate.heldCount, flood.reads]).to.deep.equal([1, 0]);
    // Whoever waits is not followed by more than was acknowledged.
    await window.acknowledge(READ_AHEAD_EVENTS - 1);
    expect(gate.heldCount).to.equal(1);
    await window.acknowledge(1);
    expect(window.taken.filter((text) => text.startsWith('f'))).to.deep.equal(texts('f', 3 * READ_AHEAD_EVENTS));
    // What it has read then is held back in its turn.
    expect([flood.reads, gate.heldCount]).to.deep.equal([1, 1]);
    const empty = gate.empty();
    await window.acknowledge(READ_AHEAD_EVENTS);
    await empty;
    expect([window.taken.at(-1), gate.heldCount]).to.deep.equal(['last', 0]);
  });

  it('counts the bytes of what is ahead, too', () => {
    const ahead = new ReadAhead();
    ahead.took(1, READ_AHEAD_BYTES);
    expect(ahead.allows(0)).to.equal(true);
    ahead.took(2, READ_AHEAD_BYTES);
    expect([ahead.allows(0), ahead.allows(1)]).to.deep.equal([false, true]);
  });

  it('hands nothing on once it is closed', async () => {
    gate.offer(event('late'), new Source(gate, []));
    gate.close();
    await window.give(5);
    expect(window.taken).to.deep.equal([]);
  });
});
