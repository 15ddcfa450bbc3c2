// The spec reporter of mocha, closed by one plain line that scripts can read: 'N passed, N failed, N skipped'.
const Spec = require('mocha').reporters.Spec;

module.exports = class PlainReporter extends Spec {
  epilogue() {
    super.epilogue();
    const { passes, failures, pending } = this.stats;
    const failed = failures + (process.env.SVC_LINT_FAILED ? 1 : 0);
    console.log(`${passes} passed, ${failed} failed, ${pending} skipped`);
  }
};
