import { type ConditionFacts, failureText } from '../../lib/engine/explain/describe-condition.js';
import type { ExplainedDecoding, ExplainedRule, Explanation } from '../../lib/engine/explain/explanation.js';
import type { TextStyle } from '../terminal/text-style.js';
import { explanationSchema } from './explanation-schema.js';

/** Failures of the same kind in a row, from which on they are told in one line. */
const MANY = 4;
/** Names shown of those. */
const MAX_NAMES = 8;

/**
 * An explanation as text; empty when the reply has none.
 * @param all tells every failure; else runs of decoders or rules for other programs and decoders are summed up
 */
export function renderExplanation(data: ReadonlyMap<string, unknown>, style: TextStyle, all: boolean): string {
  const parsed = explanationSchema.safeParse(data.get('explain'));
  if (!parsed.success) return '';
  const { predecoding, decoding, rules, result }: Explanation = parsed.data;
  const lines: string[] = [];
  if (predecoding !== undefined) {
    const { format, timestamp, hostname, program_name: program } = predecoding;
    const parts = Object.entries({ timestamp, hostname, program_name: program })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `, ${name} '${String(value)}'`);
    lines.push(`Header: ${format === 'none' ? 'none that is known' : format}${parts.join('')}`);
    lines.push(`Log: '${predecoding.log}'`);
  }
  lines.push(`Decoders ${decoding.roots}:`, ...renderSteps(decoding.steps, all).map((line) => `  ${line}`));
  const { decoder, parent, category, fields } = decoding;
  const child = parent === undefined ? '' : ` (child of '${parent}')`;
  lines.push(`Decoder: ${decoder === undefined ? 'none' : `'${decoder}'${child}`}, category ${category}`);
  if (fields.length > 0) lines.push(`Fields: ${fields.map(({ name, value }) => `${name}='${value}'`).join(', ')}`);
  lines.push('Rules:', ...renderRules(rules, predecoding?.log, all).map((line) => `  ${line}`));
  const above = result.ancestors.length === 0 ? '' : ` Above it: ${result.ancestors.join(' > ')}.`;
  lines.push(`Result: ${result.text}${above}`);
  return `\n${style.heading('**Explanation:')}\n${lines.map((line) => `\t${style.foreign(line)}\n`).join('')}`;
}

function renderSteps(steps: readonly ExplainedDecoding[], all: boolean): string[] {
  const lines: string[] = [];
  for (const run of runsOf(steps, all, (step) => (step.matched ? undefined : step.what))) {
    const [first] = run;
    if (first === undefined) continue;
    if (run.length < MANY) lines.push(...run.map(stepLine));
    else lines.push(`no   ${String(run.length)} decoders, ${first.what}: ${names(run.map(({ decoder }) => decoder))}`);
  }
  return lines.length === 0 ? ['none of them was tried'] : lines;
}

function stepLine({ decoder, place, what, matched, language, pattern, from, next }: ExplainedDecoding): string {
  const head = `${matched ? 'yes' : 'no '}  ${decoder}`;
  switch (what) {
    case 'selected':
      return `${head}: selected (${place})`;
    case 'taken':
      return `${head}: taken without a test, since it has no prematch (${place})`;
    case 'plugin':
      return `${head}: its plugin reads the log`;
    default: {
      const start = from === undefined || from === 0 ? '' : ` from byte ${String(from)}`;
      const nowhere = from !== undefined && from < 0 ? ', which has no place to begin at' : start;
      const end = next === undefined ? '' : `, goes on at byte ${String(next)}`;
      return `${head}: ${what} ${language ?? ''} '${pattern ?? ''}'${nowhere}${end}`;
    }
  }
}

function renderRules(rules: readonly ExplainedRule[], log: string | undefined, all: boolean): string[] {
  const lines: string[] = [];
  const kind = ({ depth, failed }: ExplainedRule): string | undefined =>
    failed !== undefined && isForOthers(failed) ? String(depth) : undefined;
  for (const run of runsOf(rules, all, kind)) {
    const [first] = run;
    if (first === undefined) continue;
    const indent = '  '.repeat(first.depth);
    if (run.length < MANY) {
      lines.push(...run.map((rule) => indent + ruleLine(rule, log)));
    } else {
      const ids = names(run.map(({ id }) => String(id)));
      lines.push(`${indent}no   ${String(run.length)} rules for other decoders, programs or fields: ${ids}`);
    }
  }
  return lines.length === 0 ? ['none was tried'] : lines;
}

/** The event is of another decoder or program, or lacks what the rule looks at. */
function isForOthers({ condition, subject }: ConditionFacts): boolean {
  return (
    condition === 'decoded_as' ||
    condition === 'program_name' ||
    (subject === undefined && condition.startsWith('field '))
  );
}

function ruleLine({ id, level, result, failed, held }: ExplainedRule, log: string | undefined): string {
  const head = `${result === 'failed' ? 'no ' : 'yes'}  ${String(id)} (level ${String(level)})`;
  if (failed !== undefined) return `${head}: ${failureText(withoutLog(failed, log))}`;
  const conditions = (held ?? []).map((facts) => failureText(withoutLog(facts, log)));
  const end = result === 'passed' ? '; it says noalert, and nothing below it matched' : '';
  return `${head}: ${conditions.length === 0 ? 'no condition' : conditions.join('; ')}${end}`;
}

/** The log stands above all rules already. */
function withoutLog({ subject, ...facts }: ConditionFacts, log: string | undefined): ConditionFacts {
  const isLog = (facts.condition === 'match' || facts.condition === 'regex') && subject === log;
  return subject === undefined || isLog ? facts : { ...facts, subject };
}

function names(all: readonly string[]): string {
  const shown = [...new Set(all)];
  const more = shown.length - MAX_NAMES;
  return more > 0 ? `${shown.slice(0, MAX_NAMES).join(', ')} and ${String(more)} more` : shown.join(', ');
}

/** Neighbours of the same kind together; items without a kind stand alone. */
function runsOf<Item>(items: readonly Item[], apart: boolean, kindOf: (item: Item) => string | undefined): Item[][] {
  const runs: Item[][] = [];
  let last: string | undefined;
  for (const item of items) {
    const kind = apart ? undefined : kindOf(item);
    const run = kind !== undefined && kind === last ? runs[runs.length - 1] : undefined;
    if (run === undefined) runs.push([item]);
    else run.push(item);
    last = kind;
  }
  return runs;
}
