import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { FileRow } from '../../../../../daemons/syscheckd/store/file-row.js';
import { FileStore, MOST_LONG_PATHS } from '../../../../../daemons/syscheckd/store/file-store.js';
import { SyncSource } from '../../../../../daemons/syscheckd/store/sync-source.js';
import { RangeSync } from '../../../../../lib/sync/range-sync.js';
import { memoryDirectory } from '../../../../support/memory-directory.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';

/** Around the length from which a path is no longer its own key. */
const LONG = `/${'d'.repeat(1890)}`;
const name = fc.string({ unit: fc.constantFrom('a', 'b', '/', '-', '0', '\xff', '\x01'), minLength: 1, maxLength: 12 });
const path = fc.tuple(fc.constantFrom('/', '/a/', LONG, `${LONG}/x`, `${LONG}12345678`), name).map((parts) => parts.join('')); // oxfmt-ignore

function row(at: string, number = 0): FileRow {
  const checksum = number.toString(16).padStart(40, '0');
  const attributes = { checksum, size: number };
  return { path: at, number, attributes, checks: 511, inode: '1', dev: '2', stamp: undefined, lastEvent: 3, mode: 'scheduled' }; // oxfmt-ignore
}

describe('table of rows', () => {
  let directory: string;
  let store: FileStore;
  beforeEach(async () => {
    directory = mkdtempSync(join(memoryDirectory(), 'svc-rows-'));
    store = await FileStore.open(join(directory, 'db'), new RecordingLogger());
  });
  afterEach(async () => {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const fill = (rows: readonly FileRow[]): Promise<void> =>
    store.commit(
      rows.map((after) => ({ path: after.path, before: undefined, after })),
      [],
    );

  it('is in the order of bytes, paths longer than a key included', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(path, { minLength: 1, maxLength: 40 }), path, path, async (paths, one, two) => {
        await store.clear();
        expect(store.rows).to.equal(0);
        await fill(paths.map((at, index) => row(at, index)));
        expect(store.rows).to.equal(paths.length);
        const sorted = [...paths].sort((first, second) => (first < second ? -1 : 1));
        const source = new SyncSource(store.table);
        expect(source.first()?.key).to.equal(sorted[0]);
        expect(source.last()?.key).to.equal(sorted.at(-1));
        const [begin, end] = one < two ? [one, two] : [two, one];
        expect([...source.range(begin, end)].map(({ key }) => key)).to.deep.equal(
          sorted.filter((at) => at >= begin && at <= end),
        );
        for (const at of paths) expect(store.row(at)?.path).to.equal(at);
        const below: string[] = [];
        for await (const rows of store.below(one)) below.push(...rows.map((found) => found.path));
        const start = one === '/' ? one : `${one}/`;
        expect(below.sort()).to.deep.equal(sorted.filter((at) => at.startsWith(start)).sort());
      }),
      { numRuns: 60 },
    );
  }).timeout(30_000);

  it('is walked in pieces, between which it may change', async () => {
    const paths = Array.from({ length: 1000 }, (_, index) => `/srv/${String(index).padStart(4, '0')}`);
    await fill(paths.map((at, index) => row(at, index)));
    const seen: string[] = [];
    for (const { key } of new SyncSource(store.table).range('/srv/0000', '/srv/9')) {
      if (key === '/srv/0100') {
        await store.commit(
          ['/srv/0000', '/srv/0900'].map((at) => ({ path: at, before: store.row(at), after: undefined })),
          [],
        );
        await fill([row('/srv/0950x', 5000)]);
      }
      seen.push(key);
    }
    expect(seen).to.have.length(1000).and.to.include('/srv/0950x').and.not.include('/srv/0900');
  });

  it('gives a synchronisation what it compares and what it sends', async () => {
    await fill([row('/etc/a', 1), row('/etc/b', 2)]);
    const sync = new RangeSync(new SyncSource(store.table));
    const start = await sync.start(1000);
    expect(start).to.nested.include({ type: 'integrity_check_global', 'check.begin': '/etc/a', 'check.end': '/etc/b' });
    const states: unknown[] = [];
    for await (const step of sync.answer({ verb: 'no_data', begin: '/etc/b', end: '/etc/b', id: 1000 })) {
      if (step.type === 'state') states.push([step.row.key, step.row.attributes, step.row.inode, step.row.lastEvent]);
    }
    expect(states).to.deep.equal([['/etc/b', row('', 2).attributes, '1', 3]]);
  });

  it('gives numbers once, over a restart too', async () => {
    await fill([row('/a', 0), row('/b', 1)]);
    await store.commit([{ path: '/b', before: store.row('/b'), after: undefined }], []);
    await store.close();
    store = await FileStore.open(join(directory, 'db'), new RecordingLogger());
    expect(store.rows).to.equal(1);
    expect(store.nextNumber).to.equal(2);
  });

  it('bounds the paths that are brought into order in memory', async () => {
    const long = Array.from({ length: MOST_LONG_PATHS }, (_, index) => row(`${LONG}/${'x'.repeat(20)}${index}`, index));
    expect(store.hasRoomFor(`${LONG}/${'y'.repeat(20)}`)).to.equal(true);
    await fill(long);
    expect(store.hasRoomFor(`${LONG}/${'y'.repeat(20)}`)).to.equal(false);
    expect(store.hasRoomFor('/short')).to.equal(true);
    const keys = [...new SyncSource(store.table).range('/', '\xff')].map(({ key }) => key);
    expect(keys)
      .to.deep.equal([...keys].sort())
      .and.to.have.length(MOST_LONG_PATHS);
  });
});
