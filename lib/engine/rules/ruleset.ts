import type { AskedTexts } from '../asked-text.js';
import type { CorrelationListSpec } from '../correlate/correlation-list.js';
import type { FieldTable } from '../decode/field-table.js';
import type { Category, EngineEvent } from '../event.js';
import type { Rule } from '../load/rule.js';
import type { CandidateList } from './candidate-list.js';
import { askedBy, type Condition } from './condition.js';
import type { SelectorRun } from './condition-run.js';
import { DescriptionTemplate } from './description-template.js';
import type { SelectorMemory } from './selector-memory.js';

/** A rule in its compiled form, shared by all its nodes. Immutable: what changes while events come is in EngineState. */
export class CompiledRule {
  /** Position among the rules of the ruleset. */
  readonly ordinal: number;
  readonly rule: Rule;
  /** In the order in which they are tried; the search for earlier events comes last. */
  readonly conditions: readonly Condition[];
  /** The texts that its conditions ask for: it is tried with events that have them all. */
  readonly asks: AskedTexts;
  readonly description: DescriptionTemplate;
  /** Positions of the lists that remember events of which this is the final rule; a list may be named repeatedly. */
  readonly remembersIn: readonly number[];
  /** Whether the alert shows `frequency`. */
  readonly hasSearch: boolean;

  constructor(
    ordinal: number,
    rule: Rule,
    conditions: readonly Condition[],
    remembersIn: readonly number[],
    hasSearch: boolean,
  ) {
    this.ordinal = ordinal;
    this.rule = rule;
    this.conditions = conditions;
    this.asks = askedBy(conditions);
    this.description = new DescriptionTemplate(rule.description);
    this.remembersIn = remembersIn;
    this.hasSearch = hasSearch;
  }

  /** Trace line of an attempt (rules-and-alerts.md 4.3). */
  get attemptLine(): string {
    const { id, description } = this.rule;
    return `Trying rule: ${String(id)} - ${description}`.slice(0, MAX_TRACE);
  }
}

/** Trace lines are cut at this many bytes. */
const MAX_TRACE = 1055;

/** One place of a rule in the tree. */
export type CompiledNode = {
  readonly rule: CompiledRule;
  /** In the order in which they are tried (rules-and-alerts.md 3.3). */
  readonly children: readonly CompiledNode[];
  /** Looks up which children an event can match; made when the node is first matched. */
  selector: CandidateSelector | undefined;
};

/**
 * A node that an event may match, with the conditions that are still open: those that every event which gets here
 * satisfies are left out. What evaluation asks of rule and node stands here, too: they lie anywhere in memory.
 */
export class RuleCandidate {
  readonly node: CompiledNode;
  readonly conditions: readonly Condition[];
  readonly rule: CompiledRule;
  readonly asks: AskedTexts;
  readonly hasChildren: boolean;
  /** What the event has matched when everything here holds and nothing below does. */
  readonly result: CompiledRule | undefined;

  constructor(node: CompiledNode, conditions: readonly Condition[]) {
    const { rule } = node;
    this.node = node;
    this.conditions = conditions;
    this.rule = rule;
    this.asks = rule.asks;
    this.hasChildren = node.children.length > 0;
    this.result = rule.rule.noalert ? undefined : rule;
  }
}

/** Gives the candidates among siblings for an event, in their order. */
export interface CandidateSelector {
  select(event: EngineEvent, run: SelectorRun): CandidateList<RuleCandidate>;
}

/** A top-level node with the category it stands for. */
export type CompiledRoot = CompiledNode & { readonly category: Category };

/** Rules ready to be evaluated, with the layout of the lists that their composites search. Shared by many states. */
export type Ruleset = {
  readonly roots: readonly CompiledRoot[];
  /** In load order; `CompiledRule.ordinal` is the position. */
  readonly rules: readonly CompiledRule[];
  readonly byId: ReadonlyMap<number, CompiledRule>;
  readonly lists: readonly CorrelationListSpec[];
  /** Lower-case names of the dynamic fields that composites compare. */
  readonly correlationFields: readonly string[];
  /** Numbers of the dynamic fields that conditions look at. */
  readonly fields: FieldTable;
  /** What the selectors of the nodes share. */
  readonly selectorMemory: SelectorMemory;
  /** What events of each category try, in order. */
  readonly candidates: ReadonlyMap<Category, CandidateList<RuleCandidate>>;
  /** Number of nodes: `Total rules enabled`. */
  readonly nodeCount: number;
};
