// The spec reporter of mocha, closed by one plain line that scripts can read: 'N passed, N failed', ', N skipped'.
const { relative } = require('node:path');
const { setTimeout } = require('node:timers');
const Spec = require('mocha').reporters.Spec;

/** Time that what a test left open may take to close by itself, milliseconds. */
const GRACE_MS = 10_000;

module.exports = class PlainReporter extends Spec {
  constructor(runner, options) {
    super(runner, options);
    this.retried = [];
    runner.on('retry', (test, error) => this.retried.push({ test, error }));
    runner.once('end', () => {
      // A handle left open must not hold the whole run for ever: it is named, and the process ends.
      setTimeout(() => {
        console.error(`The tests left open: ${process.getActiveResourcesInfo().join(', ')}`);
        process.exit(runner.stats.failures > 0 ? 1 : 0);
      }, GRACE_MS).unref();
    });
  }

  epilogue() {
    super.epilogue();
    for (const { test, error } of this.retried) {
      console.log(
        `second try: ${test.fullTitle()} (${relative(process.cwd(), test.file ?? '')}): ${error?.message ?? ''}`,
      );
    }
    const { passes, failures, pending } = this.stats;
    const failed = failures + (process.env.SVC_LINT_FAILED ? 1 : 0);
    console.log(`${passes} passed, ${failed} failed, ${pending} skipped`);
  }
};
