import { expect } from 'chai';
import fc from 'fast-check';
import { AgentKey } from '../../../../lib/agentlink/agent-key.js';
import { Blowfish } from '../../../../lib/agentlink/blowfish.js';
import { BlowfishCache } from '../../../../lib/agentlink/blowfish-cache.js';
import { piWords } from '../../../../lib/agentlink/pi-words.js';
import { AgentAddress } from '../../../../lib/network/agent-address.js';

const NO_IV = Buffer.alloc(8);
const hex = (text: string): Buffer => Buffer.from(text, 'hex');

describe('Blowfish', () => {
  it('computes its tables', () => {
    const words = piWords(1042);
    const text = (index: number): string => ((words[index] ?? 0) >>> 0).toString(16).padStart(8, '0');
    // First and last subkey, first and last word of the boxes, as every description of the cipher prints them.
    expect([text(0), text(17), text(18), text(1041)]).to.deep.equal(['243f6a88', '8979fb1b', 'd1310ba6', '3ac372e6']);
  });

  it('gives the published results for single blocks', () => {
    const published = [
      ['0000000000000000', '0000000000000000', '4ef997456198dd78'],
      ['ffffffffffffffff', 'ffffffffffffffff', '51866fd5b85ecb8a'],
      ['3000000000000000', '1000000000000001', '7d856f9a613063f2'],
      ['0123456789abcdef', '1111111111111111', '61f9c3802281b096'],
      ['fedcba9876543210', '0123456789abcdef', '0aceab0fc6a0a28d'],
      ['7ca110454a1a6e57', '01a1d6d039776742', '59c68245eb05282b'],
    ];
    for (const [key = '', clear = '', cipher = ''] of published) {
      const blowfish = new Blowfish(hex(key));
      expect(blowfish.encryptCbc(hex(clear), NO_IV).toString('hex'), key).to.equal(cipher);
      expect(blowfish.decryptCbc(hex(cipher), NO_IV).toString('hex'), key).to.equal(clear);
    }
  });

  it('gives the published result for chained blocks', () => {
    const blowfish = new Blowfish(hex('0123456789abcdeff0e1d2c3b4a59687'));
    const clear = Buffer.from('7654321 Now is the time for \0\0\0\0');
    const cipher = '6b77b4d63006dee605b156e27403979358deb9e7154616d959f1652bd5ff92cc';
    expect(blowfish.encryptCbc(clear, hex('fedcba9876543210')).toString('hex')).to.equal(cipher);
    expect(blowfish.decryptCbc(hex(cipher), hex('fedcba9876543210')).equals(clear)).to.equal(true);
  });

  it('takes back what it made, whatever key and text', () => {
    const bytes = fc.uint8Array({ minLength: 4, maxLength: 72 });
    const blocks = fc.uint8Array({ maxLength: 25 * 8 }).map((all) => Buffer.from(all.subarray(0, all.length & ~7)));
    const iv = fc.uint8Array({ minLength: 8, maxLength: 8 }).map((all) => Buffer.from(all));
    fc.assert(
      fc.property(bytes, blocks, iv, (key, clear, start) => {
        const blowfish = new Blowfish(key);
        expect(blowfish.decryptCbc(blowfish.encryptCbc(clear, start), start).equals(clear)).to.equal(true);
      }),
      { numRuns: 100 },
    );
  });

  it('refuses keys and texts of a wrong length', () => {
    expect(() => new Blowfish(Buffer.alloc(3))).to.throw(RangeError, '3');
    expect(() => new Blowfish(Buffer.alloc(73))).to.throw(RangeError, '73');
    const blowfish = new Blowfish(Buffer.alloc(47));
    expect(() => blowfish.decryptCbc(Buffer.alloc(9), NO_IV)).to.throw(RangeError);
    expect(() => blowfish.encryptCbc(Buffer.alloc(7), NO_IV)).to.throw(RangeError);
  });

  it('holds a bounded number of schedules, those last used', () => {
    const cache = new BlowfishCache(3);
    const keys = ['1', '2', '3', '4'].map((id) => new AgentKey(id, 'web', AgentAddress.any, 'k'));
    const first = keys.slice(0, 3).map((key) => cache.of(key));
    expect(cache.of(keys[0]!)).to.equal(first[0]);
    cache.of(keys[3]!);
    expect(cache.size).to.equal(3);
    expect(cache.of(keys[0]!)).to.equal(first[0]);
    expect(cache.of(keys[1]!)).to.not.equal(first[1]);
  });
});
