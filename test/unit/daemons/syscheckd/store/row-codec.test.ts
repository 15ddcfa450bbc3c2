import { expect } from 'chai';
import fc from 'fast-check';
import type { FileRow } from '../../../../../daemons/syscheckd/store/file-row.js';
import {
  decodeChecksum,
  decodeHead,
  decodeRow,
  encodeRow,
  numberOf,
} from '../../../../../daemons/syscheckd/store/row-codec.js';
import { StoreError } from '../../../../../lib/store/store-error.js';

const byteString = (maxLength: number) => fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)), maxLength }); // oxfmt-ignore
const hex = (digits: number) => fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: digits, maxLength: digits }); // oxfmt-ignore
const digits = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String);
const text = fc.oneof(digits, byteString(40), hex(40), fc.constantFrom('', '-', ':', 'f', '12:3f', '0'.repeat(511)));
const whole = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const stamp = fc.tuple(digits, digits, digits, fc.bigInt({ min: -(10n ** 19n), max: 10n ** 19n }), digits).map((parts) => parts.join(':')); // oxfmt-ignore

const attributes = fc.record(
  {
    checksum: fc.oneof(hex(40), text),
    size: fc.oneof(whole, fc.integer()),
    mtime: fc.integer(),
    perm: fc.oneof(fc.constant('rw-r-sr-t'), text),
    uid: text,
    gid: text,
    user_name: text,
    group_name: text,
    inode: text,
    hash_md5: fc.oneof(hex(32), text),
    hash_sha1: fc.oneof(hex(40), text),
    hash_sha256: fc.oneof(hex(64), text),
    attributes: text,
  },
  { requiredKeys: ['checksum'] },
);
const row: fc.Arbitrary<FileRow> = fc.record({
  path: byteString(300),
  number: whole,
  attributes,
  checks: fc.integer({ min: 0, max: 0xffff }),
  inode: text,
  dev: text,
  stamp: fc.option(fc.oneof(stamp, text), { nil: undefined }),
  lastEvent: whole,
  mode: fc.constantFrom('scheduled', 'realtime', 'whodata'),
});

describe('bytes of a row', () => {
  it('give the row back as it was, whatever is in it', () => {
    fc.assert(
      fc.property(row, fc.boolean(), (given, keepsPath) => {
        const bytes = encodeRow(given, keepsPath ? given.path : undefined);
        expect(decodeRow(bytes, keepsPath ? 'another' : given.path)).to.deep.equal(given);
        const { number, checks, stamp: known } = given;
        expect(decodeHead(bytes)).to.deep.equal({ number, checks, stamp: known });
        expect(numberOf(bytes)).to.equal(number);
        expect(decodeChecksum(bytes)).to.deep.equal({
          checksum: given.attributes.checksum,
          path: keepsPath ? given.path : undefined,
        });
      }),
      { numRuns: 500 },
    );
  });

  it('are refused as damaged, and nothing else, when they are cut or changed', () => {
    fc.assert(
      fc.property(row, fc.nat(), fc.nat(255), fc.boolean(), (given, place, byte, cuts) => {
        const bytes = encodeRow(given);
        const at = place % bytes.length;
        const damaged = cuts ? bytes.subarray(0, at) : Buffer.from(bytes);
        if (!cuts) damaged[at] = byte;
        for (const read of [decodeRow, decodeHead, decodeChecksum, numberOf]) {
          try {
            read(damaged, '/path');
          } catch (error) {
            expect(error).to.be.instanceOf(StoreError).with.property('code', 'damaged');
          }
        }
        if (cuts) expect(() => decodeRow(damaged, '/path')).to.throw(StoreError);
      }),
      { numRuns: 500 },
    );
  });

  it('of a usual file are few', () => {
    const usual: FileRow = {
      path: '/etc/demo',
      number: 12,
      attributes: {
        size: 12,
        perm: 'rw-r--r--',
        uid: '0',
        gid: '0',
        user_name: 'root',
        group_name: 'root',
        inode: '131075',
        mtime: 1_700_000_000,
        hash_md5: '6f5902ac237024bdd0c176cb93063dc4',
        hash_sha1: '22596363b3de40b06f981fb85d82312e8c0ed511',
        hash_sha256: 'a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447',
        checksum: 'e13d968052a4fe08369e6f921a39c695be22b463',
      },
      checks: 511,
      inode: '131075',
      dev: '65024',
      stamp: '65024:131075:12:1700000000000000000:1700000000123456789',
      lastEvent: 1_700_000_600,
      mode: 'scheduled',
    };
    expect(encodeRow(usual)).to.have.length.below(165);
  });

  it('do not hold numbers that are none', () => {
    const given = fc.sample(row, 1)[0]!;
    expect(() => encodeRow({ ...given, number: -1 })).to.throw(RangeError);
    expect(() => encodeRow({ ...given, lastEvent: 1.5 })).to.throw(RangeError);
    expect(() => encodeRow({ ...given, number: 2 ** 48 })).to.throw(RangeError);
  });
});
