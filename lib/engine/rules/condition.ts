import type { IpExpression } from '../../network/ip-expression.js';
import type { Matcher } from '../../patterns/matcher.js';
import type { Requirements } from '../../patterns/requirement.js';
import type { TimeExpression } from '../../time/time-expression.js';
import { type AskedTexts, attributeBit } from '../asked-text.js';
import type { EngineEvent } from '../event.js';
import type { ListLookup, ListSpec, PatternElement } from '../load/rule.js';
import type { CdbList } from './cdb-list.js';
import type { ConditionRun } from './condition-run.js';

/** One compiled condition of a rule. A rule's conditions stand in the order of rules-and-alerts.md 4.2. */
export interface Condition {
  /** The element that states it, for traces. */
  readonly element: string;
  /** Bit of the attribute without which it never holds, see `attributeBit`; undefined, as `slot`, where it asks for none. */
  readonly attribute?: number;
  /** Number of the dynamic field without which it never holds; -1 as undefined. */
  readonly slot?: number;
  /** Whether the event satisfies it. May change the run's state (`check_diff`, `if_fts`, composite search). */
  holds(event: EngineEvent, run: ConditionRun): boolean;
}

/** A pattern on one attribute. A missing attribute fails it, negated or not; `match` and `regex` always have a subject. */
export class PatternCondition implements Condition {
  readonly element: PatternElement;
  readonly attribute: number;
  readonly #matcher: Matcher;
  readonly #negate: boolean;

  constructor(element: PatternElement, matcher: Matcher, negate: boolean) {
    this.element = element;
    this.attribute = attributeBit(element);
    this.#matcher = matcher;
    this.#negate = negate;
  }

  /** What the log has where the condition holds; undefined where nothing is known, as for conditions on something else. */
  get ofLog(): Requirements {
    const onLog = this.element === 'match' || this.element === 'regex';
    return onLog && !this.#negate ? this.#matcher.requirements : undefined;
  }

  /** Whether the condition holds for this subject. */
  acceptsValue(subject: string, run: ConditionRun): boolean {
    return run.test(this.#matcher, subject) !== this.#negate;
  }

  holds(event: EngineEvent, run: ConditionRun): boolean {
    const subject = patternSubject(event, this.element);
    return subject !== undefined && run.test(this.#matcher, subject) !== this.#negate;
  }
}

/** Plain string equality: `action` without a `type`. */
export class ExactActionCondition implements Condition {
  readonly element = 'action';
  readonly attribute = attributeBit('action');
  readonly #value: string;
  readonly #negate: boolean;

  constructor(value: string, negate: boolean) {
    this.#value = value;
    this.#negate = negate;
  }

  holds({ action }: EngineEvent): boolean {
    return action !== undefined && (action === this.#value) !== this.#negate;
  }
}

export class DecodedAsCondition implements Condition {
  readonly element = 'decoded_as';
  readonly decoderId: number;

  constructor(decoderId: number) {
    this.decoderId = decoderId;
  }

  holds({ decoder }: EngineEvent): boolean {
    return decoder?.id === this.decoderId;
  }
}

export class FieldCondition implements Condition {
  readonly element = 'field';
  readonly name: string;
  /** Number of the field in the ruleset's table. */
  readonly slot: number;
  readonly #matcher: Matcher;
  readonly #negate: boolean;

  constructor(name: string, slot: number, matcher: Matcher, negate: boolean) {
    this.name = name;
    this.slot = slot;
    this.#matcher = matcher;
    this.#negate = negate;
  }

  /** Whether the condition holds for this value of the field. */
  acceptsValue(value: string, run: ConditionRun): boolean {
    return run.test(this.#matcher, value) !== this.#negate;
  }

  holds(event: EngineEvent, run: ConditionRun): boolean {
    const value = run.fields.value(event, this.slot);
    return value !== undefined && run.test(this.#matcher, value) !== this.#negate;
  }
}

export class AddressCondition implements Condition {
  readonly element: 'srcip' | 'dstip';
  readonly attribute: number;
  readonly #expression: IpExpression;
  readonly #negate: boolean;

  constructor(element: 'srcip' | 'dstip', expression: IpExpression, negate: boolean) {
    this.element = element;
    this.attribute = attributeBit(element);
    this.#expression = expression;
    this.#negate = negate;
  }

  holds(event: EngineEvent): boolean {
    const address = event[this.element];
    return address !== undefined && this.#expression.contains(address) !== this.#negate;
  }
}

export class CompiledFunctionCondition implements Condition {
  readonly element = 'compiled_rule';
  readonly #test: (event: EngineEvent) => boolean;

  constructor(test: (event: EngineEvent) => boolean) {
    this.#test = test;
  }

  holds(event: EngineEvent): boolean {
    return this.#test(event);
  }
}

/** `maxsize` is a minimum in spite of its name (rules-and-alerts.md 2.1). */
export class SizeCondition implements Condition {
  readonly element = 'maxsize';
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  holds({ log }: EngineEvent): boolean {
    return log.length >= this.#size;
  }
}

export class TimeCondition implements Condition {
  readonly element = 'time';
  readonly #expression: TimeExpression;

  constructor(expression: TimeExpression) {
    this.#expression = expression;
  }

  holds(_event: EngineEvent, run: ConditionRun): boolean {
    return this.#expression.contains(run.minuteOfDay);
  }
}

export class WeekdayCondition implements Condition {
  readonly element = 'weekday';
  readonly #days: readonly boolean[];

  constructor(days: readonly boolean[]) {
    this.#days = days;
  }

  holds(_event: EngineEvent, run: ConditionRun): boolean {
    return this.#days[run.weekday] === true;
  }
}

export class CheckDiffCondition implements Condition {
  readonly element = 'check_diff';
  readonly #ruleId: number;

  constructor(ruleId: number) {
    this.#ruleId = ruleId;
  }

  holds(event: EngineEvent, run: ConditionRun): boolean {
    return run.differsFromLast(event, this.#ruleId);
  }
}

export class FirstTimeSeenCondition implements Condition {
  readonly element = 'if_fts';

  holds(event: EngineEvent, run: ConditionRun): boolean {
    return run.isFirstSight(event);
  }
}

export class ListCondition implements Condition {
  readonly element = 'list';
  readonly attribute: number;
  /** Number of the dynamic field; -1 when the list looks at an attribute. */
  readonly slot: number;
  readonly #spec: ListSpec;
  readonly #list: CdbList;
  readonly #valueMatcher: Matcher | undefined;

  constructor(spec: ListSpec, slot: number, list: CdbList, valueMatcher: Matcher | undefined) {
    this.attribute = attributeBit(spec.attribute ?? '');
    this.#spec = spec;
    this.slot = slot;
    this.#list = list;
    this.#valueMatcher = valueMatcher;
  }

  holds(event: EngineEvent, run: ConditionRun): boolean {
    const text = this.subject(event, run);
    // A missing attribute fails negative look-ups too.
    if (text === undefined) return false;
    const { lookup } = this.#spec;
    const found = this.find(text);
    switch (lookup) {
      case 'match_key':
      case 'address_match_key':
        return found !== undefined;
      case 'not_match_key':
      case 'not_address_match_key':
        return found === undefined;
      case 'match_key_value':
      case 'address_match_key_value':
        return found !== undefined && this.#valueMatcher !== undefined && run.test(this.#valueMatcher, found);
    }
  }

  /** Value of the entry that the look-up finds for a text. */
  find(text: string): string | undefined {
    return isAddressLookup(this.#spec.lookup) ? this.#list.findAddress(text) : this.#list.find(text);
  }

  /** What is looked up of the event. */
  subject(event: EngineEvent, run: ConditionRun): string | undefined {
    switch (this.#spec.attribute) {
      case undefined:
        return run.fields.value(event, this.slot);
      case 'user':
        // the opposite of `<user>`
        return event.srcuser ?? event.dstuser;
      case 'program_name':
        return event.programName;
      default:
        return event[this.#spec.attribute];
    }
  }
}

function isAddressLookup(lookup: ListLookup): boolean {
  return lookup === 'address_match_key' || lookup === 'not_address_match_key' || lookup === 'address_match_key_value';
}

/** Whether trying a condition changes what the next try finds. */
export function isStateful({ element }: Condition): boolean {
  return element === 'check_diff' || element === 'if_fts' || element === 'frequency';
}

/** The texts without which conditions do not hold, as far as none of them changes the state before that. */
export function askedBy(conditions: readonly Condition[]): AskedTexts {
  let attributes = 0;
  const slots = new Set<number>();
  for (const condition of conditions) {
    if (isStateful(condition)) break;
    const { attribute = 0, slot = -1 } = condition;
    attributes |= attribute;
    if (slot >= 0) slots.add(slot);
  }
  return { attributes, slots: [...slots] };
}

/** The attribute that an element's pattern looks at. */
export function patternSubject(event: EngineEvent, element: PatternElement): string | undefined {
  switch (element) {
    case 'match':
    case 'regex':
      return event.log;
    case 'program_name':
      return event.programName;
    case 'id':
      return event.id;
    case 'system_name':
      return event.system_name;
    case 'protocol':
      return event.protocol;
    case 'action':
      return event.action;
    case 'url':
      return event.url;
    case 'location':
      return event.location;
    case 'srcport':
      return event.srcport;
    case 'dstport':
      return event.dstport;
    case 'user':
      return event.dstuser ?? event.srcuser;
    case 'srcgeoip':
    case 'dstgeoip':
      // Needs a GeoIP database, which this product has none of (rules-and-alerts.md 6.9).
      return undefined;
    case 'data':
      return event.data;
    case 'extra_data':
      return event.extra_data;
    case 'hostname':
      return event.hostname;
    case 'status':
      return event.status;
  }
}
