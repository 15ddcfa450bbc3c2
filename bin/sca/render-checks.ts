import type { Evaluation, ScaResult } from '../../lib/sca/evaluate.js';
import type { LoadedPolicy } from '../../lib/sca/policy-file.js';
import { scoreOf } from '../../lib/sca/score.js';
import type { TextStyle } from '../terminal/text-style.js';

/** A check that was evaluated, or the requirements of a policy, which have no id. */
export type ShownCheck = {
  readonly id: number | undefined;
  readonly title: string;
  readonly policy: string;
  readonly evaluation: Evaluation;
};

const WORDS: Readonly<Record<ScaResult, string>> = { passed: 'pass', failed: 'FAIL', na: 'n/a ' };

/** The line above the checks of a policy. */
export function renderPolicy({ policy, path }: LoadedPolicy, style: TextStyle): string {
  return `${style.heading(style.foreign(policy.name))} ${style.faint(style.foreign(path))}\n`;
}

/** One line for a check, and below it its rules where it did not pass. @param verbose of one that passed, too */
export function renderCheck({ id, title, evaluation }: ShownCheck, verbose: boolean, style: TextStyle): string {
  const { result, reason, rules } = evaluation;
  const word =
    result === 'passed' ? style.good(WORDS.passed) : result === 'failed' ? style.bad(WORDS.failed) : WORDS.na;
  const name = `${word} ${id === undefined ? '' : `${String(id)} `}${style.foreign(title)}`;
  const why = reason === undefined ? '' : `: ${style.foreign(reason)}`;
  if (result === 'passed' && !verbose) return `${name}\n`;
  const traces = rules.map((trace) => {
    const because = trace.reason === undefined ? '' : ` (${trace.reason})`;
    return `       ${style.faint(style.foreign(`${trace.finding.padEnd(9)} ${trace.rule.expanded}${because}`))}\n`;
  });
  return `${name}${why}\n${traces.join('')}`;
}

/** The last line of a policy. */
export function renderSummary(checks: readonly ShownCheck[], style: TextStyle): string {
  const count = (result: ScaResult): number => checks.filter(({ evaluation }) => evaluation.result === result).length;
  const [passed, failed, invalid] = [count('passed'), count('failed'), count('na')];
  const score = Math.trunc(scoreOf(passed, failed));
  return `${style.heading(`${String(passed)} passed, ${String(failed)} failed, ${String(invalid)} not applicable: score ${String(score)}`)}\n`;
}

/** One line of JSON for a check. */
export function checkJson({ id, title, policy, evaluation }: ShownCheck): string {
  const { result, reason, rules, looked } = evaluation;
  return `${JSON.stringify({
    ...{ policy, id, title, result: result === 'na' ? 'not applicable' : result },
    ...(reason === undefined ? {} : { reason }),
    looked,
    rules: rules.map(({ rule, finding, reason: why }) => ({ rule: rule.expanded, finding, reason: why })),
  })}\n`;
}
