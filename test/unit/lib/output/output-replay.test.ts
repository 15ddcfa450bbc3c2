import fs, {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import type { FileRepair } from '../../../../lib/output/append-file.js';
import { OutputFile, type OutputFileOptions, type OutputFileState } from '../../../../lib/output/output-file.js';
import { memoryDirectory } from '../../../support/memory-directory.js';

type Step =
  | { readonly do: 'append'; readonly length: number }
  | { readonly do: 'flush' }
  | { readonly do: 'part' }
  | { readonly do: 'day'; readonly day: number }
  | { readonly do: 'checkpoint' };

const steps = fc.array(
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({ do: fc.constant('append' as const), length: fc.integer({ min: 1, max: 400 }) }),
    },
    { weight: 5, arbitrary: fc.constant({ do: 'flush' as const }) },
    { weight: 2, arbitrary: fc.constant({ do: 'part' as const }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('day' as const), day: fc.integer({ min: 1, max: 4 }) }) },
    { weight: 2, arbitrary: fc.constant({ do: 'checkpoint' as const }) },
  ),
  { minLength: 1, maxLength: 40 },
);
/** Where a run ended, and how much of what was not synced the disk kept; the rest is gone, or zeros. */
const crashes = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    kept: fc.double({ min: 0, max: 1, noNaN: true }),
    zeros: fc.boolean(),
    /** Which of the checkpoints so far is used, from the newest. */
    back: fc.nat({ max: 2 }),
  }),
  { minLength: 1, maxLength: 3 },
);

describe('output file in replay', () => {
  let root: string;
  beforeEach(() => (root = mkdtempSync(join(memoryDirectory(), 'output-replay-'))));
  afterEach(() => rmSync(root, { recursive: true }));

  const optionsIn = (directory: string, recordEnd: '\n' | '\n\n'): OutputFileOptions => ({
    directory,
    liveName: 'alerts.json',
    stem: 'ossec-alerts',
    extension: 'json',
    recordEnd,
    maxBytes: 0,
  });
  const march = (day: number) => new Date(2025, 2, day, 12);

  /** The record of a step: the same whenever the step is done again. */
  const recordOf = (index: number, length: number, end: string) =>
    `${String(index)} ${'abc\n'
      .repeat(length)
      .slice(0, length)
      .trimEnd()
      .replaceAll(/\n/g, end === '\n' ? '-' : '\n')}${end}`;

  async function doStep(
    file: OutputFile,
    step: Step,
    index: number,
    end: string,
  ): Promise<OutputFileState | undefined> {
    if (step.do === 'append') {
      file.append(recordOf(index, step.length, end));
      return undefined;
    }
    const state = structuredClone(file.state());
    await untilDone(async () => {
      if (step.do === 'flush') file.flush();
      else if (step.do === 'part') file.nextPart();
      else if (step.do === 'day') file.switchDay(march(step.day));
      else await file.sync();
    });
    return step.do === 'checkpoint' ? state : undefined;
  }

  async function untilDone(work: () => void | Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await work();
        return;
      } catch (error) {
        if (attempt > 100) throw error;
      }
    }
  }

  /** Lets every write take only some bytes or, for 0, fail; by turns, until it is called without any. */
  const { writeSync } = fs;
  function limitWrites(limits: readonly number[]): void {
    let calls = 0;
    fs.writeSync = ((fd: number, bytes: Buffer) => {
      const limit = limits[calls++ % limits.length]!;
      if (limit === 0) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      return writeSync(fd, bytes, 0, Math.min(limit, bytes.length));
    }) as typeof writeSync;
    if (limits.length === 0) fs.writeSync = writeSync;
    syncBuiltinESMExports();
  }
  afterEach(() => {
    limitWrites([]);
  });

  /** All dated files with something in them: a run that was killed right after it began one may leave an empty one. */
  function contentOf(directory: string): Record<string, string> {
    const content: Record<string, string> = {};
    const files = existsSync(directory) ? readdirSync(directory, { recursive: true, encoding: 'utf8' }) : [];
    for (const file of files.sort()) {
      const stat = statSync(join(directory, file));
      if (stat.isFile() && (stat.size > 0 || file === 'alerts.json')) {
        content[file] = readFileSync(join(directory, file), 'latin1');
      }
    }
    return content;
  }

  it('leaves the same files as a run without a crash, whatever the disk kept', async function () {
    this.timeout(30_000);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        steps,
        crashes,
        fc.constantFrom('\n' as const, '\n\n' as const),
        fc.boolean(),
        fc.oneof(
          fc.constant([]),
          fc.array(fc.constantFrom(0, 1, 50, 1000), { minLength: 1, maxLength: 6 }).map((limits) => [...limits, 1000]),
        ),
        async (script, outages, end, isUsed, limits) => {
          run += 1;
          limitWrites([]);
          const whole = join(root, `${String(run)}-whole`);
          const broken = join(root, `${String(run)}-broken`);
          if (isUsed) {
            for (const name of ['02', '03', '03-001']) {
              const path = join(whole, '2025', 'Mar', `ossec-alerts-${name}.json`);
              mkdirSync(dirname(path), { recursive: true });
              writeFileSync(path, `from before${end}`);
            }
            cpSync(whole, broken, { recursive: true });
          }
          const positions: number[] = [];
          const reference = new OutputFile(optionsIn(whole, end), march(2));
          for (const [index, step] of script.entries()) {
            await doStep(reference, step, index, end);
            positions.push(reference.position);
          }
          const ino = statSync(reference.path).ino;
          reference.flush();
          expect(statSync(join(whole, 'alerts.json')).ino).to.equal(ino);

          limitWrites(limits);
          let file = new OutputFile(optionsIn(broken, end), march(2));
          const checkpoints = [{ next: 0, state: structuredClone(file.state()) }];
          await file.sync();
          let reached = 0;
          let next = 0;
          /** Bytes of each file that survive anything. */
          const durable = new Map(
            Object.entries(contentOf(broken)).map(([name, text]) => [join(broken, name), text.length]),
          );
          const runTo = async (stop: number) => {
            for (; next < stop; next += 1) {
              if (next === reached) await untilDone(() => file.endReplay());
              const step = script[next]!;
              const { path } = file;
              const state = await doStep(file, step, next, end);
              if (state !== undefined) {
                checkpoints.push({ next: next + 1, state });
                durable.set(file.path, state.length);
              }
              if (file.path !== path && existsSync(path)) durable.set(path, statSync(path).size);
              expect(file.position).to.equal(positions[next]);
            }
            reached = Math.max(reached, next);
          };
          for (const { at, kept, zeros, back } of outages) {
            await runTo(Math.max(next, Math.floor(at * script.length)));
            // The disk as it was, without what closing writes.
            const content = contentOf(broken);
            const live = statSync(join(broken, 'alerts.json'), { throwIfNoEntry: false })?.ino;
            const linked = Object.keys(content).find(
              (name) => name !== 'alerts.json' && statSync(join(broken, name)).ino === live,
            );
            const current = file.path.slice(broken.length + 1);
            const safe = durable.get(file.path);
            await untilDone(() => file.close());
            rmSync(broken, { recursive: true });
            delete content['alerts.json'];
            const full = content[current];
            if (full !== undefined) {
              const left = (safe ?? 0) + Math.floor(kept * (full.length - (safe ?? 0)));
              if (safe === undefined && kept < 0.1) Reflect.deleteProperty(content, current);
              else content[current] = full.slice(0, left) + (zeros ? '\0'.repeat(full.length - left) : '');
            }
            mkdirSync(broken);
            limitWrites([]);
            for (const [name, text] of Object.entries(content)) {
              mkdirSync(dirname(join(broken, name)), { recursive: true });
              writeFileSync(join(broken, name), text, 'latin1');
            }
            if (linked !== undefined && linked in content) linkSync(join(broken, linked), join(broken, 'alerts.json'));

            const from = checkpoints[Math.max(0, checkpoints.length - 1 - back)]!;
            limitWrites(limits);
            file = new OutputFile(optionsIn(broken, end), from.state);
            next = from.next;
          }
          await runTo(script.length);
          await untilDone(() => file.endReplay());
          await untilDone(() => file.flush());
          limitWrites([]);
          expect(contentOf(broken)).to.deep.equal(contentOf(whole));
          expect(statSync(join(broken, 'alerts.json')).ino).to.equal(statSync(file.path).ino);
          file.close();
          reference.close();
          expect(contentOf(broken)).to.deep.equal(contentOf(whole));
        },
      ),
      { numRuns: 300 },
    );
  });

  describe('with what it finds', () => {
    let directory: string;
    let repairs: FileRepair[];
    let finished: string[];
    let options: OutputFileOptions;
    beforeEach(() => {
      directory = join(root, 'alerts');
      repairs = [];
      finished = [];
      options = {
        ...optionsIn(directory, '\n'),
        onRepair: (repair) => repairs.push(repair),
        onFinished: (path) => finished.push(path),
      };
    });
    const dated = (name: string) => join(directory, '2025', 'Mar', `ossec-alerts-${name}.json`);
    const read = (name: string) => readFileSync(dated(name), 'latin1');
    /** A run that wrote `one` before its state and `two` and `three` after it. */
    const firstRun = (after: (file: OutputFile) => void = () => {}): OutputFileState => {
      const file = new OutputFile(options, march(4));
      file.append('one\n');
      const state = file.state();
      file.append('two\n');
      file.append('three\n');
      after(file);
      file.close();
      return state;
    };
    /** The same records once more, then `four`. */
    const secondRun = (state: OutputFileState, after: (file: OutputFile) => void = () => {}): OutputFile => {
      const file = new OutputFile(options, state);
      file.append('two\n');
      file.flush();
      file.append('three\n');
      after(file);
      file.endReplay();
      file.append('four\n');
      return file;
    };

    it('writes nothing twice', () => {
      const file = secondRun(firstRun());
      expect(file.position).to.equal(19);
      file.close();
      expect(read('04')).to.equal('one\ntwo\nthree\nfour\n');
      expect(repairs).to.deep.equal([]);
    });

    it('cuts a torn record and says where', () => {
      const state = firstRun();
      fs.truncateSync(dated('04'), 10);
      secondRun(state).close();
      expect(read('04')).to.equal('one\ntwo\nthree\nfour\n');
      expect(repairs).to.deep.equal([{ path: dated('04'), kind: 'torn', offset: 8, bytes: 2 }]);
    });

    it('cuts what differs from the first record on that does', () => {
      const state = firstRun();
      writeFileSync(dated('04'), 'one\ntwo\nthrow\nmore\n');
      secondRun(state).close();
      expect(read('04')).to.equal('one\ntwo\nthree\nfour\n');
      expect(repairs).to.deep.equal([{ path: dated('04'), kind: 'differs', offset: 8, bytes: 11 }]);
    });

    it('keeps whole records that replay does not give, but no torn one', () => {
      const state = firstRun();
      writeFileSync(dated('04'), 'one\ntwo\nthree\nlate\nlater\nto');
      const file = secondRun(state);
      expect(file.position).to.equal(30);
      file.close();
      expect(read('04')).to.equal('one\ntwo\nthree\nlate\nlater\nfour\n');
      expect(repairs.map(({ kind, offset, bytes }) => [kind, offset, bytes])).to.deep.equal([
        ['extra', 14, 11],
        ['torn', 25, 2],
      ]);
    });

    it('goes on from the last whole record of a file shorter than it was', () => {
      const state = firstRun();
      fs.truncateSync(dated('04'), 2);
      const file = secondRun(state);
      expect(file.position).to.equal(15);
      file.close();
      expect(read('04')).to.equal('two\nthree\nfour\n');
      expect(repairs).to.deep.equal([{ path: dated('04'), kind: 'short', offset: 0, bytes: 4 }]);
    });

    it('begins a file anew that is gone with nothing after it', () => {
      const state = firstRun();
      rmSync(dated('04'));
      secondRun(state).close();
      expect(read('04')).to.equal('two\nthree\nfour\n');
      expect(repairs).to.deep.equal([{ path: dated('04'), kind: 'short', offset: 0, bytes: 4 }]);
      expect(readFileSync(join(directory, 'alerts.json'), 'latin1')).to.equal(read('04'));
    });

    it('counts what goes into a file that was compressed or removed, over the day switch', () => {
      const toNextDay = (file: OutputFile) => {
        expect(file.position).to.equal(14);
        file.switchDay(march(5));
        file.append('five\n');
      };
      for (const isCompressed of [true, false]) {
        const state = firstRun(toNextDay);
        if (isCompressed) writeFileSync(`${dated('04')}.gz`, gzipSync(read('04')));
        rmSync(dated('04'));
        const file = secondRun(state, toNextDay);
        expect(file.position).to.equal(10);
        file.close();
        expect(existsSync(dated('04'))).to.equal(false);
        expect(read('05')).to.equal('five\nfour\n');
        expect(readFileSync(join(directory, 'alerts.json'), 'latin1')).to.equal('five\nfour\n');
        expect(finished).to.deep.equal([dated('04')]);
        expect(repairs).to.deep.equal([]);
        rmSync(directory, { recursive: true });
        finished = [];
      }
    });

    it('comes to a day again that it has left, and keeps what nothing gave at the end alone', () => {
      const back = (file: OutputFile): void => {
        file.append('a\n');
        file.switchDay(march(5));
        file.append('b\n');
        file.switchDay(march(4));
        file.append('c\n');
        file.switchDay(march(5));
        file.append('d\n');
        file.flush();
      };
      const first = new OutputFile(options, march(4));
      const state = first.state();
      back(first);
      const second = new OutputFile(options, state);
      back(second);
      second.endReplay();
      second.close();
      expect(repairs).to.deep.equal([]);
      expect([read('04'), read('05')]).to.deep.equal(['a\nc\n', 'b\nd\n']);

      // Killed once more, when replay had come to the other day and the first one ended in what nobody gives any more.
      writeFileSync(dated('04'), 'a\nc\nx\ntorn');
      const third = new OutputFile(options, state);
      third.append('a\n');
      third.switchDay(march(5));
      third.append('b\n');
      third.endReplay();
      expect(repairs.map(({ path, ...repair }) => [path.slice(-7), repair])).to.deep.equal([
        ['04.json', { kind: 'extra', offset: 2, bytes: 4 }],
        ['04.json', { kind: 'torn', offset: 6, bytes: 4 }],
        ['05.json', { kind: 'extra', offset: 2, bytes: 2 }],
      ]);
      expect(third.state().others).to.deep.include({ day: { year: 2025, month: 2, day: 4 }, part: 0, length: 6 });
      third.switchDay(march(4));
      third.append('e\n');
      third.close();
      expect([read('04'), read('05')]).to.deep.equal(['a\nc\nx\ne\n', 'b\nd\n']);
    });

    it('goes on in the next part of a day whose file was compressed under it', () => {
      const state = firstRun();
      writeFileSync(`${dated('04')}.gz`, gzipSync(read('04')));
      rmSync(dated('04'));
      const file = secondRun(state);
      expect(file.path).to.equal(dated('04-001'));
      file.close();
      expect(read('04-001')).to.equal('four\n');
      expect(existsSync(dated('04'))).to.equal(false);
    });

    it('does not begin a part above the size limit anew after a crash', () => {
      const state = firstRun();
      const file = new OutputFile({ ...options, maxBytes: 2 }, state);
      expect(file.path).to.equal(dated('04'));
      file.close();
    });

    it('keeps lines of a custom format in a file of records of several lines', () => {
      mkdirSync(dirname(dated('04')), { recursive: true });
      writeFileSync(dated('04'), 'line\nline\nto');
      const file = new OutputFile({ ...options, recordEnd: '\n\n' }, march(4));
      expect(file.position).to.equal(10);
      file.close();
    });
  });

  it('takes many small records at once', () => {
    const count = 200_000;
    const file = new OutputFile(optionsIn(root, '\n'), march(1));
    const state = file.state();
    const bytes = Buffer.alloc(count, '\n');
    const lengths = Array.from({ length: count }, () => 1);
    file.addRecords(bytes, 0, count, lengths);
    file.close();
    const again = new OutputFile(optionsIn(root, '\n'), state);
    again.addRecords(bytes, 0, count, lengths);
    again.endReplay();
    expect(again.position).to.equal(count);
    expect(statSync(again.path).size).to.equal(count);
    again.close();
  });
});
