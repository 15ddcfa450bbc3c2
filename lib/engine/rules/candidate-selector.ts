import type { EngineEvent } from '../event.js';
import { CandidateList, sizeOf } from './candidate-list.js';
import { type Condition, DecodedAsCondition, FieldCondition, PatternCondition } from './condition.js';
import type { SelectorRun } from './condition-run.js';
import { type CandidateSelector, type CompiledNode, RuleCandidate } from './ruleset.js';
import type { SelectorMemory } from './selector-memory.js';

/** Values kept by one gate. */
const MAX_VALUES = 512;
/** Longer values are not kept: they would hold whole messages in memory, and hardly come again. */
const MAX_VALUE_LENGTH = 128;
/** A gate on values needs this many siblings that look at the value, and this many siblings in all. */
const MIN_GATED = 3;
const MIN_SIBLINGS = 6;

/** Attributes with few distinct values; patterns on them are worth remembering. */
const GATE_ATTRIBUTES: ReadonlySet<string> = new Set([
  'program_name',
  'id',
  'action',
  'status',
  'protocol',
  'system_name',
  'extra_data',
]);

/**
 * Makes the selector of some siblings: a tree of gates on the decoder, on attributes and on fields, each of which
 * remembers which siblings a value lets through. All conditions that gates look at depend on nothing but that value, and
 * stand before the conditions that change state, so the result of evaluation stays exactly that of trying every sibling.
 */
export function makeSelector(children: readonly CompiledNode[], memory: SelectorMemory): CandidateSelector {
  return select(
    children.map((node) => new RuleCandidate(node, node.rule.conditions)),
    memory,
  );
}

function select(candidates: readonly RuleCandidate[], memory: SelectorMemory): CandidateSelector {
  if (candidates.length === 0) return EMPTY;
  const gate = bestGate(candidates);
  if (gate === undefined) return new FixedSelector(new CandidateList(candidates));
  return gate === DECODER ? new DecoderGate(candidates, memory) : new ValueGate(candidates, gate, memory);
}

class FixedSelector implements CandidateSelector {
  readonly #list: CandidateList<RuleCandidate>;

  constructor(list: CandidateList<RuleCandidate>) {
    this.#list = list;
  }

  select(): CandidateList<RuleCandidate> {
    return this.#list;
  }
}

const EMPTY = new FixedSelector(new CandidateList([]));

const DECODER = 'decoder';

/** A gate on a text of the event: an attribute, or the field with a number. */
type ValueKey = { readonly attribute: PatternCondition['element'] } | { readonly slot: number };

/** The gate that concerns most of the candidates; undefined when none is worth it. */
function bestGate(candidates: readonly RuleCandidate[]): typeof DECODER | ValueKey | undefined {
  if (candidates.length < MIN_SIBLINGS) return undefined;
  const counts = new Map<string, { count: number; readonly key: ValueKey }>();
  for (const { conditions } of candidates) {
    const own = new Map<string, ValueKey>();
    for (const condition of conditions) {
      if (condition instanceof DecodedAsCondition) return DECODER;
      const key = keyOf(condition);
      if (key !== undefined) own.set(nameOf(key), key);
    }
    for (const [name, key] of own) {
      const known = counts.get(name);
      if (known === undefined) counts.set(name, { count: 1, key });
      else known.count += 1;
    }
  }
  let best: { readonly count: number; readonly key: ValueKey } | undefined;
  for (const each of counts.values()) if (each.count > (best?.count ?? MIN_GATED - 1)) best = each;
  return best?.key;
}

/** What a condition that a value gate can decide looks at. */
function keyOf(condition: Condition): ValueKey | undefined {
  if (condition instanceof FieldCondition) return { slot: condition.slot };
  if (condition instanceof PatternCondition && GATE_ATTRIBUTES.has(condition.element)) {
    return { attribute: condition.element };
  }
  return undefined;
}

function nameOf(key: ValueKey): string {
  return 'slot' in key ? String(key.slot) : key.attribute;
}

/** Siblings by decoder: the conditions `decoded_as` are decided by it. */
class DecoderGate implements CandidateSelector {
  readonly #candidates: readonly RuleCandidate[];
  readonly #memory: SelectorMemory;
  /** Ids are few: as many as the ruleset has decoders. */
  readonly #byDecoder = new Map<number, CandidateSelector>();
  #generation: number;

  constructor(candidates: readonly RuleCandidate[], memory: SelectorMemory) {
    this.#candidates = candidates;
    this.#memory = memory;
    this.#generation = memory.generation;
  }

  select(event: EngineEvent, run: SelectorRun): CandidateList<RuleCandidate> {
    const id = event.decoder?.id ?? -1;
    if (this.#generation !== this.#memory.generation) this.#forget();
    const selector = this.#byDecoder.get(id) ?? this.#selectorOf(id);
    return selector.select(event, run);
  }

  #forget(): void {
    this.#byDecoder.clear();
    this.#generation = this.#memory.generation;
  }

  #selectorOf(id: number): CandidateSelector {
    const through = without(
      this.#candidates,
      (condition) => condition instanceof DecodedAsCondition,
      (condition) => condition instanceof DecodedAsCondition && condition.decoderId === id && id >= 0,
    );
    this.#memory.add(sizeOf(through));
    const selector = select(through, this.#memory);
    this.#byDecoder.set(id, selector);
    return selector;
  }
}

/**
 * What a gate remembers of a value. The steps that finding out took are charged to every event with the value, so that
 * an event's budget does not depend on what events came before it.
 */
type GateEntry = { readonly selector: CandidateSelector; readonly steps: number };

/** Siblings by one text of the event. */
class ValueGate implements CandidateSelector {
  readonly #candidates: readonly RuleCandidate[];
  readonly #key: ValueKey;
  readonly #name: string;
  readonly #memory: SelectorMemory;
  readonly #byValue = new Map<string, GateEntry>();
  /** For events that have no such text: candidates that do not ask for it. */
  readonly #missing: CandidateSelector;
  /** For values that are not remembered: all candidates, with their conditions as they are. */
  readonly #open: CandidateSelector;
  #generation: number;

  constructor(candidates: readonly RuleCandidate[], key: ValueKey, memory: SelectorMemory) {
    this.#candidates = candidates;
    this.#key = key;
    this.#name = nameOf(key);
    this.#memory = memory;
    this.#generation = memory.generation;
    this.#open = new FixedSelector(new CandidateList(candidates));
    const others = without(
      candidates,
      (condition) => this.#concerns(condition),
      () => false,
    );
    this.#missing = select(others, memory);
  }

  select(event: EngineEvent, run: SelectorRun): CandidateList<RuleCandidate> {
    const key = this.#key;
    const value = 'slot' in key ? run.fields.value(event, key.slot) : gateAttribute(event, key.attribute);
    if (value === undefined) return this.#missing.select(event, run);
    if (value.length > MAX_VALUE_LENGTH) return this.#open.select(event, run);
    if (this.#generation !== this.#memory.generation) {
      this.#byValue.clear();
      this.#generation = this.#memory.generation;
    }
    if (run.isUsedUp) return this.#open.select(event, run);
    const { selector, steps } = this.#byValue.get(value) ?? this.#entryOf(value, run);
    return (run.charge(steps) ? selector : this.#open).select(event, run);
  }

  #entryOf(value: string, run: SelectorRun): GateEntry {
    run.beginGate();
    const through = without(
      this.#candidates,
      (condition) => this.#concerns(condition),
      (condition) =>
        (condition instanceof PatternCondition || condition instanceof FieldCondition) &&
        condition.acceptsValue(value, run),
    );
    const { steps, complete } = run.endGate();
    this.#memory.add(complete ? sizeOf(through) : 0);
    const entry = { selector: complete ? select(through, this.#memory) : this.#open, steps };
    if (this.#byValue.size >= MAX_VALUES) this.#byValue.clear();
    this.#byValue.set(value, entry);
    return entry;
  }

  #concerns(condition: Condition): boolean {
    const key = keyOf(condition);
    return key !== undefined && nameOf(key) === this.#name;
  }
}

/** Candidates whose concerned conditions all hold, without these conditions. */
function without(
  candidates: readonly RuleCandidate[],
  concerned: (condition: Condition) => boolean,
  holds: (condition: Condition) => boolean,
): RuleCandidate[] {
  const result: RuleCandidate[] = [];
  for (const candidate of candidates) {
    if (!candidate.conditions.some(concerned)) {
      result.push(candidate);
    } else if (candidate.conditions.every((condition) => !concerned(condition) || holds(condition))) {
      const conditions = candidate.conditions.filter((condition) => !concerned(condition));
      result.push(new RuleCandidate(candidate.node, conditions));
    }
  }
  return result;
}

function gateAttribute(event: EngineEvent, attribute: PatternCondition['element']): string | undefined {
  switch (attribute) {
    case 'program_name':
      return event.programName;
    case 'id':
      return event.id;
    case 'action':
      return event.action;
    case 'status':
      return event.status;
    case 'protocol':
      return event.protocol;
    case 'system_name':
      return event.system_name;
    case 'extra_data':
      return event.extra_data;
    default:
      throw new Error(`no gate on '${attribute}'`);
  }
}
