import { expect } from 'chai';
import fc from 'fast-check';
import type { BusAgent, ReceivedEvent } from '../../../../lib/bus/bus-event.js';
import { encodeEventBatch, EventBatchError } from '../../../../lib/journal/event-batch.js';
import { type EventHead, EventHeads, readEventAgent, readEventSource } from '../../../../lib/journal/event-heads.js';
import { encodeEvents, listedBatch } from '../../../support/bus/listed-batch.js';
import { decodeEventBatch } from '../../../support/journal/decode-event-batch.js';

const text = fc.oneof(fc.string({ maxLength: 20 }), fc.string({ unit: 'binary', maxLength: 20 }));
const byteString = fc
  .array(fc.integer({ min: 0, max: 255 }), { maxLength: 20 })
  .map((codes) => String.fromCharCode(...codes));
const bareAgent = fc.record({ id: fc.constantFrom('001', '002', '1000'), name: text, ip: text });
const agent: fc.Arbitrary<BusAgent> = fc.oneof(
  bareAgent,
  fc
    .tuple(bareAgent, fc.array(fc.tuple(text, text), { maxLength: 4 }))
    .map(([bare, labels]) => ({ ...bare, labels: new Map(labels) })),
);

/** Events that share streams, locations and agents, as those of a batch do. */
const batch: fc.Arbitrary<ReceivedEvent[]> = fc
  .record({
    agents: fc.array(agent, { minLength: 1, maxLength: 3 }),
    locations: fc.array(byteString, { minLength: 1, maxLength: 3 }),
    streams: fc.array(fc.constantFrom('svc-remoted:1', '2049:1:1', 'svc-apid:x'), { minLength: 1, maxLength: 3 }),
    events: fc.array(
      fc.record({
        pick: fc.tuple(fc.nat(2), fc.nat(3), fc.nat(2)),
        queue: fc.constantFrom('1', '8', 'd', '\xff'),
        message: fc.uint8Array({ maxLength: 300 }),
        step: fc.oneof(fc.constant(1), fc.nat(5), fc.maxSafeInteger().map(Math.abs)),
        receivedAt: fc.oneof(
          fc.integer({ min: 1_795_219_200_000, max: 1_795_219_200_003 }),
          fc.double({ noNaN: true }),
        ),
        idempotency: fc.option(fc.record({ key: fc.string({ minLength: 1, maxLength: 128 }), index: fc.nat() }), {
          nil: undefined,
        }),
      }),
      { maxLength: 40 },
    ),
  })
  .map(({ agents, locations, streams, events }) => {
    let sequence = 0;
    return events.map(({ pick, queue, message, step, receivedAt, idempotency }) => {
      sequence = sequence + step > Number.MAX_SAFE_INTEGER ? step : sequence + step;
      return {
        queue,
        location: locations[pick[0] % locations.length]!,
        message: Buffer.from(message),
        receivedAt,
        // 3 of them at most: sometimes none.
        agent: agents[pick[1]],
        idempotency,
        stream: streams[pick[2] % streams.length]!,
        sequence,
      };
    });
  });

/** Events as their heads have them, put together again. */
function byHeads(payload: Buffer, heads: EventHeads): ReceivedEvent[] {
  heads.read(payload);
  return Array.from({ length: heads.count }, (_, index) => {
    const head: EventHead = { stream: '', sequence: 0, receivedAt: 0, idempotency: undefined };
    heads.put(index, head);
    const source = heads.sources[index]!;
    const agentAt = heads.agentAt[source]!;
    const agent = agentAt === 0 ? undefined : readEventAgent(payload, agentAt);
    expect(heads.agentIdOf(payload, source)).to.equal(agent?.id);
    expect(heads.agentIdBytes(payload, source)).to.equal(agent?.id.length);
    const from = readEventSource(payload, heads.sourceAt[source]!, agent);
    expect(heads.locationOf(payload, source)).to.equal(from.location);
    expect(String.fromCharCode(heads.queues[source]!)).to.equal(from.queue);
    const at = heads.messageAt[index]!;
    return { ...from, ...head, message: payload.subarray(at, at + heads.messageBytes[index]!) };
  });
}

/** What a reader makes of bytes: an error by its message. */
function result(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    expect(error).to.be.instanceOf(EventBatchError);
    return String(error);
  }
}

describe('event batch of the journal', () => {
  it('gives back every field of every event, also by heads', () => {
    const heads = new EventHeads();
    fc.assert(
      fc.property(batch, (events) => {
        const payload = encodeEvents(events);
        expect(decodeEventBatch(payload)).to.deep.equal(events);
        expect(byHeads(payload, heads)).to.deep.equal(events);
      }),
      { numRuns: 300 },
    );
  });

  it('shares agents, also those that came as different objects', () => {
    const events = Array.from({ length: 100 }, (_, index) => ({
      queue: '1',
      location: '/var/log/auth.log',
      message: Buffer.from('text'),
      receivedAt: 1_795_219_200_123,
      agent: { id: '001', name: 'web', ip: 'any', labels: new Map([['team', 'blue'.repeat(100)]]) },
      idempotency: undefined,
      stream: 'svc-remoted:1',
      sequence: index + 1,
    }));
    const payload = encodeEvents(events);
    expect(payload.length).to.be.lessThan(2000);
    const decoded = decodeEventBatch(payload);
    expect(decoded).to.deep.equal(events);
    expect(decoded[99]!.agent).to.equal(decoded[0]!.agent);
    expect(decoded[0]!.message.buffer).to.equal(payload.buffer);
  });

  it('has no more memory than it needs, however large what it came in was', () => {
    const event = { queue: '1', location: 'x', message: Buffer.from('text'), receivedAt: 1, agent: undefined };
    const listed = listedBatch([{ ...event, idempotency: undefined, stream: 's', sequence: 1 }]);
    const { payload } = encodeEventBatch({ ...listed, bytes: 4 * 1024 * 1024 });
    expect(payload.buffer.byteLength).to.be.at.most(Buffer.poolSize);
    expect(decodeEventBatch(payload)).to.deep.equal(listed.events);
  });

  it('refuses anything else with one error, and never reads beyond it', () => {
    const heads = new EventHeads();
    expect(() => decodeEventBatch(Buffer.alloc(0))).to.throw(EventBatchError, 'ends at byte 0');
    expect(() => decodeEventBatch(Buffer.from([2, 0]))).to.throw(EventBatchError, 'version 2, 1 is known');
    expect(() => decodeEventBatch(Buffer.from([1, 0, 0]))).to.throw(EventBatchError, 'left over at byte 2');
    fc.assert(
      fc.property(
        batch,
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
        fc.nat(),
        (events, flips, cut) => {
          const payload = encodeEvents(events);
          for (const [at, value] of flips) payload[at % payload.length] = value;
          const bytes = payload.subarray(0, cut % 2 === 0 ? payload.length : cut % payload.length);
          const whole = result(() => decodeEventBatch(bytes).map(({ sequence }) => sequence));
          const byHead = result(() => {
            const { count, sequences } = heads.read(bytes);
            return [...sequences.subarray(0, count)];
          });
          expect(byHead).to.deep.equal(whole);
        },
      ),
      { numRuns: 500 },
    );
  });
});
