import { expect } from 'chai';
import fc from 'fast-check';
import { Packr } from 'msgpackr';
import { decodeRow, encodeRow } from '../../../../../daemons/db/fim/fim-row.js';
import type { FimColumns } from '../../../../../lib/events/fim/fim-columns.js';

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const text = optional(
  fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.constantFrom('', 'x'.repeat(31), 'x'.repeat(32), 'x'.repeat(255), 'x'.repeat(256), 'ä'.repeat(70_000)),
  ),
);
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value) => Buffer.from(value).toString('hex'));
const hash = optional(
  fc.oneof(hex(15), hex(16), hex(20), hex(32), hex(64), hex(65), fc.constantFrom('', 'ABCD', 'xxx')),
);
const whole = optional(
  fc.oneof(
    fc.maxSafeInteger(),
    fc.constantFrom(0, 127, 128, 255, 256, 65_535, 65_536, 2 ** 31, 2 ** 32 - 1, 2 ** 32, -1, '18446744073709551615'),
  ),
);
const columns: fc.Arbitrary<FimColumns> = fc.record({
  checksum: fc.oneof(hex(20), fc.constantFrom('', 'legacy', 'F'.repeat(40))),
  date: fc.integer(),
  type: fc.constantFrom('file', 'registry_key'),
  file: text,
  arch: text,
  valueName: text,
  valueType: text,
  size: whole,
  perm: text,
  uid: text,
  gid: text,
  md5: hash,
  sha1: hash,
  sha256: hash,
  uname: text,
  gname: text,
  attributes: text,
  symbolicPath: text,
  mtime: whole,
  inode: whole,
});

describe('Encoding of an entry', () => {
  it('gives back what was put in', () => {
    fc.assert(
      fc.property(columns, fc.nat(), fc.boolean(), fc.nat(2 ** 40), (row, changes, ahead, number) => {
        // What a text cannot be as UTF-8 is not asked back.
        fc.pre(
          Object.values(row).every((value) => typeof value !== 'string' || value === Buffer.from(value).toString()),
        );
        const bytes = encodeRow(row, { changes, ahead }, number);
        const read = decodeRow(bytes);
        expect([read.number, read.changes, read.ahead]).to.deep.equal([number, changes, ahead]);
        for (const name of Object.keys(row) as (keyof FimColumns)[]) expect(read[name], name).to.equal(row[name]);
      }),
    );
  });

  it('reads any value as MessagePack has it', () => {
    const packr = new Packr({ useRecords: false, moreTypes: false });
    const value = fc.oneof(
      whole,
      text,
      fc.double({ noNaN: true }),
      fc.integer({ min: -(2 ** 31), max: 2 ** 32 - 1 }),
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    );
    fc.assert(
      fc.property(fc.array(value, { minLength: 19, maxLength: 19 }), (values) => {
        const columns = [1, 2, true, 4, ...values].map((one) => one ?? null);
        const bytes = Buffer.concat([Buffer.from([0]), packr.pack(columns)]);
        const row = decodeRow(bytes);
        expect([row.number, row.changes, row.ahead, row.date]).to.deep.equal([1, 2, true, 4]);
        const wanted = packr.unpack(bytes.subarray(1)) as unknown[];
        const as = (index: number, type: string) => (typeof wanted[index] === type ? wanted[index] : undefined);
        expect(row.gname).to.equal(as(18, 'string'));
        expect(row.inode).to.equal(as(22, 'string') ?? as(22, 'number'));
        const hash = wanted[16];
        expect(row.sha256).to.equal(hash instanceof Uint8Array ? Buffer.from(hash).toString('hex') : as(16, 'string'));
      }),
    );
  });

  it('refuses bytes that are no entry', () => {
    const whole = encodeRow({ checksum: '', date: 1, type: 'file', inode: 'x' }, { changes: 1, ahead: false }, 1);
    const [cut, longer] = [whole.subarray(0, -1), Buffer.concat([whole, Buffer.from([0])])];
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from([0, 0x90]),
      Buffer.from('1junk'),
      Buffer.alloc(30, 0xdc),
      cut,
      longer,
    ]) {
      expect(() => decodeRow(bytes)).to.throw('a row is not what it should be');
    }
  });
});
