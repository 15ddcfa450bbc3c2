import type { RuleTestResult } from '../../lib/ruleset/tests/run-rule-test.js';

/** The results as JUnit XML, which CI systems read: one suite a test file. */
export function junitReport(results: readonly RuleTestResult[]): string {
  const byFile = new Map<string, RuleTestResult[]>();
  for (const result of results) {
    const suite = byFile.get(result.test.file);
    if (suite === undefined) {
      byFile.set(result.test.file, [result]);
    } else {
      suite.push(result);
    }
  }
  const suites = [...byFile].map(([file, cases]) => testSuite(file, cases));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts(results)}>\n${suites.join('')}</testsuites>\n`;
}

function testSuite(file: string, results: readonly RuleTestResult[]): string {
  const cases = results.map((result) => testCase(file, result)).join('');
  return `  <testsuite name="${escapeXml(file)}" ${counts(results)}>\n${cases}  </testsuite>\n`;
}

function testCase(file: string, { test, status, problems, explanation, duration }: RuleTestResult): string {
  const line = test.line > 0 ? ` line="${String(test.line)}"` : '';
  const open = `    <testcase classname="${escapeXml(file)}" name="${escapeXml(test.name)}"${line} time="${secondsOf(duration)}"`;
  if (status === 'passed') {
    return `${open}/>\n`;
  }
  if (status === 'skipped') {
    return `${open}><skipped message="${escapeXml(problems[0]?.text ?? '')}"/></testcase>\n`;
  }
  const text = escapeXml([...problems.map((problem) => problem.text), ...explanation].join('\n'));
  return `${open}><failure message="${escapeXml(problems[0]?.text ?? '')}">${text}</failure></testcase>\n`;
}

function counts(results: readonly RuleTestResult[]): string {
  const count = (status: RuleTestResult['status']): string =>
    String(results.filter((result) => result.status === status).length);
  const time = results.reduce((sum, { duration }) => sum + duration, 0);
  return `tests="${String(results.length)}" failures="${count('failed')}" skipped="${count('skipped')}" time="${secondsOf(time)}"`;
}

function secondsOf(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

/** Logs may hold any byte; what XML 1.0 cannot carry becomes U+FFFD. */
function escapeXml(text: string): string {
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');
}
