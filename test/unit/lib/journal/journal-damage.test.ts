import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Journal } from '../../../../lib/journal/journal.js';
import { type DamageReport, describeDamage, JournalDamageError } from '../../../../lib/journal/journal-error.js';
import { SEGMENT_HEADER_BYTES } from '../../../../lib/journal/journal-limits.js';
import { eventually } from '../../../support/eventually.js';
import { copyDirectory } from '../../../support/journal/copy-directory.js';
import { FailingFiles } from '../../../support/journal/failing-files.js';
import { JournalKit, QUICK_DIRECTORY, readAll, textsFrom } from '../../../support/journal/journal-kit.js';

const AT = 1_795_219_200_123;

/** The same course in each run of the suite; others on demand, `JOURNAL_RUNS=5000` of them. */
const SEED = process.env['JOURNAL_RUNS'] === undefined ? { seed: 20_261_122 } : {};

type Kept = { readonly position: number; readonly next: number; readonly text: string };

/** Appends texts one after the other, so that the mark and the records know what was safe. */
async function fill(journal: Journal, texts: readonly string[]): Promise<Kept[]> {
  const kept: Kept[] = [];
  for (const text of texts) kept.push({ ...(await journal.append(1, Buffer.from(text), AT)), text });
  return kept;
}

function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at]! ^= 0x55;
  writeFileSync(file, bytes);
}

describe('damaged journal', () => {
  let kit: JournalKit;
  beforeEach(() => {
    kit = new JournalKit(QUICK_DIRECTORY);
  });
  afterEach(() => {
    kit.remove();
  });

  const segments = () => readdirSync(kit.directory).filter((name) => name.endsWith('.journal'));
  const path = (index: number) => join(kit.directory, segments().at(index)!);
  const text = (found: { payload: Buffer }) => found.payload.toString();

  it('cuts a torn tail once, names it, and goes on at a position behind it, twice in a row', async () => {
    let journal = await kit.open();
    const kept = await fill(journal, ['one', 'two']);
    await journal.close();
    for (const [index, garbage] of [100, 7].entries()) {
      const file = path(-1);
      const size = statSync(file).size;
      appendFileSync(file, Buffer.alloc(garbage, 1));
      const end = journal.end;
      journal = await kit.open();
      expect(kit.damage).to.have.length(index + 1);
      const report = kit.damage[index]!;
      const expected = { kind: 'torn', file, offset: size, bytes: garbage, from: end, to: end + garbage };
      const reason = index === 0 ? 'no record begins here' : 'the file ends inside a record';
      expect(report).to.include({ ...expected, reason });
      expect(describeDamage(report)).to.include(`was cut at byte ${size} (${garbage} bytes, nothing acknowledged)`);
      expect(statSync(file).size).to.equal(size);
      expect(journal.end).to.equal(end + garbage);
      await journal.close();
    }
    journal = await kit.open();
    const after = await fill(journal, ['three']);
    expect(after[0]!.position).to.equal(kept[1]!.next + 107);
    expect(textsFrom(journal)).to.deep.equal(['one', 'two', 'three']);
    await journal.close();
    expect(kit.damage).to.have.length(2);
  });

  it('drops what is whole behind the hole of an interrupted write: its producers send all of it again', async () => {
    const files = new FailingFiles();
    const journal = await kit.open({ sync: 'batch', segmentBytes: 1024 * 1024, files });
    // Written in one go, and nobody was told yet.
    files.hold();
    const underWay = ['a', 'b', 'c'].map((one) => journal.append(1, Buffer.from(one.repeat(50)), AT));
    await eventually('the records are written', () => journal.counters.writes > 0);
    const crashed = `${kit.directory}.crashed`;
    copyDirectory(kit.directory, crashed);
    files.release();
    const [, second] = await Promise.all([...underWay, journal.close()]);
    flip(join(crashed, segments()[0]!), SEGMENT_HEADER_BYTES + (second as Kept).position + 40);
    const again = await kit.open({ directory: crashed });
    expect(textsFrom(again)).to.deep.equal(['a'.repeat(50)]);
    expect(kit.damage.map(({ kind, from }) => [kind, from])).to.deep.equal([['torn', (second as Kept).position]]);
    await again.close();
  });

  for (const where of ['the newest segment', 'an older segment']) {
    it(`reads on behind damage of acknowledged records in ${where}`, async () => {
      let journal = await kit.open();
      const kept = await fill(journal, ['a', 'b', 'c', 'd', 'e']);
      if (where !== 'the newest segment') await fill(journal, ['large'.repeat(1000)]);
      await journal.close();
      flip(path(0), SEGMENT_HEADER_BYTES + kept[1]!.position + 8);
      flip(path(0), SEGMENT_HEADER_BYTES + kept[3]!.position);
      journal = await kit.open();
      expect(kit.damage).to.deep.equal([]);
      const reader = journal.reader(0);
      expect(text(reader.next()!)).to.equal('a');
      expect(() => reader.next())
        .to.throw(
          JournalDamageError,
          `${path(0)}: journal positions ${kept[1]!.position} to ${kept[2]!.position} are lost`,
        )
        .with.property('code', 'journal_damaged');
      const { records, damage } = readAll(reader);
      expect(records.slice(0, 2).map(text)).to.deep.equal(['c', 'e']);
      expect(damage.map(({ from, to }) => [from, to])).to.deep.equal([[kept[3]!.position, kept[4]!.position]]);
      reader.close();
      await journal.close();
    });
  }

  it('needs one of two headers, and passes over a segment without any', async () => {
    let journal = await kit.open();
    const kept = await fill(
      journal,
      ['a', 'b', 'c', 'd'].map((one) => one.repeat(2000)),
    );
    await journal.close();
    for (const index of [1, 3]) flip(path(index), 20);
    journal = await kit.open();
    expect(textsFrom(journal)).to.have.length(4);
    await journal.close();
    for (const index of [1, 3]) flip(path(index), 512 + 33);
    journal = await kit.open();
    const { records, damage } = readAll(journal.reader(0));
    expect(records.map(({ position }) => position)).to.deep.equal([kept[0]!.position, kept[2]!.position]);
    expect(damage.map(({ from, to, reason }) => [from, to, reason])).to.deep.equal(
      [1, 3].map((index) => [kept[index]!.position, kept[index]!.next, 'the header of the file is not readable']),
    );
    expect((await fill(journal, ['e']))[0]!.position).to.equal(kept[3]!.next);
    await journal.close();
  });

  it('reports a segment that is missing or cut short', async () => {
    let journal = await kit.open();
    const kept = await fill(
      journal,
      ['a', 'b', 'c', 'd', 'e'].map((one) => one.repeat(2000)),
    );
    await journal.close();
    const [, second, , fourth] = segments();
    rmSync(join(kit.directory, second!));
    truncateSync(join(kit.directory, fourth!), 1500);
    journal = await kit.open();
    const { records, damage } = readAll(journal.reader(0));
    expect(records.map(({ position }) => position)).to.deep.equal([0, 2, 4].map((index) => kept[index]!.position));
    expect(damage.map(({ from, to }) => [from, to])).to.deep.equal(
      [1, 3].map((index) => [kept[index]!.position, kept[index]!.next]),
    );
    await journal.close();
    rmSync(path(0));
    journal = await kit.open();
    expect(() => journal.reader(0).next()).to.throw('the records before this file are not there');
    await journal.close();
  });

  it('tells acknowledged records at the end that are gone from an interrupted write', async () => {
    let journal = await kit.open();
    const kept = await fill(journal, ['one', 'two', 'three']);
    await journal.close();
    truncateSync(path(0), SEGMENT_HEADER_BYTES + kept[1]!.position + 5);
    journal = await kit.open();
    expect(kit.damage).to.have.length(1);
    expect(kit.damage[0]).to.include({ kind: 'lost', from: kept[1]!.position, to: kept[2]!.next });
    expect(journal.end).to.equal(kept[2]!.next);
    expect(textsFrom(journal)).to.deep.equal(['one']);
    await journal.close();
    // What a checkpoint covers is no loss.
    truncateSync(path(0), SEGMENT_HEADER_BYTES + 5);
    rmSync(path(1));
    journal = await kit.open({ committed: kept[2]!.next });
    expect(kit.damage.slice(1).map(({ kind }) => kind)).to.deep.equal(['torn']);
    expect(journal.end).to.equal(kept[2]!.next);
    await journal.close();
  });

  it('takes no bytes of an event for a record, not even those of its own segment', async () => {
    let journal = await kit.open({ segmentBytes: 1024 * 1024 });
    await fill(journal, ['one', 'two']);
    // The journal itself, as someone may log it; behind its damaged header, its records are searched for.
    const copy = readFileSync(path(0)).subarray(SEGMENT_HEADER_BYTES);
    const evil = await journal.append(1, copy, AT);
    await fill(journal, ['three']);
    await journal.close();
    flip(path(0), SEGMENT_HEADER_BYTES + evil.position + 9);
    journal = await kit.open({ segmentBytes: 1024 * 1024 });
    const { records, damage } = readAll(journal.reader(0));
    expect(records.map(text)).to.deep.equal(['one', 'two', 'three']);
    expect(damage.map(({ from, to }) => [from, to])).to.deep.equal([[evil.position, evil.next]]);
    await journal.close();
  });

  it('leaves other files alone', async () => {
    let journal = await kit.open();
    await fill(journal, ['one']);
    await journal.close();
    for (const name of ['1.journal', '0000000000000000.journal.gz', '99999999999999999.journal', 'notes']) {
      writeFileSync(join(kit.directory, name), 'mine');
    }
    writeFileSync(join(kit.directory, 'durable'), 'not a mark');
    journal = await kit.open();
    expect(textsFrom(journal)).to.deep.equal(['one']);
    await journal.close();
    expect(kit.damage).to.deep.equal([]);
  });

  it('gives back every record that was not hit, and reports every one that was, whatever happens to its bytes', async () => {
    const texts = Array.from({ length: 24 }, (_, index) => `${index}:`.padEnd(10 + ((index * 397) % 900), 'x'));
    const source = await kit.open();
    const kept = await fill(source, texts);
    await source.close();
    const names = segments();
    const contents = names.map((name) => readFileSync(join(kit.directory, name)));
    const harm = fc.record({
      kind: fc.constantFrom('flip', 'zero', 'cut', 'insert', 'remove', 'mark'),
      file: fc.nat(names.length - 1),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      length: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 2000 })),
      value: fc.integer({ min: 1, max: 255 }),
    });
    const copies = join(kit.root, 'copies');
    const before = kit.directory;
    let number = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(harm, { minLength: 1, maxLength: 4 }), async (harms) => {
        const directory = join(copies, String((number += 1)));
        copyDirectory(before, directory);
        /** Of every file: bytes that are certainly as they were. */
        const files = new Map(names.map((name, index) => [name, Buffer.from(contents[index]!)]));
        for (const { kind, file, at, length, value } of harms) {
          const name = names[file]!;
          const bytes = files.get(name);
          if (kind === 'mark') writeFileSync(join(directory, 'durable'), Buffer.alloc(length % 40, value));
          if (bytes === undefined) continue;
          const from = Math.floor(at * bytes.length);
          const to = Math.min(bytes.length, from + length);
          if (kind === 'flip') for (let index = from; index < to; index += 97) bytes[index]! ^= value;
          if (kind === 'zero') bytes.fill(0, from, to);
          if (kind === 'cut') files.set(name, bytes.subarray(0, from));
          if (kind === 'insert') {
            files.set(
              name,
              Buffer.concat([bytes.subarray(0, from), Buffer.alloc(length, value), bytes.subarray(from)]),
            );
          }
          if (kind === 'remove') files.delete(name);
        }
        for (const name of names) {
          const bytes = files.get(name);
          if (bytes === undefined) rmSync(join(directory, name));
          else writeFileSync(join(directory, name), bytes);
        }
        const reports: DamageReport[] = [];
        const journal = await kit.open({ directory, onDamage: (report) => reports.push(report) });
        try {
          const { records, damage } = readAll(journal.reader(0));
          // Nothing but what was written, each where it was, in order.
          let last = -1;
          for (const { position, next, payload } of records) {
            const original = kept.find((one) => one.position === position);
            expect({ position, next, text: payload.toString() }).to.deep.equal(original);
            expect(position).to.be.greaterThan(last);
            last = position;
          }
          const read = new Set(records.map(({ position }) => position));
          const all = [...reports, ...damage].sort((a, b) => a.from - b.from);
          for (const record of kept) {
            if (read.has(record.position)) continue;
            let reported = record.position;
            for (const { from, to } of all) if (from <= reported) reported = Math.max(reported, to);
            const isReported = reported >= record.next;
            const isGoneWithMark = harms.some(({ kind }) => kind === 'mark');
            expect(isReported || isGoneWithMark, `${JSON.stringify(record)} is missing without a word`).to.equal(true);
            expect(isIntact(record, names, contents, files), `${JSON.stringify(record)} was whole`).to.equal(false);
          }
          const { position } = await journal.append(2, Buffer.from('new'), AT);
          expect(position).to.be.at.least(last + 1);
          if (!harms.some(({ kind }) => kind === 'mark')) expect(position).to.be.at.least(kept.at(-1)!.next);
          expect(textsFrom(journal, position)).to.deep.equal(['new']);
        } finally {
          await journal.close();
          rmSync(directory, { recursive: true });
        }
      }),
      { numRuns: Number(process.env['JOURNAL_RUNS'] ?? 150), endOnFailure: true, ...SEED },
    );
  });
});

/** Whether a record and one header of its segment are as they were, in their places. */
function isIntact(
  { position, next }: Kept,
  names: readonly string[],
  contents: readonly Buffer[],
  files: ReadonlyMap<string, Buffer>,
): boolean {
  const index = names.findLastIndex((name) => Number(name.slice(0, 16)) <= position);
  const name = names[index]!;
  const now = files.get(name);
  const then = contents[index]!;
  if (now === undefined) return false;
  const first = Number(name.slice(0, 16));
  const isSame = (from: number, to: number) =>
    now.length >= to && now.subarray(from, to).equals(then.subarray(from, to));
  return (
    (isSame(0, 40) || isSame(512, 552)) &&
    now.length >= SEGMENT_HEADER_BYTES &&
    isSame(SEGMENT_HEADER_BYTES + position - first, SEGMENT_HEADER_BYTES + next - first)
  );
}
