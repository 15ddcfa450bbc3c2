import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { productRoot } from '../../../lib/product/product-root.js';

const root = fileURLToPath(productRoot());

type Counts = { passed: number; failed: number; skipped: number; secondTries: number };
type Named = { secondTries: string[]; failures: string[] };
type Verdict = (counts: Counts, checksFailed: number) => { lines: string[]; hasPassed: boolean };

const { verdict } = (await import(new URL('.ci/verdict.mjs', productRoot()).href)) as { verdict: Verdict };

const PASSED: Counts = { passed: 3000, failed: 0, skipped: 2, secondTries: 0 };

describe('verdict of a run of the tests', () => {
  let directory: string;

  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'svc-verdict-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  type Run = { counts: Counts; named: Named; output: string };

  /** Runs mocha on tests of which each fails at its first try. */
  function runFlaky(count: number, mode: readonly string[]): Run {
    const tests = Array.from(
      { length: count },
      (_, index) => `  it('flaky ${String(index)}', () => {
    tries[${String(index)}] = (tries[${String(index)}] ?? 0) + 1;
    if (tries[${String(index)}] === 1) throw new Error('the first time');
  });`,
    );
    const text = `const tries = [];\ndescribe('planted', () => {\n${tests.join('\n')}\n  it('sound', () => {});\n});\n`;
    return runMocha(text, mode);
  }

  /** Runs mocha as `npm test` does, with or without other processes for the files. */
  function runMocha(text: string, mode: readonly string[]): Run {
    const file = join(directory, 'planted.test.cjs');
    writeFileSync(file, text);
    const result = join(directory, 'result.json');
    const { MOCHA_WORKER_ID: _worker, ...env } = process.env;
    const { stdout } = spawnSync(
      process.execPath,
      [
        join(root, 'node_modules/mocha/bin/mocha.js'),
        ...['--config', join(root, '.mocharc.json')],
        ...[...mode, '--retries', '1', file],
      ],
      { cwd: root, encoding: 'utf8', env: { ...env, SVC_TEST_RESULT: result } },
    );
    const { named, ...counts } = JSON.parse(readFileSync(result, 'utf8')) as Counts & { named: Named };
    return { counts, named, output: stdout };
  }

  it('is good with two second tries, each of which is named', () => {
    const { counts, output } = runFlaky(2, ['--parallel', '--jobs', '2']);
    expect(counts).to.deep.equal({ passed: 3, failed: 0, skipped: 0, secondTries: 2 });
    expect(output).to.match(/^second try: planted flaky 0 \(.*planted\.test\.cjs\): the first time$/m);
    expect(output).to.match(/^second try: planted flaky 1 /m);
    expect(verdict(counts, 0)).to.deep.equal({
      lines: ['second tries: 2 (more than 2 fail the run)', '3 passed, 0 failed, 0 skipped'],
      hasPassed: true,
    });
  });

  it('is bad with three, though every test passed in the end', () => {
    const { counts } = runFlaky(3, []);
    expect(counts).to.deep.equal({ passed: 4, failed: 0, skipped: 0, secondTries: 3 });
    expect(verdict(counts, 0)).to.deep.equal({
      lines: ['second tries: 3 (more than 2 fail the run)', '4 passed, 1 failed, 0 skipped'],
      hasPassed: false,
    });
  });

  it('is bad with a hook that fails behind tests that passed, and names it', () => {
    const { counts, named } = runMocha(
      `describe('planted', () => {\n  after(() => { throw new Error('left open'); });\n  it('sound', () => {});\n});\n`,
      ['--parallel', '--jobs', '2'],
    );
    expect(counts).to.deep.equal({ passed: 1, failed: 1, skipped: 0, secondTries: 0 });
    expect(verdict(counts, 0).hasPassed).to.equal(false);
    expect(named.failures).to.have.lengthOf(1);
    expect(named.failures[0]).to.match(/^planted "after all" hook .*planted\.test\.cjs\): left open$/);
  });

  it('is bad with a failed test, and with a check that failed', () => {
    expect(verdict(PASSED, 0).hasPassed).to.equal(true);
    expect(verdict({ ...PASSED, failed: 1 }, 0).hasPassed).to.equal(false);
    expect(verdict(PASSED, 2)).to.deep.equal({
      lines: ['second tries: 0 (more than 2 fail the run)', '3000 passed, 1 failed, 2 skipped'],
      hasPassed: false,
    });
  });
});
