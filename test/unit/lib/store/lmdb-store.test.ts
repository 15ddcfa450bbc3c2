import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { open as openLmdb } from 'lmdb';
import * as z from 'zod';
import { LmdbStore, type LmdbStoreOptions } from '../../../../lib/store/lmdb-store.js';
import { StoreError } from '../../../../lib/store/store-error.js';
import { encodeValue } from '../../../../lib/store/store-table.js';

const entry = z.object({ name: z.string(), size: z.number() });
type Entry = z.output<typeof entry>;

describe('LMDB store', () => {
  let directory: string;
  const opened: LmdbStore[] = [];

  beforeEach(() => {
    directory = join(mkdtempSync(join(tmpdir(), 'svc-store-')), 'db');
  });

  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
    rmSync(join(directory, '..'), { recursive: true, force: true });
  });

  async function open(options: Partial<LmdbStoreOptions> = {}): Promise<LmdbStore> {
    const store = await LmdbStore.open({ directory, tables: ['things', 'others'], ...options });
    opened.push(store);
    return store;
  }
  const things = (store: LmdbStore) => store.table<number, Entry>('things', entry);

  async function failure(work: Promise<unknown>): Promise<StoreError> {
    const error: unknown = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(StoreError);
    return error as StoreError;
  }

  it('keeps entries over a close, in the order of their keys', async () => {
    const first = await open();
    const table = things(first);
    await first.commit([10, 9, 100].map((key) => table.put(key, { name: `thing ${key}`, size: key })));
    await first.commit([table.remove(10)]);
    await first.close();

    const second = await open();
    expect([...things(second).entries()]).to.deep.equal([
      [9, { name: 'thing 9', size: 9 }],
      [100, { name: 'thing 100', size: 100 }],
    ]);
    expect(things(second).get(10)).to.equal(undefined);
    expect(statSync(join(directory, 'data.mdb')).mode & 0o777).to.equal(0o640);
    expect(statSync(join(directory, 'lock.mdb')).mode & 0o777).to.equal(0o640);
  });

  it('undoes what could not be written, last first', async () => {
    const store = await open();
    await store.close();
    const undone: string[] = [];
    const results = await Promise.allSettled([
      store.commit([things(store).put(1, { name: 'a', size: 1 })], () => undone.push('first')),
      store.commit([things(store).put(2, { name: 'b', size: 1 })], () => undone.push('second')),
    ]);
    expect(undone).to.deep.equal(['second', 'first']);
    for (const result of results) expect(result).to.have.nested.property('reason.code', 'closed');
  });

  it('is opened by one process at a time', async () => {
    await open();
    expect((await failure(open())).code).to.equal('in_use');
  });

  it('moves an older layout forward, step by step', async () => {
    const old = await open();
    await old.commit([old.table<number, string>('things', z.string()).put(1, 'one')]);
    await old.close();

    const migrations: LmdbStoreOptions['migrations'] = [
      (tables) => {
        for (const [key, value] of tables.entries('things')) tables.put('things', key, { name: value });
      },
      (tables) => {
        for (const [key, value] of tables.entries('things')) tables.put('things', key, { ...Object(value), size: 3 });
        tables.put('others', 'made', true);
      },
    ];
    const store = await open({ migrations });
    expect(things(store).get(1)).to.deep.equal({ name: 'one', size: 3 });
    await store.close();

    const again = await open({ migrations });
    expect(again.table<string, boolean>('others', z.boolean()).get('made')).to.equal(true);
    await again.close();
    expect(await failure(open())).to.include({
      code: 'too_new',
      message: `${directory}: it has version 3, this program knows 1: it was written by a newer one`,
    });
  });

  it('notices entries that were lost or altered, where it is checked', async () => {
    const old = await open();
    await old.commit([1, 2, 3].map((key) => things(old).put(key, { name: 'a', size: key })));
    await old.close();
    const options = { checked: true, migrations: [() => {}] };
    const reopen = async () => (await open(options)).close();
    await reopen();
    const store = await open(options);
    await store.commit([
      things(store).put(4, { name: 'b', size: 1 }),
      things(store).remove(1),
      things(store).remove(77),
    ]);
    await store.commit([things(store).put(4, { name: 'b', size: 2 }), things(store).put(4, { name: 'b', size: 3 })]);
    await store.close();
    await reopen();

    /** As damage does it. */
    const tamper = async (name: string, key: number | string, value?: Buffer) => {
      const root = openLmdb({ path: directory, maxDbs: 4 });
      const table = root.openDB<Buffer, number | string>({ name, encoding: 'binary' });
      const before = table.get(key);
      await (value === undefined ? table.remove(key) : table.put(key, value));
      await root.close();
      return before;
    };
    const damaged = { code: 'damaged', message: `${directory}: entries were lost or altered` };
    const entry4 = await tamper('things', 4, encodeValue({ name: 'b', size: 2 }));
    expect(await failure(open(options))).to.include(damaged);
    await tamper('things', 4, entry4);
    await reopen();
    await tamper('things', 2);
    expect(await failure(open(options))).to.include(damaged);
    await tamper('things', 2, encodeValue({ name: 'a', size: 2 }));
    await reopen();
    await tamper('meta', 'digest');
    expect(await failure(open(options))).to.include(damaged);
    expect((await failure(open())).code).to.equal('too_new');
  });

  it('names what is damaged', async () => {
    const store = await open();
    await store.commit([things(store).put(1, { name: 'x'.repeat(100_000), size: 1 })]);
    const others = store.table<number, string>('others', z.string());
    await store.commit([store.table<number, string>('things', z.string()).put(2, 'not a thing'), others.put(1, 'b')]);
    expect(() => things(store).get(2))
      .to.throw(StoreError, "entry 2 of table 'things' is not what it should be")
      .with.property('code', 'damaged');
    await store.close();

    truncateSync(join(directory, 'data.mdb'), 40_000);
    expect((await failure(open())).message).to.match(/it was cut off$/);
    writeFileSync(join(directory, 'data.mdb'), 'something else');
    expect(await failure(open())).to.include({ code: 'damaged', message: `${directory}: it is not an LMDB file` });
  });
});
