import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Journal } from '../../../../lib/journal/journal.js';
import { JournalFullError } from '../../../../lib/journal/journal-error.js';
import { SEGMENT_HEADER_BYTES } from '../../../../lib/journal/journal-limits.js';
import type { JournalReader } from '../../../../lib/journal/journal-reader.js';
import { segmentFirst } from '../../../../lib/journal/segment-header.js';
import { copyDirectory } from '../../../support/journal/copy-directory.js';
import { FailingFiles, type FileOperation } from '../../../support/journal/failing-files.js';
import { JournalKit, QUICK_DIRECTORY, readAll } from '../../../support/journal/journal-kit.js';

const AT = 1_795_219_200_123;

type Step =
  | { readonly kind: 'append'; readonly sizes: readonly number[] }
  | { readonly kind: 'fail'; readonly operations: readonly FileOperation[]; readonly bytes: number }
  | { readonly kind: 'read' | 'reopen' }
  | { readonly kind: 'free'; readonly part: number }
  | {
      /** Stops at once with records under way, of which a part of the bytes is left, with garbage behind. */
      readonly kind: 'crash';
      readonly sizes: readonly number[];
      readonly part: number;
      readonly garbage: number;
    };

const sizes = fc.array(fc.oneof(fc.nat(40), fc.nat(2500)), { minLength: 1, maxLength: 5 });
const operation = fc.constantFrom<FileOperation>('open', 'write', 'sync', 'truncate', 'remove', 'syncDirectory');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('append' as const), sizes }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('fail' as const),
      operations: fc.array(operation, { maxLength: 3 }),
      bytes: fc.nat(200),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('read' as const, 'reopen' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('free' as const), part: fc.double({ min: 0, max: 1, noNaN: true }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('crash' as const),
      sizes,
      part: fc.double({ min: 0, max: 1, noNaN: true }),
      garbage: fc.oneof(fc.constant(0), fc.nat(100)),
    }),
  },
);

type Expected = { readonly position: number; readonly next: number; readonly payload: Buffer };

/** What the journal must hold, beside the real one. */
class Model {
  readonly files = new FailingFiles();
  journal: Journal;
  /** Acknowledged, not freed. */
  records: Expected[] = [];
  /** Appended by number, whatever became of it. */
  readonly appended: Buffer[] = [];
  /** No later record may begin before it. */
  highest = 0;
  freed = 0;
  /** Reads on and on, as a daemon does: from the start of the journal as it was opened. */
  #follower: JournalReader | undefined;
  #followedTo = 0;

  private constructor(
    readonly kit: JournalKit,
    journal: Journal,
  ) {
    this.journal = journal;
  }

  static async begin(kit: JournalKit): Promise<Model> {
    return new Model(kit, await kit.open());
  }

  async open(): Promise<void> {
    this.files.isSynced = false;
    this.journal = await this.kit.open({
      sync: 'batch',
      files: this.files,
      committed: this.freed,
      maxBytes: 1024 * 1024,
    });
  }

  /** Reads what is new, and compares. */
  follow(): void {
    this.#follower ??= this.journal.reader((this.#followedTo = this.journal.start));
    const { records, damage } = readAll(this.#follower);
    expect(damage).to.deep.equal([]);
    const found = records.map(({ position, next, payload }) => ({ position, next, payload: Buffer.from(payload) }));
    expect(found).to.deep.equal(this.records.filter(({ position }) => position >= this.#followedTo));
    this.#followedTo = Math.max(this.#followedTo, this.#follower.position);
  }

  async close(): Promise<void> {
    this.#follower?.close();
    this.#follower = undefined;
    await this.journal.close();
  }

  payload(size: number): Buffer {
    const number = this.appended.length;
    const payload = Buffer.alloc(4 + size, number % 251);
    payload.writeUInt32LE(number);
    this.appended.push(payload);
    return payload;
  }

  async append(sizes: readonly number[]): Promise<void> {
    const payloads = sizes.map((size) => this.payload(size));
    const results = await Promise.allSettled(payloads.map((payload) => this.journal.append(1, payload, AT)));
    for (const [index, result] of results.entries()) {
      if (result.status === 'rejected') {
        expect(this.files.failing.size > 0 || result.reason instanceof JournalFullError, String(result.reason)).to.be
          .true;
        continue;
      }
      expect(result.value.position).to.be.at.least(this.highest);
      this.highest = result.value.next;
      this.records.push({ ...result.value, payload: payloads[index]! });
    }
    expect(this.journal.durable).to.be.at.least(this.highest);
  }

  async crash({ sizes, part, garbage }: Extract<Step, { kind: 'crash' }>): Promise<void> {
    const old = this.journal;
    this.#follower?.close();
    this.#follower = undefined;
    this.files.hold();
    const underWay = sizes.map((size) => old.append(1, this.payload(size), AT).catch(() => {}));
    // Until they are written, or the write has failed; a new segment waits for its own sync first.
    for (let count = 0; count < 20; count += 1) await turn();
    const copy = `${this.kit.directory}.copy`;
    copyDirectory(this.kit.directory, copy);
    const { durable } = old;
    const { segments } = old.counters;
    this.files.release();
    await Promise.all(underWay);
    await old.close();
    rmSync(this.kit.directory, { recursive: true });
    copyDirectory(copy, this.kit.directory);
    rmSync(copy, { recursive: true });
    const names = readdirSync(this.kit.directory)
      .filter((name) => name.endsWith('.journal'))
      .sort();
    const newest = names.at(-1);
    if (newest !== undefined) {
      const path = join(this.kit.directory, newest);
      const bytes = readFileSync(path);
      const safe = Math.min(bytes.length, Math.max(0, SEGMENT_HEADER_BYTES + durable - segmentFirst(newest)!));
      // Of a segment that is only being begun, the header may be lost, too.
      const least = names.length > segments ? 0 : safe;
      truncateSync(path, Math.round(least + (bytes.length - least) * part));
      if (garbage > 0) writeFileSync(path, Buffer.alloc(garbage, 0xa5), { flag: 'a' });
    }
  }

  /** Reads everything and compares. After a crash, records that were under way may be there, too: they count from now on. */
  check(mayBeMore: boolean): void {
    const reader = this.journal.reader(this.journal.start);
    const { records, damage } = readAll(reader);
    reader.close();
    expect(damage).to.deep.equal([]);
    const found = records.map(({ position, next, payload }) => ({ position, next, payload: Buffer.from(payload) }));
    const expected = this.records.filter(({ position }) => position >= this.journal.start);
    expect(expected.length).to.be.at.least(this.records.filter(({ position }) => position >= this.freed).length);
    expect(found.slice(0, expected.length)).to.deep.equal(expected);
    const more = found.slice(expected.length);
    if (!mayBeMore) expect(more).to.deep.equal([]);
    for (const record of more) {
      expect(record.position).to.be.at.least(this.highest);
      expect(record.payload).to.deep.equal(this.appended[record.payload.readUInt32LE()]);
      this.highest = record.next;
      this.records.push(record);
    }
  }

  async run(steps: readonly Step[]): Promise<void> {
    await this.journal.close();
    await this.open();
    for (const step of steps) {
      switch (step.kind) {
        case 'append':
          await this.append(step.sizes);
          break;
        case 'fail':
          this.files.failing.clear();
          for (const name of step.operations) this.files.failing.set(name, 'EIO');
          this.files.bytesOfFailedWrite = step.bytes;
          break;
        case 'read':
          this.follow();
          this.check(false);
          break;
        case 'reopen':
          await this.close();
          await this.open();
          expect(this.journal.durable).to.be.at.least(this.highest);
          this.check(true);
          break;
        case 'free':
          this.follow();
          this.freed = Math.max(this.freed, Math.round(this.highest * step.part));
          this.journal.free(this.freed);
          await turn();
          break;
        case 'crash':
          await this.crash(step);
          await this.open();
          this.check(true);
      }
    }
    this.files.failing.clear();
    await this.append([1, 2]);
    this.follow();
    this.check(false);
  }
}

describe('journal, for any course of things', () => {
  it('gives back all that was acknowledged, in order, and uses no position twice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
        const kit = new JournalKit(QUICK_DIRECTORY);
        const model = await Model.begin(kit);
        try {
          await model.run(steps);
          for (const report of kit.damage) expect(report.kind, JSON.stringify(report)).to.equal('torn');
        } finally {
          model.files.release();
          model.files.failing.clear();
          await model.close();
          kit.remove();
        }
      }),
      // Not shrunk unless asked for: that takes longer than a test may.
      { numRuns: Number(process.env['JOURNAL_RUNS'] ?? 40), endOnFailure: process.env['JOURNAL_SHRINK'] === undefined },
    );
  });
});
