import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { AlertKit, type OpenedKit, variedAlert } from '../../../../support/db/alert-kit.js';

const texts = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_none, index) => JSON.stringify(variedAlert(from + index)));

/** By the byte at which they begin, in one file. */
const byPlace = (one: string, other: string): number => byteOf(one) - byteOf(other);
const byteOf = (name: string): number => Number(/-(\d+)\.segment$/.exec(name)?.[1]);

describe('The store of alerts', () => {
  let kit: AlertKit;

  beforeEach(() => {
    kit = new AlertKit();
  });

  afterEach(() => {
    kit.remove();
  });

  const opened = async (): Promise<OpenedKit> => {
    const store = kit.open();
    await store.readAll();
    return store;
  };

  /** Three segments of 500 alerts, and 500 that are in none. */
  async function filled(): Promise<OpenedKit> {
    const store = kit.open();
    for (let from = 0; from < 2000; from += 500) {
      kit.files().write(...texts(from, from + 500));
      await store.readAll();
      if (from < 1500) await store.reader.seal();
    }
    return store;
  }

  const segments = (): string[] => readdirSync(kit.directory).filter((name) => name.endsWith('.segment'));

  it('has after a kill what it had before, each alert once', async () => {
    const store = await filled();
    expect(store.search({})).to.deep.equal(texts(0, 2000));
    // What was not sealed is read again: nothing but the files is left of a killed process.
    writeFileSync(join(kit.directory, '20250605-000-99.segment.new'), 'torn');
    const again = await opened();
    expect(again.search({})).to.deep.equal(texts(0, 2000));
    expect(again.store.segments).to.have.length(3);
    expect(readdirSync(kit.directory).filter((name) => name.endsWith('.new'))).to.deep.equal([]);
    kit.files().write(...texts(2000, 2100));
    await again.readAll();
    expect(again.search({}, { order: 'desc' })).to.deep.equal(texts(0, 2100).reverse());
  });

  it('goes on over rotation, and reads files that were compressed meanwhile', async () => {
    kit.files().write(...texts(0, 300));
    const store = await opened();
    kit.files().write(...texts(300, 600));
    const { path } = kit.files().file;
    kit.files(6).write(...texts(600, 900));
    writeFileSync(`${path}.gz`, gzipSync(readFileSync(path)));
    rmSync(path);
    await store.readAll();
    expect(store.search({})).to.deep.equal(texts(0, 900));
    expect(store.store.segments, 'a day ends a segment').to.have.length(1);
    expect((await opened()).search({}), 'and again from the files').to.deep.equal(texts(0, 900));
  });

  it('is made anew from the files of alerts, with the same ids', async () => {
    const store = await filled();
    const ids = store.page({}).map(({ id }) => id);
    rmSync(kit.directory, { recursive: true });
    const again = await opened();
    expect(again.page({}).map(({ id }) => id)).to.deep.equal(ids);
    expect(again.search({})).to.deep.equal(texts(0, 2000));
  });

  for (const [what, damage] of [
    ['its end is missing', (path: string) => truncateSync(path, 5000)],
    ['it is empty', (path: string) => truncateSync(path, 0)],
    [
      'its foot is another',
      (path: string) => {
        const bytes = readFileSync(path);
        bytes[bytes.length - 40] = (bytes[bytes.length - 40] ?? 0) ^ 1;
        writeFileSync(path, bytes);
      },
    ],
  ] as const) {
    for (const index of [0, 1, 2]) {
      it(`puts segment ${String(index)} away when ${what}, and reads its alerts again`, async () => {
        await filled();
        damage(join(kit.directory, segments()[index] ?? ''));
        const again = await opened();
        expect(again.search({})).to.deep.equal(texts(0, 2000));
        expect(kit.logger.lines.join('\n')).to.match(/error: The alert store: '.*\.segment' is damaged: .* moved to/);
        expect(readdirSync(join(kit.directory, 'damaged'))).to.have.length(1);
        expect(again.store.gaps).to.deep.equal([]);
      });
    }
  }

  it('notices at a question what is damaged within', async () => {
    const store = await filled();
    const name = segments()[1] ?? '';
    const bytes = readFileSync(join(kit.directory, name));
    for (const at of [100, 5000, bytes.length - 3000]) {
      const broken = Buffer.from(bytes);
      broken.fill(broken[at] === 0 ? 1 : 0, at, at + 1000);
      writeFileSync(join(kit.directory, name), broken);
      const again = await opened();
      expect(() => {
        again.search({ search: 'failed 17' });
        again.search({ level: 3, from: Date.UTC(2025, 5, 5, 0, 10, 1) });
        again.search({});
      })
        .to.throw()
        .with.property('name', 'SegmentDamage');
    }
    void store;
  });

  it('reads again what is missing in the middle', async () => {
    await filled();
    rmSync(join(kit.directory, segments()[1] ?? ''));
    const again = await opened();
    expect(again.search({})).to.deep.equal(texts(0, 2000));
    expect((await opened()).store.segments, 'it is on the disk again').to.have.length(3);
  });

  it('gives up reading again what is kept no longer', async () => {
    const store = kit.open();
    for (const [from, to] of [
      [0, 500],
      [500, 3500],
      [3500, 4000],
      [4000, 4500],
    ] as const) {
      kit.files().write(...texts(from, to));
      await store.readAll();
      await store.reader.seal();
    }
    rmSync(join(kit.directory, segments().sort(byPlace)[1]!));
    const again = kit.open();
    expect(again.store.gaps).to.have.length(1);
    // A part of it was read.
    kit.onGrown = () => again.store.retain({ days: 0, bytes: 1 }, kit.now);
    await again.readAll();
    expect(again.store.gaps).to.deep.equal([]);
    expect(again.store.segments).to.have.length(1);
    expect(again.search({})).to.deep.equal(texts(4000, 4500));
  });

  it('says once that what is missing is nowhere', async () => {
    await filled();
    const { path } = kit.files().file;
    kit.files(6).write(...texts(2000, 2100));
    await opened();
    rmSync(join(kit.directory, segments()[1] ?? ''));
    rmSync(path);
    const expected = [...texts(0, 500), ...texts(1000, 2100)];
    expect((await opened()).search({})).to.deep.equal(expected);
    kit.logger.lines.length = 0;
    expect((await opened()).search({})).to.deep.equal(expected);
    expect(kit.logger.lines).to.deep.equal([]);
  });

  it('keeps what is young enough and has room, and never reads removed alerts again', async () => {
    const store = await filled();
    const sizes = store.store.segments.map(({ bytes }) => bytes);
    store.store.retain({ days: 0, bytes: (sizes[1] ?? 0) + (sizes[2] ?? 0) }, kit.now);
    expect(store.search({})).to.deep.equal(texts(500, 2000));
    const again = await opened();
    expect(again.search({})).to.deep.equal(texts(500, 2000));
    again.store.retain({ days: 1, bytes: 0 }, Date.UTC(2025, 5, 6, 0, 16, 40));
    expect(again.search({}), 'up to a day old').to.deep.equal(texts(1000, 2000));
    again.store.retain({ days: 1, bytes: 1 }, Date.UTC(2035, 5, 6));
    expect(again.store.segments, 'the last one says how far the files are read').to.have.length(1);
    expect((await opened()).search({})).to.deep.equal(texts(1000, 2000));
  });

  it('begins no earlier than alerts are kept', async () => {
    kit.files().write(...texts(0, 10));
    kit.files(9).write(...texts(10, 20));
    kit.limits = { days: 2, bytes: 0 };
    kit.now = Date.UTC(2025, 5, 10, 12);
    expect((await opened()).search({})).to.deep.equal(texts(10, 20));
  });

  it('passes over lines that are no alerts', async () => {
    kit.files().write(texts(0, 1)[0] ?? '', 'torn', '{"no":"rule"}', '[1]', texts(1, 2)[0] ?? '');
    const store = await opened();
    expect(store.search({})).to.deep.equal(texts(0, 2));
    expect(store.reader.rejected).to.equal(3);
    const [first, second] = store.page({});
    expect([first, second].map((alert) => alert !== undefined && store.get(alert.id)?.text)).to.deep.equal(texts(0, 2));
  });

  it('gives alerts by their ids, and counts what a search finds', async () => {
    const store = await filled();
    for (const { id, text } of store.page({ level: 15 })) expect(store.get(id)?.text).to.equal(text);
    expect(store.get('20250605-000-1')).to.equal(undefined);
    expect(store.get('20250604-000-0')).to.equal(undefined);
    for (const scope of [{}, { level: 9 }, { search: 'failed' }, { q: 'data.n=3', level: 2 }]) {
      const found = store.search(scope).map((text) => JSON.parse(text) as { rule: { id: string; groups: string[] } });
      for (const isOver of [() => false, () => true]) {
        const { total, buckets, rules, groups, missing } = store.count(scope, isOver);
        expect(total).to.equal(found.length);
        expect(buckets.reduce((sum, count) => sum + count, 0)).to.equal(found.length);
        const expected = new Map<string, number>();
        for (const { rule } of found) expected.set(rule.id, (expected.get(rule.id) ?? 0) + 1);
        expect(rules).to.deep.equal(expected);
        expect(groups.get('auth') ?? 0).to.equal(found.filter(({ rule }) => rule.groups.includes('auth')).length);
        expect(missing).to.equal(found.filter(({ rule }) => rule.groups.length === 0).length);
      }
    }
  });
});
