import { expect } from 'chai';
import fc from 'fast-check';
import { Packr } from 'msgpackr';
import { AdmittedBatch, AdmittedGroup } from '../../../../lib/bus/admitted-batch.js';
import { BatchError, BatchFrame, isBatch } from '../../../../lib/bus/batch-frame.js';
import type { BusAgent, ReceivedEvent } from '../../../../lib/bus/bus-event.js';
import { MessageError } from '../../../../lib/bus/check-message.js';
import { BatchEncoder, encodeHello } from '../../../../lib/bus/event-frames.js';
import { SourceMemory } from '../../../../lib/bus/source-memory.js';

const byteString = fc
  .array(fc.integer({ min: 0, max: 255 }), { maxLength: 20 })
  .map((codes) => String.fromCharCode(...codes));
const agent: fc.Arbitrary<BusAgent> = fc.record({
  id: fc.constantFrom('001', '002', '100000'),
  name: fc.string({ unit: 'grapheme', maxLength: 20 }),
  ip: fc.constantFrom('any', '192.0.2.7'),
  labels: fc.option(
    fc
      .dictionary(fc.string({ maxLength: 5 }), fc.string({ maxLength: 5 }))
      .map((labels) => new Map(Object.entries(labels))),
    {
      nil: undefined,
    },
  ),
});
const STREAMS = ['svc-remoted:1', '2049:1:1', 'svc-apid:x'];

/** Events of some streams, those of each in its order. */
const batch: fc.Arbitrary<ReceivedEvent[]> = fc
  .array(
    fc.record({
      stream: fc.constantFrom(...STREAMS),
      step: fc.oneof(fc.constant(1), fc.nat(300), fc.nat(2 ** 40)),
      queue: fc.constantFrom('1', '8', '\xff'),
      location: fc.oneof(fc.constant('/var/log/syslog'), byteString),
      message: fc.oneof(
        fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
        fc.constantFrom(255, 256, 65_535, 65_536).map((size) => Buffer.alloc(size, 'x')),
      ),
      receivedAt: fc.oneof(
        fc.constant(1_795_219_200_123),
        fc.integer(),
        // There is no time of minus zero.
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((time) => time + 0),
      ),
      agent: fc.option(agent, { nil: undefined }),
      idempotency: fc.option(fc.record({ key: fc.stringMatching(/^[!-~]{1,128}$/), index: fc.nat() }), {
        nil: undefined,
        freq: 5,
      }),
    }),
    { maxLength: 30 },
  )
  .map((items) => {
    const last = new Map<string, number>();
    return items.map(({ step, ...event }) => {
      const sequence = (last.get(event.stream) ?? 0) + step + 1;
      last.set(event.stream, sequence);
      return { ...event, sequence };
    });
  });

function encode(events: readonly ReceivedEvent[]): Buffer {
  const encoder = new BatchEncoder();
  const last = new Map<string, number>();
  for (const event of events) {
    encoder.add(event.stream, last.get(event.stream) ?? 0, event.sequence, event);
    last.set(event.stream, event.sequence);
  }
  return encoder.finish(7);
}

const packr = new Packr({ useRecords: false, mapsAsObjects: true });
const sample = (cells: unknown[], more: { streams?: unknown; sources?: unknown } = {}): Buffer => {
  const { streams = [['s', 0]], sources = [['1', 'l', null]] } = more;
  return packr.pack([2, 7, streams, sources, cells]);
};

describe('batch of the bus', () => {
  it('gives back every field of every event', () => {
    const memory = new SourceMemory();
    fc.assert(
      fc.property(batch, (events) => {
        const frame = encode(events);
        expect(isBatch(frame)).to.equal(true);
        const read = new BatchFrame(frame, memory);
        expect(read.number).to.equal(7);
        expect(read.count).to.equal(events.length);
        expect(read.events).to.deep.equal(events);
        const last = new Map(events.map(({ stream, sequence }) => [stream, sequence]));
        expect(new Map(read.streams.map(({ stream }, index) => [stream, read.last[index]]))).to.deep.equal(last);
      }),
      { numRuns: 300 },
    );
    expect(isBatch(encodeHello(1, []))).to.equal(false);
  });

  it('reads numbers however they are written', () => {
    const number = (...bytes: number[]): Buffer => Buffer.from(bytes);
    const time = (bytes: Buffer): number | undefined => {
      const head = sample([0, 1, 5, 0, Buffer.from('x'), null]);
      const at = head.length - 6;
      expect(head[at]).to.equal(5);
      return new BatchFrame(Buffer.concat([head.subarray(0, at), bytes, head.subarray(at + 1)]), new SourceMemory())
        .events[0]?.receivedAt;
    };
    expect(time(number(0xff))).to.equal(-1);
    expect(time(number(0xcc, 0xfe))).to.equal(254);
    expect(time(number(0xcd, 0x01, 0x02))).to.equal(258);
    expect(time(number(0xce, 0x80, 0, 0, 1))).to.equal(2_147_483_649);
    expect(time(number(0xcf, 0, 0, 1, 0, 0, 0, 0, 2))).to.equal(2 ** 40 + 2);
    expect(time(number(0xd0, 0x80))).to.equal(-128);
    expect(time(number(0xd1, 0xff, 0xfe))).to.equal(-2);
    expect(time(number(0xd2, 0xff, 0xff, 0xff, 0xfd))).to.equal(-3);
    expect(time(number(0xd3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfc))).to.equal(-4);
    expect(time(number(0xca, 0x3f, 0x80, 0, 0))).to.equal(1);
    expect(time(number(0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0))).to.equal(1.5);
    expect(() => time(number(0xc0))).to.throw(BatchError, 'event 0');
    expect(() => time(number(0xa1, 0x35))).to.throw(BatchError, 'event 0');
  });

  it('refuses what is not as it should be, and says of which batch', () => {
    const good = [0, 1, 5, 0, Buffer.from('x'), null];
    const refused: [Buffer, string][] = [
      [sample([0, 1, 5, 0, Buffer.from('x')]), 'events of the batch'],
      [sample([...good, ...good]), 'event 1 of the batch'],
      [sample([1, 1, 5, 0, Buffer.from('x'), null]), 'event 0 of the batch'],
      [sample([0, 1, 5, 1, Buffer.from('x'), null]), 'event 0 of the batch'],
      [sample([0, 1, 5, 0, 'x', null]), 'event 0 of the batch'],
      [sample([0, 1, 5, 0, Buffer.from('x'), ['', 0]]), 'event 0 of the batch'],
      [sample([0, 1.5, 5, 0, Buffer.from('x'), null]), 'event 0 of the batch'],
      [sample(good, { streams: [['s', -1]] }), 'streams of the batch'],
      [
        sample(good, {
          streams: [
            ['s', 0],
            ['s', 0],
          ],
        }),
        'streams of the batch',
      ],
      [sample(good, { sources: [['12', 'l', null]] }), 'sources of the batch'],
      [sample(good, { sources: null }), 'sources of the batch'],
      [packr.pack([2, 7]), 'streams of the batch'],
    ];
    for (const [frame, text] of refused) {
      const error = expect(() => new BatchFrame(frame, new SourceMemory())).to.throw(BatchError, text);
      error.with.property('number', 7);
    }
    expect(() => new BatchFrame(packr.pack([2, 'x']), new SourceMemory())).to.throw(MessageError, 'no number');
    expect(() => new BatchFrame(sample(good).subarray(0, -1), new SourceMemory())).to.throw(
      MessageError,
      'inside a value',
    );
  });

  it('knows a source again', () => {
    const memory = new SourceMemory();
    const labels = new Map([['team', 'blue']]);
    const event = (sequence: number): ReceivedEvent => ({
      queue: '1',
      location: '/var/log/syslog',
      message: Buffer.from('x'),
      receivedAt: 1,
      agent: { id: '001', name: 'web', ip: 'any', labels },
      stream: 's',
      sequence,
    });
    const sources = [1, 2].map((sequence) => {
      const cursor = new BatchFrame(encode([event(sequence)]), memory).cursor();
      cursor.next();
      return cursor.source;
    });
    expect(sources[0]).to.deep.include({ queue: '1', location: '/var/log/syslog' });
    expect(sources[1]).to.equal(sources[0]);
  });

  it('is handed on without what was admitted before', () => {
    const memory = new SourceMemory();
    fc.assert(
      fc.property(batch, fc.array(fc.nat(30), { minLength: 3, maxLength: 3 }), (events, skips) => {
        const frame = new BatchFrame(encode(events), memory);
        const reached = frame.streams.map(({ stream, position }, index) => {
          const own = events.filter((event) => event.stream === stream);
          const skip = skips[index] ?? 0;
          return skip === 0 ? position : (own[Math.min(skip, own.length) - 1]?.sequence ?? position);
        });
        const before = new Map(frame.streams.map(({ stream }, index) => [stream, reached[index] ?? 0]));
        const fresh = events.filter(({ stream, sequence }) => sequence > (before.get(stream) ?? 0));
        const admitted = new AdmittedBatch(frame, reached);
        expect(admitted.count).to.equal(fresh.length);
        expect(admitted.duplicates).to.equal(events.length - fresh.length);
        const group = new AdmittedGroup([admitted]);
        expect(group.events).to.deep.equal(fresh);
        expect(group.positions).to.deep.equal(new Map(fresh.map(({ stream, sequence }) => [stream, sequence])));
      }),
      { numRuns: 300 },
    );
  });
});
