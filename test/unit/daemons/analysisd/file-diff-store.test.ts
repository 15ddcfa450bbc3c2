import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { directoryName, FileDiffStore } from '../../../../daemons/analysisd/file-diff-store.js';
import { memoryDirectory } from '../../../support/memory-directory.js';

describe('file diff store', () => {
  let directory: string;
  beforeEach(() => (directory = mkdtempSync(join(memoryDirectory(), 'diff-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  it('remembers the last log of a host and rule, over a restart once it is flushed', () => {
    const store = new FileDiffStore(directory);
    expect(store.last('web-1', 534)).to.equal(undefined);
    store.store('web-1', 534, 'first');
    store.store('web-1', 534, 'second \xff');
    expect(store.last('web-1', 534)).to.equal('second \xff');
    expect(readdirSync(directory)).to.deep.equal([]);
    store.flush();
    expect(readFileSync(join(directory, 'web-1', '534', 'last-entry'), 'latin1')).to.equal('second \xff\0');
    expect(new FileDiffStore(directory).last('web-1', 534)).to.equal('second \xff');
  });

  it('keeps what could not be written for the next flush', () => {
    const store = new FileDiffStore(directory);
    writeFileSync(join(directory, 'a'), 'in the way');
    store.store('a', 1, 'log');
    store.store('b', 1, 'log');
    expect(() => {
      store.flush();
    }).to.throw();
    expect(store.last('a', 1)).to.equal('log');
    rmSync(join(directory, 'a'));
    store.flush();
    expect(readdirSync(directory).sort()).to.deep.equal(['a', 'b']);
  });

  it('keeps every host inside the directory and apart from others', () => {
    const names = ['..', '.', '', '/', '../../etc', 'a/../../b', 'a\0b', '%', '%2e', '-', '-a', 'x'.repeat(400), 'é'];
    expect(new Set(names.map(directoryName)).size).to.equal(names.length);
    const bytes = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) });
    fc.assert(
      fc.property(bytes, bytes, fc.integer({ min: 1, max: 40 }), (one, other, times) => {
        const [a, b] = [one.repeat(times), other.repeat(times)];
        const name = directoryName(a);
        expect(name).to.match(/^[A-Za-z0-9_%][A-Za-z0-9_%.-]*$/);
        expect(name.length).to.be.within(1, 240);
        if (a !== b) expect(name).to.not.equal(directoryName(b));
      }),
    );
  });

  it('tells long names apart that begin alike', () => {
    const store = new FileDiffStore(directory);
    mkdirSync(directory, { recursive: true });
    store.store(`${'ä'.repeat(200)}1`, 1, 'one');
    store.store(`${'ä'.repeat(200)}2`, 1, 'two');
    expect(store.last(`${'ä'.repeat(200)}1`, 1)).to.equal('one');
  });

  describe('behind checkpoints', () => {
    const entry = (host: string, rule: number) => join(directory, host, String(rule), 'last-entry');

    it('writes what a checkpoint holds when the next one is on the disk', async () => {
      const store = new FileDiffStore(directory);
      store.store('a', 1, 'one');
      const first = store.pending();
      store.store('a', 1, 'two');
      store.store('b', 1, 'one');
      await store.checkpointed();
      expect(readdirSync(directory)).to.deep.equal([]);
      const second = store.pending();
      expect(store.last('a', 1)).to.equal('two');
      await store.checkpointed();
      expect(readdirSync(directory)).to.deep.equal([]);
      store.store('a', 1, 'three');
      const third = store.pending();
      await store.checkpointed();
      expect(readdirSync(directory)).to.deep.equal(['b']);
      expect(third).to.deep.equal([
        ['a/1', 'three'],
        ['b/1', 'one'],
      ]);
      expect(store.pending()).to.deep.equal([['a/1', 'three']]);
      await store.checkpointed();
      expect(readFileSync(entry('a', 1), 'latin1')).to.equal('three\0');

      const again = new FileDiffStore(directory);
      again.restore(second);
      expect([again.last('a', 1), again.last('b', 1)]).to.deep.equal(['two', 'one']);
      again.restore(first);
      expect(again.last('a', 1)).to.equal('one');
    });

    it('has what could not be written in the next checkpoint', async () => {
      const store = new FileDiffStore(directory);
      writeFileSync(join(directory, 'a'), 'in the way');
      store.store('a', 1, 'log');
      store.store('b', 1, 'log');
      store.pending();
      await store.checkpointed();
      store.pending();
      const failure = await store.checkpointed().then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(failure).to.be.instanceOf(Error);
      store.store('c', 1, 'log');
      expect(store.pending().map(([key]) => key)).to.deep.equal(['a/1', 'c/1']);
      expect(readFileSync(entry('b', 1), 'latin1')).to.equal('log\0');
      rmSync(join(directory, 'a'));
      await store.checkpointed();
      expect(readdirSync(directory).sort()).to.deep.equal(['a', 'b']);
    });

    it('says when a checkpoint is due, and when nothing more should come before it', () => {
      const store = new FileDiffStore(directory);
      for (let host = 0; host < 4095; host += 1) store.store(`h${String(host)}`, 1, 'log');
      expect(store.isCheckpointDue).to.equal(false);
      store.store('another', 1, 'log');
      expect(store.isCheckpointDue).to.equal(true);
      store.pending();
      expect(store.isCheckpointDue).to.equal(false);
      const large = 'x'.repeat(60_000);
      for (let host = 0; host < 1000; host += 1) store.store(`h${String(host)}`, 1, large);
      expect(store.isFull).to.equal(false);
      for (let host = 0; host < 200; host += 1) store.store(`i${String(host)}`, 1, large);
      expect(store.isFull).to.equal(true);
    });

    it('gives after any crash what a run without one gives', async function () {
      this.timeout(20_000);
      let run = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.oneof(
              { weight: 6, arbitrary: fc.tuple(fc.constantFrom('a', 'b', 'ü'), fc.integer({ min: 1, max: 2 })) },
              { weight: 2, arbitrary: fc.constant('checkpoint' as const) },
              { weight: 1, arbitrary: fc.constant('failed checkpoint' as const) },
            ),
            { minLength: 1, maxLength: 30 },
          ),
          fc.array(fc.record({ at: fc.nat({ max: 30 }), isDamaged: fc.boolean(), written: fc.array(fc.boolean()) }), {
            maxLength: 3,
          }),
          async (script, crashes) => {
            run += 1;
            const home = join(directory, String(run));
            /** What each store of the script finds, without a crash. */
            const model = new Map<string, string>();
            const expected = script.map((step, index) => {
              if (typeof step === 'string') return undefined;
              const before = model.get(step.join());
              model.set(step.join(), String(index));
              return before;
            });
            let store = new FileDiffStore(home);
            let checkpoints = [{ next: 0, pending: store.pending() }];
            let next = 0;
            for (const { at, isDamaged, written } of [...crashes, { at: 30, isDamaged: false, written: [] }]) {
              let before = filesIn(home);
              for (; next < Math.min(at, script.length); next += 1) {
                const step = script[next]!;
                if (typeof step !== 'string') {
                  expect(store.last(...step)).to.equal(expected[next]);
                  store.store(...step, String(next));
                  continue;
                }
                const pending = structuredClone(store.pending());
                if (step !== 'checkpoint') continue;
                checkpoints = [...checkpoints.slice(-1), { next: next + 1, pending }];
                before = filesIn(home);
                await store.checkpointed();
              }
              // Some of the files may not have been written when it crashed.
              for (const [index, [path]] of [...filesIn(home)].entries()) {
                if (written[index] !== false) continue;
                const old = before.get(path);
                if (old === undefined) rmSync(path);
                else writeFileSync(path, old, 'latin1');
              }
              if (isDamaged && checkpoints.length > 1) checkpoints.pop();
              const from = checkpoints.at(-1)!;
              store = new FileDiffStore(home);
              store.restore(from.pending);
              next = from.next;
            }
          },
        ),
        { numRuns: 40 },
      );
    });

    function filesIn(home: string): Map<string, string> {
      const files = existsSync(home) ? readdirSync(home, { recursive: true, encoding: 'utf8' }) : [];
      return new Map(
        files
          .map((file) => join(home, file))
          .filter((path) => statSync(path).isFile())
          .map((path) => [path, readFileSync(path, 'latin1')]),
      );
    }
  });
});
