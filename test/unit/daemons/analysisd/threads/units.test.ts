import { expect } from 'chai';
import fc from 'fast-check';
import { UnitMemories } from '../../../../../daemons/analysisd/threads/unit-memories.js';
import { NOBODY, type Unit, UnitBuilder } from '../../../../../daemons/analysisd/threads/units.js';
import type { ReceivedEvent } from '../../../../../lib/bus/bus-event.js';
import { EventHeads } from '../../../../../lib/journal/event-heads.js';
import { encodeEvents } from '../../../../support/bus/listed-batch.js';

function makeEvents(record: number, count: number): ReceivedEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    queue: index % 4 === 0 ? '8' : '1',
    location: `/var/log/${String(index % 3)}`,
    message: Buffer.from(`record ${String(record)} event ${String(index)}`),
    receivedAt: index * 10,
    agent: index % 2 === 0 ? undefined : { id: `00${String(index % 5)}`, name: 'x', ip: 'any' },
    stream: `s${String(index % 2)}`,
    sequence: index + 1,
  }));
}

/** As a unit has it. */
function shown({ queue, location, message, receivedAt, agent }: Omit<ReceivedEvent, 'stream' | 'sequence'>) {
  return { queue, location, message: message.toString(), receivedAt, agent };
}

describe('units of work', () => {
  it('give each thread its events, in their order, and nobody the others', () => {
    const part = fc.record({ size: fc.integer({ min: 1, max: 20 }), from: fc.nat(19), count: fc.nat(20) });
    const owner = fc.constantFrom(0, 1, 2, NOBODY);
    const builder = new UnitBuilder();
    const heads = new EventHeads();
    const memories = new UnitMemories(2);
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 4 }),
        fc.array(owner, { minLength: 80, maxLength: 80 }),
        (drafts, owners) => {
          const counting: ReceivedEvent[] = [];
          drafts.forEach(({ size, from, count }, index) => {
            const record = makeEvents(index, size);
            const payload = encodeEvents(record);
            const start = Math.min(from, size - 1);
            const end = Math.min(size, start + count);
            const before = counting.length - start;
            builder.add(payload, heads.read(payload), start, end, (place) => owners[before + place] ?? NOBODY);
            counting.push(...record.slice(start, end));
          });
          expect(builder.count).to.equal(counting.length);
          expect(builder.messageBytes).to.equal(counting.reduce((sum, { message }) => sum + message.length, 0));
          const unit = builder.build((bytes) => memories.take(bytes));
          for (const thread of [0, 1, 2]) {
            const own = counting.filter((_, index) => owners[index] === thread);
            expect([...unit.eventsOf(thread)].map(shown)).to.deep.equal(own.map(shown));
          }
          counting.forEach((event, index) => {
            expect(shown(unit.event(index))).to.deep.equal(shown(event));
            expect([unit.times[index], String.fromCharCode(unit.queues[index] ?? 0)]).to.deep.equal([
              event.receivedAt,
              event.queue,
            ]);
          });
          memories.giveBack(unit.memory);
        },
      ),
    );
  });

  it('use memory again, and read none of it behind the last event of a thread', () => {
    const memories = new UnitMemories(1);
    const builder = new UnitBuilder();
    const heads = new EventHeads();
    const make = (owner: number): Unit => {
      const payload = encodeEvents(makeEvents(owner, 50));
      builder.add(payload, heads.read(payload), 0, 50, (index) => (index === 0 ? 1 : owner));
      return builder.build((bytes) => memories.take(bytes));
    };
    const first = make(0);
    const events = first.eventsOf(1);
    expect(events.next().value?.message.toString()).to.equal('record 0 event 0');
    memories.giveBack(first.memory);
    expect(make(1).memory).to.equal(first.memory);
    expect(events.next()).to.deep.equal({ done: true, value: undefined });
    expect(make(1).memory).not.to.equal(first.memory);
  });

  it('take more events than they had room for', () => {
    const builder = new UnitBuilder();
    const events = makeEvents(0, 5000);
    const payload = encodeEvents(events);
    builder.add(payload, new EventHeads().read(payload), 0, events.length, (index) => index % 2);
    const unit = builder.build((bytes) => new SharedArrayBuffer(bytes));
    expect([...unit.eventsOf(1)].map(shown)).to.deep.equal(events.filter((_, index) => index % 2 === 1).map(shown));
    expect([
      builder.count,
      builder.messageBytes,
      builder.build((bytes) => new SharedArrayBuffer(bytes)).count,
    ]).to.deep.equal([0, 0, 0]);
  });
});
