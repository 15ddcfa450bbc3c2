import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { type BinaryTable, MAX_KEY_BYTES } from '../../../../lib/store/binary-table.js';
import { LmdbStore } from '../../../../lib/store/lmdb-store.js';

describe('Table with keys of bytes', () => {
  let directory: string;
  let store: LmdbStore;
  let table: BinaryTable;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'svc-binary-'));
    store = await LmdbStore.open({ directory, tables: ['plain'], binaryTables: ['bytes'] });
    table = store.binaryTable('bytes');
  });

  afterEach(async () => {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('gives the entries of a range in the order of their bytes', async () => {
    const key = fc.uint8Array({ minLength: 1, maxLength: 6 }).map((bytes) => Buffer.from(bytes));
    const run = fc.asyncProperty(
      fc.uniqueArray(key, { selector: (bytes) => bytes.toString('hex'), maxLength: 40 }),
      key,
      key,
      fc.boolean(),
      fc.boolean(),
      fc.boolean(),
      fc.option(fc.integer({ min: 1, max: 10 }), { nil: undefined }),
      async (keys, one, other, fromExclusive, toExclusive, reverse, limit) => {
        const [from, to] = Buffer.compare(one, other) <= 0 ? [one, other] : [other, one];
        await store.commit(keys.map((bytes) => table.put(bytes, Buffer.concat([bytes, bytes]))));
        const expected = keys
          .filter((bytes) => {
            const low = Buffer.compare(bytes, from);
            const high = Buffer.compare(bytes, to);
            return (fromExclusive ? low > 0 : low >= 0) && (toExclusive ? high < 0 : high <= 0);
          })
          .sort((a, b) => (reverse ? Buffer.compare(b, a) : Buffer.compare(a, b)))
          .slice(0, limit);
        const range = { from, to, fromExclusive, toExclusive, ...(limit === undefined ? {} : { limit }) };
        const found = [...table.entries({ ...range, reverse })];
        expect(found.map((entry) => entry.key.toString('hex'))).to.deep.equal(
          expected.map((bytes) => bytes.toString('hex')),
        );
        expect(found.map((entry) => entry.value.toString('hex'))).to.deep.equal(
          expected.map((bytes) => Buffer.concat([bytes, bytes]).toString('hex')),
        );
        if (!reverse) {
          expect([...table.keys(range)].map((bytes) => bytes.toString('hex'))).to.deep.equal(
            expected.map((bytes) => bytes.toString('hex')),
          );
        }
        await store.commit(keys.map((bytes) => table.remove(bytes)));
      },
    );
    await fc.assert(run, { numRuns: 60 });
  });

  it('takes keys up to the limit, and the longest stay apart', async () => {
    const first = Buffer.alloc(MAX_KEY_BYTES, 0x61);
    const second = Buffer.from(first);
    second[MAX_KEY_BYTES - 1] = 0x62;
    await store.commit([table.put(first, Buffer.from('1')), table.put(second, Buffer.alloc(0))]);
    expect(table.get(first)?.toString()).to.equal('1');
    expect(table.get(second)?.length).to.equal(0);
  });
});
