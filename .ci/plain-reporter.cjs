// The spec reporter of mocha, with a line every half minute that says how far it is, and one plain line at the end that scripts
// can read: 'N passed, N failed, N skipped'. With SVC_TEST_RESULT the counts go to that file for the one who started it.
const { writeFileSync } = require('node:fs');
const { performance } = require('node:perf_hooks');
const { relative } = require('node:path');
const { clearInterval, setInterval, setTimeout } = require('node:timers');
const Spec = require('mocha').reporters.Spec;

/** Time that what a test left open may take to close by itself, milliseconds. */
const GRACE_MS = 10_000;
const PROGRESS_MS = 30_000;
/** Of the message of an error, for the list at the end. */
const MESSAGE_LINES = 5;
/** Counterexamples are long, and the seed draws them again. */
const LINE_LENGTH = 2000;

/** @returns what failed, where, and the first lines of why */
function named(test, error) {
  const why = [error, error?.cause].map(firstLines).filter((lines) => lines !== '');
  return `${test.fullTitle()} (${relative(process.cwd(), test.file ?? '')}): ${why.join('\n    because of ')}`;
}

function firstLines(error) {
  const lines = String(error?.message ?? '').split('\n', MESSAGE_LINES);
  return lines.map((line) => (line.length > LINE_LENGTH ? `${line.slice(0, LINE_LENGTH)}...` : line)).join('\n    ');
}

module.exports = class PlainReporter extends Spec {
  constructor(runner, options) {
    super(runner, options);
    this.secondTries = [];
    this.failed = [];
    runner.on('retry', (test, error) => this.secondTries.push(named(test, error)));
    // Hooks fail as well as tests, and are not tried again.
    runner.on('fail', (test, error) => this.failed.push(named(test, error)));
    const progress = this.tellProgress(runner);
    runner.once('end', () => {
      clearInterval(progress);
      // A handle left open must not hold the whole run for ever: it is named, and the process ends.
      setTimeout(() => {
        console.error(`The tests left open: ${process.getActiveResourcesInfo().join(', ')}`);
        process.exit(runner.stats.failures > 0 ? 1 : 0);
      }, GRACE_MS).unref();
    });
  }

  tellProgress(runner) {
    const begun = performance.now();
    const files = new Set();
    runner.on('test end', ({ file }) => files.add(file));
    return setInterval(() => {
      const seconds = Math.round((performance.now() - begun) / 1000);
      const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
      const all = process.env.SVC_TEST_FILES;
      console.log(`tests: ${files.size}${all ? ` of ${all}` : ''} files, ${time}`);
    }, PROGRESS_MS).unref();
  }

  epilogue() {
    super.epilogue();
    for (const line of this.secondTries) console.log(`second try: ${line}`);
    const { passes: passed, failures: failed, pending: skipped } = this.stats;
    const path = process.env.SVC_TEST_RESULT;
    if (path === undefined) console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
    else {
      const { secondTries, failed: failures } = this;
      writeFileSync(
        path,
        JSON.stringify({ passed, failed, skipped, secondTries: secondTries.length, named: { secondTries, failures } }),
      );
    }
  }
};
