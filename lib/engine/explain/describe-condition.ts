import type { MatchContext } from '../../patterns/matcher.js';
import { CompositeCondition } from '../correlate/composite-condition.js';
import { firstTimeSeenKey } from '../correlate/first-time-seen.js';
import { type EngineEvent, STATIC_FIELDS } from '../event.js';
import { type AddressSpec, PATTERN_ELEMENTS, type PatternElement, type PatternSpec } from '../load/rule.js';
import { FieldCondition, ListCondition, patternSubject } from '../rules/condition.js';
import type { RuleRun } from '../rules/rule-run.js';
import type { CompiledRule } from '../rules/ruleset.js';
import { explainSearch, type SearchFacts, searchText } from './explain-search.js';
import { shownText } from './shown-text.js';

/** A condition of a rule and what it met, for people. Texts are cut and no byte strings. */
export type ConditionFacts = {
  /** Element of the rule: `match`, `field win.system.channel`, `list etc/lists/users`. */
  readonly condition: string;
  /** What it wants: `osmatch 'failed'`, `not osregex '^root$'`, `10.0.0.0/8`. */
  readonly wants: string;
  /** What it looked at; absent when the event does not have it, or the condition looks at something else. */
  readonly subject?: string;
  /** What there is to say beside that. */
  readonly note?: string;
  /** The counters of a search for earlier events. */
  readonly search?: SearchFacts;
};

/** What conditions are described of. */
type Described = {
  readonly event: EngineEvent;
  readonly run: RuleRun;
  /** Holds the steps that the explanation has left for searches. */
  readonly context: MatchContext;
};

/**
 * Describes the condition at a position of a rule. For conditions that change what they look at (`check_diff`, `if_fts`,
 * composite search) call it before the condition is tried.
 */
export function describeCondition(rule: CompiledRule, at: number, { event, run, context }: Described): ConditionFacts {
  const condition = rule.conditions[at];
  if (condition === undefined) return { condition: '', wants: '' };
  const { rule: plain } = rule;
  const { element } = condition;
  const nth = rule.conditions.slice(0, at).filter((other) => other.element === element).length;
  if (condition instanceof CompositeCondition) {
    const search = explainSearch(condition.search, event, run, context);
    return { condition: element, wants: `${String(search.needed)} events`, note: searchText(search), search };
  }
  if (condition instanceof ListCondition) return describeList(condition, rule, nth, event, run);
  if (condition instanceof FieldCondition) {
    const name = shownText(condition.name);
    const value = run.fields.value(event, condition.slot);
    return {
      condition: `field ${name}`,
      ...patternFacts(plain.fields[nth]?.pattern, value, absentField(condition, event)),
    };
  }
  if (isPatternElement(element)) {
    const absent = `the event has no ${element}`;
    return { condition: element, ...patternFacts(plain.patterns[element], patternSubject(event, element), absent) };
  }
  switch (element) {
    case 'decoded_as': {
      const name = event.decoder?.name;
      const note = name === undefined ? 'no decoder took the event' : `the decoder is '${shownText(name)}'`;
      return { condition: element, wants: `'${shownText(plain.decodedAs ?? '')}'`, note };
    }
    case 'srcip':
    case 'dstip':
      return addressFacts(element, plain[element], event[element]);
    case 'compiled_rule':
      return { condition: element, wants: shownText(plain.compiledRule ?? '') };
    case 'maxsize': {
      const note = `the log has ${String(event.log.length)} bytes`;
      return { condition: element, wants: `at least ${String(plain.maxsize)} bytes`, note };
    }
    case 'time': {
      const minute = run.minuteOfDay;
      const clock = `${twoDigits(Math.floor(minute / 60))}:${twoDigits(minute % 60)}`;
      return { condition: element, wants: shownText(plain.time ?? ''), note: `it is ${clock}` };
    }
    case 'weekday':
      return {
        condition: element,
        wants: shownText(plain.weekday ?? ''),
        note: `it is ${WEEKDAYS[run.weekday] ?? ''}`,
      };
    case 'check_diff': {
      const last = run.state.diffs.last(event.hostname, plain.id);
      const note =
        last === undefined
          ? 'no log is stored yet'
          : last === event.log
            ? 'the log is the stored one'
            : 'the log changed';
      return { condition: element, wants: 'another log than the last one of this host', note };
    }
    case 'if_fts': {
      const key = firstTimeSeenKey(event);
      const note = key === undefined ? 'the decoder declares no fts' : `the key is '${shownText(key)}'`;
      return { condition: element, wants: 'a key that was never seen', note };
    }
    default:
      return { condition: element, wants: '' };
  }
}

/** A condition that failed, as a sentence. */
export function failureText({ condition, wants, subject, note }: ConditionFacts): string {
  if (condition === 'frequency') return note ?? '';
  const met = subject === undefined ? note : `in '${subject}'${note === undefined ? '' : `, ${note}`}`;
  return `${condition} ${wants}${met === undefined ? '' : `: ${met}`}`;
}

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

function isPatternElement(element: string): element is PatternElement {
  return PATTERN_ELEMENTS.some((name) => name === element);
}

function patternFacts(
  spec: PatternSpec | undefined,
  value: string | undefined,
  absent: string,
): Pick<ConditionFacts, 'wants' | 'subject' | 'note'> {
  const language = spec?.language === 'exact' ? 'exactly' : (spec?.language ?? '');
  const wants = `${spec?.negate === true ? 'not ' : ''}${language} '${shownText(spec?.source ?? '')}'`;
  return value === undefined ? { wants, note: absent } : { wants, subject: shownText(value) };
}

/** A dynamic condition never finds a static field, which surprises authors (rules-and-alerts.md 4.5). */
function absentField({ name }: FieldCondition, event: EngineEvent): string {
  const key = name.toLowerCase();
  const isStatic = STATIC_FIELDS.some((field) => field === key && event[field] !== undefined);
  return isStatic
    ? `the event has '${shownText(name)}' as a static field, which <field> does not see`
    : 'the event has no such field';
}

function addressFacts(
  element: 'srcip' | 'dstip',
  spec: AddressSpec | undefined,
  value: string | undefined,
): ConditionFacts {
  const wants = `${spec?.negate === true ? 'not ' : ''}${(spec?.sources ?? []).map(shownText).join(', ')}`;
  return value === undefined
    ? { condition: element, wants, note: `the event has no ${element}` }
    : { condition: element, wants, subject: shownText(value) };
}

function describeList(
  condition: ListCondition,
  { rule }: CompiledRule,
  nth: number,
  event: EngineEvent,
  run: RuleRun,
): ConditionFacts {
  const spec = rule.lists[nth];
  if (spec === undefined) return { condition: 'list', wants: '' };
  const name = shownText(spec.attribute ?? spec.fieldName);
  const check = spec.checkValue === undefined ? '' : ` '${shownText(spec.checkValue)}'`;
  const facts = { condition: `list ${shownText(spec.path)}`, wants: `${spec.lookup} of ${name}${check}` };
  const text = condition.subject(event, run);
  if (text === undefined) return { ...facts, note: `the event has no ${name}` };
  const found = condition.find(text);
  const note = found === undefined ? 'the list has no such key' : `the list has '${shownText(found)}' for it`;
  return { ...facts, subject: shownText(text), note };
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
