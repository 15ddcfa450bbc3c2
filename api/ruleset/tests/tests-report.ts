import type { RuleTestProblem, RuleTestResult } from '../../../lib/ruleset/tests/run-rule-test.js';
import type { ShownTest, TestsMessage, TestsReport } from './tests-order.js';

/** Results shown at most: an answer of all the tests of a large ruleset is nothing that anybody reads. */
const MAX_RESULTS = 1000;
/** Bytes of JSON that they take at most. */
const MAX_RESULT_BYTES = 4 * 1024 * 1024;
/** Problems of a test, and lines of its explanation, that are shown at most. */
const MAX_LINES = 100;
/** Characters of each text that are shown. */
const MAX_SHOWN = 4000;

/** Results that are kept to be shown, up to both limits; what tests and logs hold does not make an answer larger. */
class ShownTests {
  readonly list: ShownTest[] = [];
  #bytes = 0;
  #isFull = false;

  /** Takes a result unless one before it had no room: what is shown has no gaps. */
  add(test: ShownTest): void {
    if (this.#isFull || this.list.length >= MAX_RESULTS) return;
    const bytes = Buffer.byteLength(JSON.stringify(test));
    this.#isFull = this.#bytes + bytes > MAX_RESULT_BYTES;
    if (this.#isFull) return;
    this.#bytes += bytes;
    this.list.push(test);
  }
}

/** Counts what tests come to, and keeps of them what an answer shows. */
export class ReportedTests {
  readonly #of = { failed: new ShownTests(), skipped: new ShownTests(), passed: new ShownTests() };
  readonly #counts = { failed: 0, skipped: 0, passed: 0 };

  add(result: RuleTestResult): void {
    this.#counts[result.status] += 1;
    this.#of[result.status].add(shown(result));
  }

  /** @param loads whether the engine would take the ruleset */
  report(messages: readonly TestsMessage[], loads: boolean): TestsReport {
    const { failed, skipped, passed } = this.#counts;
    const total = failed + skipped + passed;
    const results = new ShownTests();
    for (const { list } of [this.#of.failed, this.#of.skipped, this.#of.passed]) {
      for (const test of list) results.add(test);
    }
    const left_out = total - results.list.length;
    return { loads, messages, total, passed, failed, skipped, results: results.list, left_out };
  }
}

function shown({ test: { name, file, line }, status, problems, explanation }: RuleTestResult): ShownTest {
  return {
    ...{ name: cut(name), file, line, status },
    problems: problems.slice(0, MAX_LINES).map(shownProblem),
    explanation: explanation.slice(0, MAX_LINES).map(cut),
  };
}

function shownProblem({ what, expected, actual, text }: RuleTestProblem): RuleTestProblem {
  return {
    what: cut(what),
    ...(expected === undefined ? {} : { expected: cut(expected) }),
    ...(actual === undefined ? {} : { actual: cut(actual) }),
    text: cut(text),
  };
}

function cut(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}
