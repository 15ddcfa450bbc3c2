import { constants, deflateSync, inflateSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { Inflater } from '../../../../lib/agentlink/inflater.js';

const MOST = 5000;

/** What a call of its own makes of a stream. */
function alone(stream: Buffer): Buffer | undefined {
  try {
    return inflateSync(stream, { maxOutputLength: MOST });
  } catch {
    return undefined;
  }
}

const text = fc.oneof(
  fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
  fc.string({ maxLength: 400 }).map((value) => Buffer.from(value)),
  fc
    .tuple(fc.string({ minLength: 1, maxLength: 9 }), fc.nat(1200))
    .map(([part, times]) => Buffer.from(part.repeat(times))),
  fc.constantFrom(MOST - 1, MOST, MOST + 1).map((size) => Buffer.alloc(size, 'x')),
);
const stream = fc
  .tuple(
    text,
    fc.record({
      level: fc.integer({ min: 0, max: 9 }),
      strategy: fc.constantFrom(
        constants.Z_DEFAULT_STRATEGY,
        constants.Z_FIXED,
        constants.Z_HUFFMAN_ONLY,
        constants.Z_RLE,
      ),
      windowBits: fc.integer({ min: 9, max: 15 }),
    }),
  )
  .map(([bytes, options]) => deflateSync(bytes, options));
/** A stream that is whole, cut, followed by more, or damaged. */
const anyStream = fc.oneof(
  stream,
  fc.tuple(stream, fc.nat()).map(([bytes, cut]) => bytes.subarray(0, cut % (bytes.length + 1))),
  fc.tuple(stream, fc.uint8Array({ maxLength: 20 })).map((parts) => Buffer.concat(parts)),
  fc.tuple(stream, fc.nat(), fc.nat(255)).map(([bytes, at, value]) => {
    bytes[at % bytes.length] = value;
    return bytes;
  }),
);

describe('inflater', () => {
  it('makes of a stream what a call for it alone does, whatever came before', () => {
    const inflater = new Inflater(MOST);
    fc.assert(
      fc.property(fc.array(anyStream, { maxLength: 8 }), (streams) => {
        for (const one of streams) expect(inflater.inflate(one)).to.deep.equal(alone(one));
      }),
      { numRuns: 1000 },
    );
  });

  it('gives buffers that nothing is written to any more', () => {
    const inflater = new Inflater(MOST);
    const first = inflater.inflate(deflateSync('the first'));
    inflater.inflate(deflateSync('another'));
    expect(String(first)).to.equal('the first');
  });

  it('has what it needs of this version of Node', () => {
    const small = deflateSync('Failed password for root from 192.0.2.10 port 4321 ssh2');
    const inflater = new Inflater(MOST);
    expect(inflater.isNative).to.equal(true);
    expect(String(inflater.inflate(small))).to.match(/^Failed/);
  });
});
