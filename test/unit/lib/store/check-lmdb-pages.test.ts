import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import * as z from 'zod';
import { checkLmdbPages } from '../../../../lib/store/check-lmdb-pages.js';
import { LmdbStore } from '../../../../lib/store/lmdb-store.js';

const PAGE = 4096;
const OPTIONS = { tables: ['things', 'others', 'none'], migrations: [() => {}], checked: true };
const value = z.object({ text: z.string() });

describe('checkLmdbPages', () => {
  let base: string;
  let good: Buffer;
  let used: number;
  let inUse: number[];

  before(async () => {
    base = mkdtempSync(join(tmpdir(), 'svc-pages-'));
    const directory = join(base, 'good');
    const store = await LmdbStore.open({ directory, ...OPTIONS });
    const things = store.table<number, z.output<typeof value>>('things', value);
    const others = store.table<string, z.output<typeof value>>('others', value);
    // Several levels, entries of many pages, and pages that became free.
    for (let round = 0; round < 6; round += 1) {
      const changes = Array.from({ length: 1500 }, (_, index) =>
        things.put(index, { text: `thing ${round} `.repeat(6) }),
      );
      await store.commit([...changes, others.put(`large-${round}`, { text: 'x'.repeat(10_000 * (round + 1)) })]);
    }
    await store.commit([...Array(700).keys()].map((key) => things.remove(key * 2)));
    await store.commit([others.remove('large-3')]);
    await store.close();
    good = readFileSync(join(directory, 'data.mdb'));
    const newest = good.readBigUInt64LE(PAGE + 152) > good.readBigUInt64LE(152) ? PAGE : 0;
    used = Number(good.readBigUInt64LE(newest + 144)) + 1;
    good = good.subarray(0, used * PAGE);
  });
  after(() => rmSync(base, { recursive: true, force: true }));

  function checked(bytes: Buffer): string | undefined {
    const path = join(base, 'copy.mdb');
    writeFileSync(path, bytes);
    return checkLmdbPages(path);
  }

  it('finds nothing wrong with what LMDB wrote, at any moment', async () => {
    expect(checked(good)).to.equal(undefined);
    expect(checkLmdbPages(join(base, 'absent'))).to.equal(undefined);
    expect(checked(Buffer.alloc(0))).to.equal(undefined);
    const directory = join(base, 'growing');
    const store = await LmdbStore.open({ directory, ...OPTIONS });
    expect(checkLmdbPages(join(directory, 'data.mdb'))).to.equal(undefined);
    const things = store.table<number, z.output<typeof value>>('things', value);
    for (let round = 0; round < 60; round += 1) {
      const key = (round * 7) % 20;
      await store.commit([round % 3 === 2 ? things.remove(key) : things.put(key, { text: 'y'.repeat(round * 150) })]);
      expect(checkLmdbPages(join(directory, 'data.mdb')), `round ${round}`).to.equal(undefined);
    }
    await store.close();
  });

  it('finds pages that are in use and were lost', () => {
    inUse = Array.from({ length: used - 2 }, (_, index) => index + 2).filter((page) => {
      const bytes = Buffer.from(good);
      bytes.fill(0, page * PAGE, (page + 1) * PAGE);
      return checked(bytes) !== undefined;
    });
    // The others are free, or the rest of an entry of several pages, which is the business of the digest.
    expect(inUse.length).to.be.within(20, used - 20);
  });

  it('finds entries of several pages that say another number of pages than their tables', () => {
    const overflows = inUse.filter((page) => good.readUInt16LE(page * PAGE + 18) === 4);
    expect(overflows.length).to.be.above(3);
    for (const page of overflows) {
      for (const count of [0, 1, 57_383]) {
        const bytes = Buffer.from(good);
        bytes.writeUInt32LE(count, page * PAGE + 20);
        expect(checked(bytes)).to.equal(`its page ${page} is damaged`);
      }
    }
  });

  it('finds pages with flags of a transaction in work', () => {
    for (const page of inUse) {
      for (const flag of [0x10, 0x40_00, 0x80_00]) {
        const bytes = Buffer.from(good);
        bytes.writeUInt16LE(good.readUInt16LE(page * PAGE + 18) | flag, page * PAGE + 18);
        expect(checked(bytes)).to.equal(`its page ${page} is damaged`);
      }
    }
  });

  it('leaves nothing that ends the process, or loses entries without an error', function () {
    this.timeout(60_000);
    const program = join(base, 'open.mjs');
    const module = new URL('../../../../lib/store/lmdb-store.js', import.meta.url).href;
    // Opens each directory that it is given in turn; the last one begun is the one that ended it.
    writeFileSync(
      program,
      `import { LmdbStore } from '${module}';
       for (const directory of process.argv.slice(2)) {
         process.stdout.write(directory + ' ');
         const options = { directory, tables: ['things', 'others', 'none'], migrations: [() => {}], checked: true };
         try {
           const store = await LmdbStore.open(options);
           for (let round = 0; round < 3; round += 1) {
             await store.commit([{ table: 'others', key: 'large-' + round, value: Buffer.alloc(30_000) }]);
           }
           process.stdout.write('opened\\n');
           await store.close();
         } catch (error) {
           process.stdout.write(error.code + '\\n');
         }
       }`,
    );
    const harms = fc.sample(
      fc.record({
        page: fc.constantFrom(...inUse),
        at: fc.integer({ min: 16, max: 120 }),
        bytes: fc.uint8Array({ minLength: 1, maxLength: 64 }),
      }),
      60,
    );
    const directories = harms.map(({ page, at, bytes }, index) => {
      const directory = join(base, `harm-${index}`);
      cpSync(join(base, 'good'), directory, { recursive: true });
      const changed = Buffer.from(good);
      changed.set(bytes, page * PAGE + at);
      writeFileSync(join(directory, 'data.mdb'), changed);
      return directory;
    });
    const { stdout, stderr, status, signal } = spawnSync(process.execPath, [program, ...directories], {
      encoding: 'utf8',
    });
    expect([status, signal], `${stdout.split('\n').at(-1)}: ${stderr}`).to.deep.equal([0, null]);
    const outcomes = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[1]);
    expect(outcomes.filter((one) => one !== 'opened' && one !== 'damaged')).to.deep.equal([]);
    expect(outcomes).to.include('damaged').and.to.include('opened');
    expect(outcomes).to.have.length(harms.length);
  });
});
