import { expect } from 'chai';
import fc from 'fast-check';
import { encodeUnit, eventOfUnit, eventsOfUnit, NOBODY } from '../../../../../daemons/analysisd/threads/units.js';
import type { ReceivedEvent } from '../../../../../lib/bus/bus-event.js';
import { encodeEventBatch } from '../../../../../lib/journal/event-batch.js';

function makeEvents(record: number, count: number): ReceivedEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    queue: '1',
    location: `/var/log/${String(index % 3)}`,
    message: Buffer.from(`record ${String(record)} event ${String(index)}`),
    receivedAt: index * 10,
    agent: index % 2 === 0 ? undefined : { id: `00${String(index % 5)}`, name: 'x', ip: 'any' },
    idempotency: undefined,
    stream: `s${String(index % 2)}`,
    sequence: index + 1,
  }));
}

describe('units of work', () => {
  it('give each thread its events, in their order, and nobody the others', () => {
    const part = fc.record({ size: fc.integer({ min: 1, max: 20 }), from: fc.nat(19), count: fc.nat(20) });
    const owner = fc.constantFrom(0, 1, 2, NOBODY);
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 4 }),
        fc.array(owner, { minLength: 80, maxLength: 80 }),
        (drafts, all) => {
          const records = drafts.map(({ size }, index) => makeEvents(index, size));
          const parts = drafts.map(({ size, from, count }, index) => {
            const start = Math.min(from, size - 1);
            return {
              payload: encodeEventBatch(records[index] ?? []),
              from: start,
              count: Math.min(count, size - start),
            };
          });
          const counting = parts.flatMap(({ from, count }, index) => records[index]?.slice(from, from + count) ?? []);
          const owners = Uint8Array.from(all.slice(0, counting.length));
          const unit = encodeUnit(parts, owners);
          for (const thread of [0, 1, 2]) {
            const found = [...eventsOfUnit(unit, thread)].map((event) => ({
              ...event,
              message: Buffer.from(event.message),
            }));
            expect(found).to.deep.equal(counting.filter((_, index) => owners[index] === thread));
          }
          counting.forEach((event, index) => {
            const { message, ...rest } = eventOfUnit(unit, index) ?? expect.fail('no event');
            expect({ ...rest, message: Buffer.from(message) }).to.deep.equal(event);
          });
        },
      ),
    );
  });
});
