import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Journal, JournalOptions } from '../../../../lib/journal/journal.js';
import { JournalFullError } from '../../../../lib/journal/journal-error.js';
import { eventually } from '../../../support/eventually.js';
import { JournalKit, textsFrom } from '../../../support/journal/journal-kit.js';

const AT = 1_795_219_200_123;

describe('journal', () => {
  let kit: JournalKit;
  let opened: Journal[];
  beforeEach(() => {
    kit = new JournalKit();
    opened = [];
  });
  afterEach(async () => {
    for (const journal of opened) await journal.close();
    kit.remove();
  });

  async function open(options: Partial<JournalOptions> = {}): Promise<Journal> {
    const journal = await kit.open(options);
    opened.push(journal);
    return journal;
  }

  const append = (journal: Journal, text: string) => journal.append(1, Buffer.from(text), AT);

  for (const sync of ['batch', 'never', 5] as const) {
    it(`gives back what was appended, over a restart (sync ${sync})`, async () => {
      const first = await open({ sync });
      expect([first.start, first.end, first.durable]).to.deep.equal([0, 0, 0]);
      const one = await first.append(7, Buffer.from('one'), AT);
      const two = await first.append(65_535, Buffer.alloc(0), 0);
      expect(one.position).to.equal(0);
      expect(two.position).to.equal(one.next);
      expect([first.end, first.durable]).to.deep.equal([two.next, two.next]);
      await first.close();
      const second = await open({ sync });
      expect([second.start, second.end, second.durable]).to.deep.equal([0, two.next, two.next]);
      const reader = second.reader(0);
      expect(reader.next()).to.deep.equal({ ...one, kind: 7, writtenAt: AT, payload: Buffer.from('one') });
      expect(reader.next()).to.deep.equal({ ...two, kind: 65_535, writtenAt: 0, payload: Buffer.alloc(0) });
      expect(reader.next()).to.equal(undefined);
      expect(reader.position).to.equal(two.next);
      const three = await append(second, 'three');
      expect(three.position).to.equal(two.next);
      expect(reader.next()?.payload.toString()).to.equal('three');
      reader.close();
      expect(kit.damage).to.deep.equal([]);
      expect(kit.trouble).to.deep.equal([]);
    });
  }

  it('joins concurrent appends in one write and one sync, in their order', async () => {
    const journal = await open({ sync: 'batch', segmentBytes: 1024 * 1024 });
    const texts = Array.from({ length: 200 }, (_, index) => `record ${index}`);
    const appended = await Promise.all(texts.map((text) => append(journal, text)));
    expect(textsFrom(journal)).to.deep.equal(texts);
    expect(appended.map(({ position }) => position)).to.deep.equal(
      [0, ...appended.map(({ next }) => next)].slice(0, -1),
    );
    expect(journal.counters).to.deep.include({ appended: 200, writes: 1, syncs: 1, failures: 0 });
  });

  it('syncs what comes alone at once, and shares the next sync between appends of several writes (sync 1000)', async () => {
    const journal = await open({ sync: 1000, segmentBytes: 1024 * 1024 });
    const { next } = await append(journal, 'first');
    expect(journal.counters).to.include({ appended: 1, syncs: 1 });
    const appended: Promise<unknown>[] = [];
    for (let index = 0; index < 3; index += 1) {
      appended.push(append(journal, `${index}`));
      await eventually('it is written', () => journal.counters.writes === index + 2);
    }
    // Readers see it only when it is safe.
    expect([journal.durable, textsFrom(journal)]).to.deep.equal([next, ['first']]);
    await journal.close();
    await Promise.all(appended);
    expect(journal.counters).to.include({ appended: 4, writes: 4, syncs: 2 });
    expect(textsFrom(journal)).to.deep.equal(['first', '0', '1', '2']);
  });

  it('goes through many segments, and a reader follows while they are written', async () => {
    const journal = await open();
    const reader = journal.reader(0);
    const texts: string[] = [];
    const seen: string[] = [];
    for (let index = 0; index < 300; index += 1) {
      const text = `${index}`.repeat((index * 7) % 60);
      texts.push(text);
      await append(journal, text);
      if (index % 3 === 0) {
        for (let record = reader.next(); record; record = reader.next()) seen.push(`${record.payload}`);
      }
    }
    for (let record = reader.next(); record; record = reader.next()) seen.push(`${record.payload}`);
    reader.close();
    expect(seen).to.deep.equal(texts);
    expect(journal.counters.segments).to.be.greaterThan(4);
    const sizes = readdirSync(kit.directory).map((name) => statSync(join(kit.directory, name)));
    for (const { mode } of sizes) expect(mode & 0o777).to.equal(0o640);
    expect(statSync(kit.directory).mode & 0o777).to.equal(0o750);
    expect(Math.max(...sizes.map(({ size }) => size))).to.be.at.most(4096);
  });

  it('takes a record larger than a segment', async () => {
    const journal = await open();
    const large = 'x'.repeat(100_000);
    await Promise.all([append(journal, 'a'), append(journal, large), append(journal, 'b')]);
    expect(textsFrom(journal)).to.deep.equal(['a', large, 'b']);
    await journal.close();
    expect(textsFrom(await open())).to.deep.equal(['a', large, 'b']);
  });

  it('frees whole segments before a position, never the newest, while a reader is in one of them', async () => {
    const journal = await open();
    const texts = Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(1000, '.'));
    const appended = await Promise.all(texts.map((text) => append(journal, text)));
    const before = journal.counters.segments;
    const reader = journal.reader(0);
    expect(reader.next()?.payload.toString()).to.equal(texts[0]);
    journal.free(appended[9]!.position);
    await eventually('segments are freed', () => journal.counters.segments < before);
    expect(journal.start).to.be.greaterThan(0).and.at.most(appended[9]!.position);
    expect(readdirSync(kit.directory).filter((name) => name.endsWith('.journal'))).to.have.length(
      journal.counters.segments,
    );
    // The rest of the segment it is in is read from the open file.
    expect(reader.next()?.payload.toString()).to.equal(texts[1]);
    reader.close();
    journal.free(journal.end);
    await eventually('one is left', () => journal.counters.segments === 1);
    const { start, end } = journal;
    await journal.close();
    const again = await open();
    expect([again.start, again.end]).to.deep.equal([start, end]);
    expect(textsFrom(again)).to.deep.equal(texts.slice(-textsFrom(again).length));
    expect(kit.damage).to.deep.equal([]);
  });

  it('refuses appends when it is full, and takes them again after segments were freed', async () => {
    const journal = await open({ maxBytes: 16 * 1024 });
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) => append(journal, `${index}`.padEnd(1000, '.'))),
    );
    const kept = results.filter(({ status }) => status === 'fulfilled').length;
    expect(kept).to.be.greaterThan(8).and.lessThan(16);
    for (const result of results.slice(kept)) {
      expect(result.status === 'rejected' && result.reason).to.be.instanceOf(JournalFullError);
    }
    expect(journal.counters.bytes).to.be.at.most(16 * 1024);
    journal.free(journal.durable);
    await eventually('there is room', () => journal.counters.segments === 1);
    await append(journal, 'again');
    expect(textsFrom(journal).at(-1)).to.equal('again');
    expect(journal.counters).to.include({ appended: kept + 1, refused: 40 - kept });
  });

  it('refuses what cannot be a record, or options out of range', async () => {
    const journal = await open();
    const results = await Promise.allSettled([
      journal.append(-1, Buffer.alloc(1), AT),
      journal.append(65_536, Buffer.alloc(1), AT),
      journal.append(1, Buffer.alloc(1), Number.NaN),
    ]);
    for (const result of results) expect(result.status === 'rejected' && result.reason).to.be.instanceOf(RangeError);
    await journal.close();
    await append(journal, 'late').then(
      () => expect.fail('it was taken'),
      (error: unknown) => expect(error).to.match(/is closed/),
    );
    for (const options of [{ sync: 0 }, { sync: 1001 }, { segmentBytes: 4095 }, { maxBytes: 1 }, { committed: -1 }]) {
      await open(options).then(
        () => expect.fail('it was opened'),
        (error: unknown) => expect(error).to.be.instanceOf(RangeError),
      );
    }
  });

  it('makes safe at close what was appended before', async () => {
    const journal = await open({ sync: 1000 });
    const appended = append(journal, 'last');
    await journal.close();
    await appended;
    expect(textsFrom(await open())).to.deep.equal(['last']);
  });
});
