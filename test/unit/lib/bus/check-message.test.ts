import { expect } from 'chai';
import fc from 'fast-check';
import { MAX_DEPTH } from '../../../../lib/bus/bus-limits.js';
import { checkMessage, MessageError } from '../../../../lib/bus/check-message.js';
import { decodeMessage, encodeMessage } from '../../../../lib/bus/message-codec.js';

const plain = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
    fc.string({ unit: 'grapheme', maxLength: 300 }),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc.array(tie('value'), { maxLength: 20 }),
    fc.dictionary(
      fc.string({ maxLength: 40 }).filter((key) => key !== '__proto__'),
      tie('value'),
      { maxKeys: 20, noNullPrototype: true },
    ),
  ),
})).value;

describe('bus messages', () => {
  it('give back what was put in, for any plain data', () => {
    fc.assert(
      fc.property(plain, (value) => {
        expect(decodeMessage(encodeMessage(value))).to.deep.equal(value);
      }),
      { numRuns: 300 },
    );
  });

  it('leave undefined members out, and send none of what msgpack has no type for', () => {
    expect(decodeMessage(encodeMessage({ a: undefined, b: [1, undefined] }))).to.deep.equal({ b: [1, null] });
    expect(() => encodeMessage({ at: new Date(0) })).to.throw('unsupported type');
    expect(() => encodeMessage(Symbol('x'))).to.throw('Unknown type');
  });

  it('never pollute a prototype', () => {
    const evil = encodeMessage(JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'));
    const decoded = decodeMessage(evil) as Record<string, unknown>;
    expect(Object.getPrototypeOf(decoded)).to.equal(Object.prototype);
    expect(decoded['polluted']).to.equal(undefined);
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });

  const refused: [string, number[], string][] = [
    ['nothing', [], 'ends at byte 0'],
    ['a cut value', [0x92, 0x01], 'announces more'],
    ['a value after a cut one', [0x93, 0xcd, 0x01, 0x02], 'ends at byte 4'],
    ['a text longer than the message', [0xd9, 0x05, 0x61], 'longer than the message'],
    ['an array of four thousand million', [0xdd, 0xff, 0xff, 0xff, 0xff], 'announces more'],
    ['a map of four thousand million', [0xdf, 0xff, 0xff, 0xff, 0xff], 'announces more'],
    ['bytes of four thousand million', [0xc6, 0xff, 0xff, 0xff, 0xff], 'longer than the message'],
    ['nested arrays that share their bytes', [0xdc, 0, 3, 0xdc, 0, 3, 0xdc, 0, 3, 0, 0, 0], 'announces more'],
    ['a second value', [0x01, 0x02], 'goes on after'],
    ['a record definition', [0xd4, 0x72, 0x40, 0x91, 0xa1, 0x61, 0x01], 'unsupported type 0xd4'],
    ['a timestamp', [0xd6, 0xff, 0, 0, 0, 0], 'unsupported type 0xd6'],
    ['an extension', [0xc7, 1, 0x65, 0], 'unsupported type 0xc7'],
    ['the unused type', [0xc1], 'unsupported type 0xc1'],
  ];
  for (const [name, bytes, message] of refused) {
    it(`are refused: ${name}`, () => {
      expect(() => {
        checkMessage(Uint8Array.from(bytes));
      }).to.throw(MessageError, message);
    });
  }

  it('are refused when nested too deep, long before the stack is', () => {
    const nested = (depth: number): Buffer => Buffer.concat([Buffer.alloc(depth, 0x91), Buffer.from([0xc0])]);
    expect(() => {
      checkMessage(nested(MAX_DEPTH));
    }).not.to.throw();
    expect(() => {
      checkMessage(nested(MAX_DEPTH + 1));
    }).to.throw('nested deeper');
    expect(() => {
      checkMessage(nested(1_000_000));
    }).to.throw('nested deeper');
  });

  it('decode or fail with a MessageError, whatever the bytes', () => {
    const run = (bytes: Uint8Array): void => {
      try {
        decodeMessage(Buffer.from(bytes));
      } catch (error) {
        expect(error).to.be.instanceOf(MessageError);
      }
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), run), { numRuns: 3000 });
    const mutated = fc.tuple(plain, fc.nat(), fc.nat(255), fc.nat(10)).map(([value, at, byte, cut]) => {
      const bytes = encodeMessage(value);
      bytes[at % bytes.length] = byte;
      return bytes.subarray(0, bytes.length - Math.min(cut, bytes.length));
    });
    fc.assert(fc.property(mutated, run), { numRuns: 1000 });
    expect(decodeMessage(encodeMessage({ still: 'works' }))).to.deep.equal({ still: 'works' });
  });
});
