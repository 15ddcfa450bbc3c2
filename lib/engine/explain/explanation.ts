import type { Matcher } from '../../patterns/matcher.js';
import type { Decoder } from '../decode/decoder-set.js';
import type { DecodingStep } from '../decode/interpret-decoders.js';
import { type EngineEvent, STATIC_FIELDS } from '../event.js';
import type { EngineRuleset } from '../load/engine-ruleset.js';
import type { EventOutcome } from '../outcome.js';
import type { ConditionFacts } from './describe-condition.js';
import type { Explainer } from './explainer.js';
import type { AttemptResult, RuleAttempt } from './rule-walk.js';
import { shownText } from './shown-text.js';

/** One step of decoding. */
export type ExplainedDecoding = {
  /** Name as written in the decoder's file; several may have the same. */
  readonly decoder: string;
  /** File and line of the decoder. */
  readonly place: string;
  readonly what: DecodingStep['what'];
  readonly matched: boolean;
  readonly language?: string;
  readonly pattern?: string;
  /** Byte of the log at which the pattern began to read; -1 when there is no such place, which fails it. */
  readonly from?: number;
  /** Byte from which decoding goes on. */
  readonly next?: number;
  /** What a pattern looked at, cut. */
  readonly subject?: string;
};

/** One rule that was tried. */
export type ExplainedRule = {
  readonly id: number;
  readonly level: number;
  /** 0 for the roots of categories; a rule's parent is the last one before it with one less. */
  readonly depth: number;
  readonly result: AttemptResult;
  /** The first condition that did not hold. */
  readonly failed?: ConditionFacts;
  /** Of a rule that matched: its conditions. */
  readonly held?: readonly ConditionFacts[];
};

/** What became of the event in the end. */
export type ExplainedResult = {
  readonly rule?: number;
  readonly level?: number;
  /** Rules above the one that matched, from the root down. */
  readonly ancestors: readonly number[];
  readonly alert: boolean;
  /** In words. */
  readonly text: string;
};

/** The way of one event through the engine, as plain data for people and tools. Texts are cut and no byte strings. */
export type Explanation = {
  readonly predecoding?: {
    readonly format: string;
    readonly timestamp?: string;
    readonly hostname?: string;
    readonly program_name?: string;
    readonly log: string;
  };
  readonly decoding: {
    /** Which roots an event like this one is tried on. */
    readonly roots: 'with program_name' | 'without program_name';
    readonly steps: readonly ExplainedDecoding[];
    readonly decoder?: string;
    readonly parent?: string;
    readonly category: string;
    readonly fields: readonly { readonly name: string; readonly value: string }[];
  };
  /** In the order in which they were tried. */
  readonly rules: readonly ExplainedRule[];
  readonly result: ExplainedResult;
};

/** Puts what an explainer saw into words and plain data. */
export function explanationOf(explainer: Explainer, outcome: EventOutcome, ruleset: EngineRuleset): Explanation {
  const { event } = outcome;
  const { predecoding, walk } = explainer;
  const { decoder } = event;
  return {
    ...(predecoding === undefined
      ? {}
      : {
          predecoding: {
            format: predecoding.format,
            ...textMember('timestamp', predecoding.timestamp),
            ...textMember('hostname', predecoding.hostname === '' ? undefined : predecoding.hostname),
            ...textMember('program_name', predecoding.programName),
            log: shownText(predecoding.log),
          },
        }),
    decoding: {
      roots: predecoding?.programName === undefined ? 'without program_name' : 'with program_name',
      steps: explainer.decoding.map((step) => explainDecoding(step, explainer)),
      ...textMember('decoder', decoder?.name),
      ...textMember('parent', decoder?.parent),
      category: event.category,
      fields: [...fieldsOf(event)],
    },
    rules: (walk?.attempts ?? []).map(explainRule),
    result: explainResult(explainer, outcome, ruleset.logLevel),
  };
}

function textMember<Name extends string>(name: Name, bytes: string | undefined): Partial<Record<Name, string>> {
  // one computed member, which TypeScript takes for an index signature
  return bytes === undefined ? {} : ({ [name]: shownText(bytes) } as Record<Name, string>);
}

function explainDecoding(
  { decoder, what, from, matched, next }: DecodingStep,
  explainer: Explainer,
): ExplainedDecoding {
  const matcher = matcherOf(decoder, what);
  const step = {
    decoder: shownText(decoder.ownName),
    place: `${decoder.place.file}:${String(decoder.place.line)}`,
    what,
    matched,
    ...(next === undefined ? {} : { next }),
  };
  if (matcher === undefined) return what === 'taken' ? { ...step, from } : step;
  const { log = '', programName = '' } = explainer.predecoding ?? {};
  const subject = what === 'program_name' ? programName : log.slice(Math.max(0, from));
  const pattern = { language: matcher.language, pattern: shownText(matcher.source) };
  return { ...step, ...pattern, from, ...(from < 0 ? {} : { subject: shownText(subject) }) };
}

function matcherOf(decoder: Decoder, what: DecodingStep['what']): Matcher | undefined {
  switch (what) {
    case 'program_name':
      return decoder.programName;
    case 'prematch':
      return decoder.prematch;
    case 'regex':
      return decoder.regex;
    default:
      return undefined;
  }
}

function* fieldsOf(event: EngineEvent): Iterable<{ readonly name: string; readonly value: string }> {
  for (const name of STATIC_FIELDS) {
    const value = event[name];
    if (value !== undefined) yield { name, value: shownText(value) };
  }
  for (const [at, name] of event.fieldNames.entries()) {
    yield { name: shownText(name), value: shownText(event.fieldValues[at] ?? '') };
  }
}

function explainRule({ node, depth, result, failed, held }: RuleAttempt): ExplainedRule {
  const { id, level } = node.rule.rule;
  return { id, level, depth, result, ...(failed === undefined ? { held } : { failed }) };
}

function explainResult({ walk }: Explainer, outcome: EventOutcome, logLevel: number): ExplainedResult {
  const { rule, isAlert, disposition, event } = outcome;
  const ancestors = (walk?.attempts ?? [])
    .filter(({ result }) => result === 'through')
    .map(({ node }) => node.rule.rule.id);
  if (disposition !== 'processed') {
    const text =
      disposition === 'dropped' ? 'The event could not be analysed.' : 'The event does not come to the rules.';
    return { ancestors, alert: false, text };
  }
  if (rule === undefined) return { ancestors, alert: false, text: 'No rule took the event.' };
  const { id, level } = rule.rule;
  const matched = walk?.matched?.rule.id ?? id;
  const base = { rule: id, level, ancestors, alert: isAlert };
  const name = `Rule ${String(id)} (level ${String(level)})`;
  if (event.category === 'ossec-alert') return { ...base, text: `${name}, which the event itself names.` };
  if (matched !== id) {
    return { ...base, text: `${name} stands in for its child ${String(matched)}, which is in its ignore time.` };
  }
  return { ...base, text: `${name} took the event: ${alertText(outcome, logLevel)}.` };
}

const NO_LOG = 'the rule says no_log';

/** Whether there is an alert of an event whose rule is known, and if not, why. */
export function alertText(outcome: EventOutcome, logLevel: number): string {
  const { rule, isAlert } = outcome;
  if (!isAlert) return `no alert, ${noAlertReason(outcome, logLevel)}`;
  // A test answers with an alert whatever the options say (rules-and-alerts.md 9.6).
  return rule?.rule.log === false ? `no alert is written, as ${NO_LOG}; a test tells of one all the same` : 'an alert';
}

/** Why an event whose rule is known gives no alert. */
function noAlertReason({ rule, responds }: EventOutcome, logLevel: number): string {
  if (rule === undefined) return 'there is no rule';
  if (rule.rule.level === 0) return 'its level is 0';
  if (!responds) return `it is in its ignore time of ${String(rule.rule.ignoreTime)} s`;
  if (rule.rule.level < logLevel) return `its level is below ${String(logLevel)}, from which alerts are written`;
  return NO_LOG;
}
