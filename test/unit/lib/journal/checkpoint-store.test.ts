import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { type CheckpointDamage, CheckpointStore } from '../../../../lib/journal/checkpoint-store.js';
import { JournalKit } from '../../../support/journal/journal-kit.js';

describe('checkpoint store', () => {
  let kit: JournalKit;
  let damage: CheckpointDamage[];
  beforeEach(() => {
    kit = new JournalKit();
    damage = [];
  });
  afterEach(() => {
    kit.remove();
  });

  const open = () => new CheckpointStore(kit.directory, (report) => damage.push(report));
  const file = (number: number) => join(kit.directory, `checkpoint.${number}`);

  it('gives back the newest of what was saved, with Maps, Sets, Buffers and what is in it twice', async () => {
    const store = open();
    expect(store.load()).to.equal(undefined);
    const shared = { text: 'ü\xff', none: undefined, big: 2n ** 70n };
    const data = {
      map: new Map<unknown, unknown>([[1, shared]]),
      set: new Set(['a', shared]),
      bytes: Buffer.from([1, 2]),
      list: [1.5, -0, null, Number.NaN],
    };
    await store.save(10, 'older');
    await store.save(20, data);
    const loaded = open().load();
    expect(loaded).to.deep.equal({ position: 20, data });
    const { map, set, bytes } = loaded!.data as typeof data;
    expect([...set][1]).to.equal(map.get(1));
    expect(Buffer.isBuffer(bytes)).to.equal(true);
    expect(damage).to.deep.equal([]);
    expect(readdirSync(kit.directory).sort()).to.deep.equal(['checkpoint.0', 'checkpoint.1']);
    for (const number of [0, 1]) expect(statSync(file(number)).mode & 0o777).to.equal(0o640);
  });

  it('falls back to the one before, names the damaged file, and writes in its place', async () => {
    const store = open();
    for (const position of [10, 20, 30]) await store.save(position, { position });
    expect(store.freeable).to.equal(20);
    for (const [harm, reason] of [
      [() => truncateSync(file(1), 41), 'it is cut off'],
      [() => truncateSync(file(1), 5), 'it is no checkpoint'],
      [() => rmSync(file(1)), 'it is not there'],
    ] as const) {
      const whole = readFileSync(file(1));
      harm();
      const again = open();
      expect(again.load()).to.deep.equal({ position: 20, data: { position: 20 } });
      expect(again.freeable).to.equal(0);
      expect(damage.splice(0)).to.deep.equal([{ file: file(1), reason }]);
      writeFileSync(file(1), whole);
    }
    const bytes = readFileSync(file(1));
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const flipped = Buffer.from(bytes);
        flipped[at]! ^= flip;
        writeFileSync(file(1), flipped);
        expect(open().load()?.position).to.equal(20);
        expect(damage.splice(0)).to.have.length(1);
      }),
      { numRuns: 100 },
    );
    const again = open();
    again.load();
    await again.save(40, 'new');
    expect(open().load()).to.deep.equal({ position: 40, data: 'new' });
    expect(again.freeable).to.equal(20);
  });

  it('keeps what is there when saving fails, and goes on afterwards', async () => {
    const store = open();
    await store.save(10, 'good');
    await store
      .save(15, () => {})
      .then(
        () => expect.fail('it was saved'),
        (error: unknown) => expect(error).to.match(/could not be cloned/),
      );
    mkdirSync(`${file(0)}.new`);
    writeFileSync(join(`${file(0)}.new`, 'in-the-way'), '');
    await store.save(20, 'bad').then(
      () => expect.fail('it was saved'),
      (error: unknown) => expect(error).to.be.instanceOf(Error),
    );
    expect(open().load()).to.deep.equal({ position: 10, data: 'good' });
    rmSync(`${file(0)}.new`, { recursive: true });
    rmSync(kit.directory, { recursive: true });
    await Promise.all([store.save(30, 'one'), store.save(40, 'two')]);
    expect(open().load()).to.deep.equal({ position: 40, data: 'two' });
  });

  it('goes into the place of the older one where the disk has no room for another', async () => {
    const first = open();
    await first.save(10, 'x'.repeat(5000));
    await first.save(20, 'x'.repeat(100));
    const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    const store = new CheckpointStore(
      kit.directory,
      (report) => damage.push(report),
      () => Promise.reject(full),
    );
    store.load();
    await store.save(30, new Map([['small', 1]]));
    expect(open().load()).to.deep.equal({ position: 30, data: new Map([['small', 1]]) });
    expect(store.freeable).to.equal(20);
    // That of 20 is too small for this, and stays.
    await store.save(40, 'x'.repeat(1000)).then(
      () => expect.fail('it was saved'),
      (error: unknown) => expect(error).to.equal(full),
    );
    expect(store.freeable).to.equal(20);
    truncateSync(file(1), 45);
    expect(open().load()).to.deep.equal({ position: 20, data: 'x'.repeat(100) });
    expect(damage).to.deep.equal([{ file: file(1), reason: 'it is cut off' }]);
  });
});
