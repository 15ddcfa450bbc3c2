import { asciiLowerCase } from '../ascii-case.js';
import { CompositeCondition } from '../correlate/composite-condition.js';
import type { CorrelationIndex, CorrelationListSpec } from '../correlate/correlation-list.js';
import type { FieldTable } from '../decode/field-table.js';
import type { Category, Diagnostics } from '../event.js';
import { CandidateList } from '../rules/candidate-list.js';
import { type CompiledNode, type CompiledRoot, CompiledRule, RuleCandidate, type Ruleset } from '../rules/ruleset.js';
import { SelectorMemory } from '../rules/selector-memory.js';
import { CORRELATION_ATTRIBUTES, type CorrelationAttribute, type Rule } from './rule.js';
import type { LoadedRule, RuleNode, RuleTree } from './rule-tree.js';

/** Most events one search looks at in a list; the reference remembers `memory_size` events of all rules together. */
const MAX_SEARCH_STEPS = 65_536;

/**
 * Places in lists that an event may take: one for each rule that counts events of its rule's groups, once more for each place of the rule
 * in the tree (13.1, Q5). Each takes a microsecond for every event.
 */
const MAX_PLACES = 1000;

/** Of the nodes at the ends of the tree, which most are. */
const NO_CHILDREN: readonly CompiledNode[] = [];

type ListDraft = { readonly key: string; retention: number; readonly indexes: CorrelationIndex[] };

/**
 * Lays out the compiled form of a loaded tree: the lists that its composites search, with one index for each set of
 * `same_*` conditions, and the nodes.
 *
 * @param fields numbers of the fields that the rules' conditions look at
 * @param memorySize most remembered events a search over all events looks at (`<global><memory_size>`)
 */
export function buildRuleset(
  tree: RuleTree,
  fields: FieldTable,
  memorySize: number,
  diagnostics: Diagnostics,
): Ruleset {
  return new RulesetBuilder(tree, fields, memorySize, diagnostics).build();
}

class RulesetBuilder {
  readonly #tree: RuleTree;
  readonly #fieldTable: FieldTable;
  readonly #memorySize: number;
  readonly #diagnostics: Diagnostics;
  readonly #lists: ListDraft[] = [];
  readonly #positions = new Map<string, number>();
  readonly #fields: string[] = [];
  readonly #compiled = new Map<LoadedRule, CompiledRule>();
  #nodeCount = 0;

  constructor(tree: RuleTree, fields: FieldTable, memorySize: number, diagnostics: Diagnostics) {
    this.#tree = tree;
    this.#fieldTable = fields;
    this.#memorySize = memorySize;
    this.#diagnostics = diagnostics;
  }

  build(): Ruleset {
    const loaded = [...this.#tree.rules()];
    const searches = new Map<LoadedRule, CompositeCondition>();
    for (const each of loaded) {
      const condition = this.#search(each);
      if (condition !== undefined) searches.set(each, condition);
    }
    // The lists are complete only now, and with them what each rule remembers.
    const rules = loaded.map((each, ordinal) => {
      const search = searches.get(each);
      const conditions = search === undefined ? each.conditions : [...each.conditions, search];
      const rule = new CompiledRule(ordinal, each.rule, conditions, this.#remembersIn(each), each.search !== undefined);
      this.#compiled.set(each, rule);
      return rule;
    });
    const roots = this.#tree.roots.map((root): CompiledRoot => ({
      ...this.#node(root),
      category: root.loaded.category,
    }));
    return {
      roots,
      rules,
      byId: new Map(rules.map((rule) => [rule.rule.id, rule])),
      lists: this.#lists satisfies readonly CorrelationListSpec[],
      correlationFields: this.#fields,
      fields: this.#fieldTable,
      selectorMemory: new SelectorMemory(),
      candidates: candidatesByCategory(roots),
      nodeCount: this.#nodeCount,
    };
  }

  #node(node: RuleNode): CompiledNode {
    this.#nodeCount += 1;
    const rule = this.#compiled.get(node.loaded);
    if (rule === undefined) throw new Error(`rule ${String(node.loaded.rule.id)} is in the tree but not loaded`);
    const children = node.children.length === 0 ? NO_CHILDREN : node.children.map((child) => this.#node(child));
    return { rule, children, selector: undefined };
  }

  /** The search of a composite; overwriting may have taken it away or left none (rules-and-alerts.md 3.4). */
  #search(loaded: LoadedRule): CompositeCondition | undefined {
    const { rule, search } = loaded;
    if (!rule.composite || search === undefined) return undefined;
    const recent = search.kind === 'recent';
    const different = positionsOf(rule.different);
    const differentFields = rule.differentFields.map((name) => this.#field(name));
    const skips = different.length + differentFields.length > 0 || (recent && loaded.matchedRegex !== undefined);
    const index: CorrelationIndex = {
      byAgent: !rule.globalFrequency,
      byCategory: recent,
      attributes: positionsOf(rule.same),
      fields: [...new Set(rule.sameFields.map((name) => this.#field(name)))].sort((a, b) => a - b),
      depth: skips ? Infinity : rule.frequency + 1,
    };
    const list = this.#listOf(loaded);
    const draft = this.#lists[list];
    if (draft !== undefined) draft.retention = Math.max(draft.retention, rule.timeframe);
    return new CompositeCondition({
      list,
      index: draft === undefined ? -1 : addIndex(draft, index),
      recent,
      frequency: rule.frequency,
      timeframe: rule.timeframe,
      level: rule.level,
      sameFields: rule.sameFields.length > 0,
      different,
      differentFields,
      regex: recent ? loaded.matchedRegex : undefined,
      maxSteps: recent ? this.#memorySize : MAX_SEARCH_STEPS,
    });
  }

  /** Position of the list that the composite searches; -1 when it names a rule that was not loaded. */
  #listOf(composite: LoadedRule): number {
    const { search } = composite;
    switch (search?.kind) {
      case 'sid':
        return search.target === undefined ? -1 : this.#list(sidKey(search.target));
      case 'group':
        return this.#list(groupKey(composite));
      case 'recent':
        return this.#list(RECENT);
      case undefined:
        return -1;
    }
  }

  #list(key: string): number {
    let position = this.#positions.get(key);
    if (position === undefined) {
      position = this.#lists.length;
      this.#lists.push({ key, retention: 0, indexes: [] });
      this.#positions.set(key, position);
    }
    return position;
  }

  #remembersIn(loaded: LoadedRule): number[] {
    // A rule with a list of its own feeds no group list, even if nothing searches its list any more (13.1, Q6).
    const own = loaded.hasSidList ? (this.#positions.get(sidKey(loaded)) ?? []) : this.#groupLists(loaded);
    return [own, this.#positions.get(RECENT) ?? []].flat();
  }

  /** The lists of composites that count the rule's events by its groups, each as often as an event counts. */
  #groupLists(loaded: LoadedRule): number[] {
    const lists = loaded.feeds.flatMap(({ composite, times }) => {
      const position = this.#positions.get(groupKey(composite));
      // A search ends at one more than it counts: what counts more often counts the same.
      return position === undefined ? [] : [{ position, times: Math.min(times, composite.rule.frequency + 1) }];
    });
    const places = lists.reduce((sum, { times }) => sum + times, 0);
    if (places > MAX_PLACES) this.#warnOfPlaces(loaded.rule, places);
    const most = places > MAX_PLACES ? Math.max(1, Math.floor(MAX_PLACES / lists.length)) : places;
    return lists
      .slice(0, MAX_PLACES)
      .flatMap(({ position, times }) => new Array<number>(Math.min(times, most)).fill(position));
  }

  #warnOfPlaces({ id, file, line }: Rule, places: number): void {
    this.#diagnostics.warn(
      `Rules that count the groups of rule '${String(id)}' would count each of its events ${String(places)} times together, ` +
        `as it is in several places of the tree or they are many; ${String(MAX_PLACES)} is the limit. ` +
        'Some of them count it less often, or not at all.',
      { file, line, ruleId: id },
    );
  }

  #field(name: string): number {
    const key = asciiLowerCase(name);
    const known = this.#fields.indexOf(key);
    return known >= 0 ? known : this.#fields.push(key) - 1;
  }
}

function candidatesByCategory(roots: readonly CompiledRoot[]): Map<Category, CandidateList<RuleCandidate>> {
  const result = new Map<Category, RuleCandidate[]>();
  for (const root of roots) {
    const list = result.get(root.category) ?? [];
    list.push(new RuleCandidate(root, root.rule.conditions));
    result.set(root.category, list);
  }
  return new Map([...result].map(([category, list]) => [category, new CandidateList(list)]));
}

const RECENT = 'recent';

function sidKey({ rule }: LoadedRule): string {
  return `sid:${String(rule.id)}`;
}

function groupKey({ rule }: LoadedRule): string {
  return `group:${String(rule.id)}`;
}

/** Position of an equal index, or of the new one; the deeper need counts for both. */
function addIndex(draft: ListDraft, index: CorrelationIndex): number {
  const at = draft.indexes.findIndex(
    (other) =>
      other.byAgent === index.byAgent &&
      other.byCategory === index.byCategory &&
      other.attributes.join() === index.attributes.join() &&
      other.fields.join() === index.fields.join(),
  );
  const known = draft.indexes[at];
  if (known === undefined) return draft.indexes.push(index) - 1;
  draft.indexes[at] = { ...known, depth: Math.max(known.depth, index.depth) };
  return at;
}

function positionsOf(attributes: ReadonlySet<CorrelationAttribute>): number[] {
  return CORRELATION_ATTRIBUTES.flatMap((attribute, position) => (attributes.has(attribute) ? [position] : []));
}
