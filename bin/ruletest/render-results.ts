import { relative } from 'node:path';
import type { RuleTestResult } from '../../lib/ruleset/tests/run-rule-test.js';
import type { TextStyle } from '../terminal/text-style.js';
import type { TestCoverage } from './test-coverage.js';

/** Rules named in one list of the coverage; a ruleset without any tests has thousands. */
const MAX_LISTED = 200;

/** Where a test stands, as editors understand it. */
function placeOf({ test }: RuleTestResult): string {
  const file = relative(process.cwd(), test.file);
  const shown = file === '' || file.startsWith('..') ? test.file : file;
  return test.line > 0 ? `${shown}:${String(test.line)}` : shown;
}

/** One line for a test, and for one that failed what was wrong and how the event went through the ruleset. */
export function renderResult(result: RuleTestResult, style: TextStyle): string {
  const { test, status, problems, explanation } = result;
  const name = `${style.foreign(placeOf(result))} ${style.foreign(test.name)}`;
  switch (status) {
    case 'passed':
      return `${style.good('pass')} ${name}\n`;
    case 'skipped':
      return `${style.faint('skip')} ${name}: ${style.foreign(problems[0]?.text ?? '')}\n`;
    case 'failed': {
      const why = problems.map((problem) => `    ${style.bad(style.foreign(problem.text))}\n`).join('');
      const trace = explanation.map((line) => `      ${style.faint(style.foreign(oneLine(line)))}\n`).join('');
      return `${style.bad('FAIL')} ${name}\n${why}${trace}`;
    }
  }
}

/** The last line of a run. */
export function renderSummary(results: readonly RuleTestResult[], milliseconds: number, style: TextStyle): string {
  const count = (status: RuleTestResult['status']): number => results.filter((each) => each.status === status).length;
  const failed = count('failed');
  const skipped = count('skipped');
  const parts = [
    style.good(`${String(count('passed'))} passed`),
    failed > 0 ? style.bad(`${String(failed)} failed`) : '0 failed',
    ...(skipped > 0 ? [`${String(skipped)} skipped`] : []),
  ];
  return `${parts.join(', ')} (${(milliseconds / 1000).toFixed(1)} s)\n`;
}

/** What tests do not look at. */
export function renderCoverage(coverage: TestCoverage, style: TextStyle): string {
  const { rules, decoders, neverExpected, neverExcluded, neverDecoded } = coverage;
  const share = (total: number, missing: number): string => {
    const covered = total - missing;
    const percent = total === 0 ? 100 : Math.floor((100 * covered) / total);
    return `${String(covered)} of ${String(total)} (${String(percent)} %)`;
  };
  return [
    `${style.heading('Rules that a test fires:')} ${share(rules, neverExpected.length)}`,
    ...listed(neverExpected.map(String)),
    `${style.heading('Rules that a test rules out:')} ${share(rules, neverExcluded.length)}`,
    ...listed(neverExcluded.map(String)),
    `${style.heading('Decoders that take a tested log:')} ${share(decoders, neverDecoded.length)}`,
    ...listed(neverDecoded),
    '',
  ].join('\n');
}

function listed(names: readonly string[]): string[] {
  if (names.length === 0) {
    return [];
  }
  const more = names.length > MAX_LISTED ? ` and ${String(names.length - MAX_LISTED)} more` : '';
  return [`  without: ${names.slice(0, MAX_LISTED).join(' ')}${more}`];
}

function oneLine(text: string): string {
  return text.replace(/\r?\n/g, '\\n');
}
