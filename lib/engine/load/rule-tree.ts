import type { MatchContext, Matcher } from '../../patterns/matcher.js';
import { asciiLowerCase } from '../ascii-case.js';
import type { Category, Diagnostics, SourcePlace } from '../event.js';
import type { Condition } from '../rules/condition.js';
import { compileGroupWords } from '../rules/group-word-match.js';
import { failLoad } from './fail-load.js';
import { GroupIndex } from './group-index.js';
import type { Rule } from './rule.js';

/** Where a composite rule looks for earlier events (rules-and-alerts.md 3.5). */
export type SearchKind =
  | { readonly kind: 'sid'; readonly target: LoadedRule | undefined }
  | { readonly kind: 'group' }
  | { readonly kind: 'recent' };

/** A rule in the tree. Its data changes when a later rule overwrites it; its nodes and its marks stay (3.4, 3.5). */
export class LoadedRule {
  rule: Rule;
  conditions: readonly Condition[];
  /** Compiled `if_matched_regex`. */
  matchedRegex: Matcher | undefined;
  /** Sort key among siblings: level times 100, level 0 highest, low accuracy last (3.3). */
  sortKey: number;
  category: Category;
  /** Its place in the order of loading; -1 before it is in the tree. */
  order = -1;
  readonly nodes: RuleNode[] = [];
  search: SearchKind | undefined = undefined;
  /** Some `if_matched_sid` names this rule, so its events go to its own list and to no group list (4.1, Q6). */
  hasSidList = false;
  /** Composites whose group list this rule feeds, each event once for each of its nodes at the time (Q5). */
  readonly feeds: { readonly composite: LoadedRule; readonly times: number }[] = [];

  constructor(rule: Rule, conditions: readonly Condition[], matchedRegex: Matcher | undefined) {
    this.rule = rule;
    this.conditions = conditions;
    this.matchedRegex = matchedRegex;
    this.sortKey = sortKey(rule);
    this.category = rule.category;
  }
}

/** One place of a rule in the tree. */
export class RuleNode {
  readonly loaded: LoadedRule;
  readonly parent: RuleNode | undefined;
  readonly children: RuleNode[] = [];

  constructor(loaded: LoadedRule, parent: RuleNode | undefined) {
    this.loaded = loaded;
    this.parent = parent;
  }
}

/** Which group strings a compiled `if_matched_group` is about. */
type GroupTest = { readonly key: string; readonly test: (groups: string) => boolean };

/** Ids below are category roots (rules-and-alerts.md 2.1). */
const FIRST_CHILD_ID = 10;
/**
 * Most places of rules in the tree: each event may try them all. A ruleset of thousands of rules has as many; rules below
 * groups that they are in themselves double with each of them.
 */
const MAX_NODES = 100_000;

/** The tree while rules are being loaded: attaching, overwriting, marking (rules-and-alerts.md 3). */
export class RuleTree {
  readonly roots: RuleNode[] = [];
  #nodes = 0;
  readonly #byId = new Map<number, LoadedRule>();
  readonly #groups = new GroupIndex<LoadedRule>();
  readonly #diagnostics: Diagnostics;

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  /** Every loaded rule in load order. */
  rules(): Iterable<LoadedRule> {
    return this.#byId.values();
  }

  find(id: number): LoadedRule | undefined {
    return this.#byId.get(id);
  }

  /** What a further rule with this id is: an addition, the replacement of one, or a duplicate to be dropped. */
  intentOf(rule: Rule): 'add' | 'overwrite' | 'duplicate' {
    const exists = this.#byId.has(rule.id);
    const place = placeOf(rule);
    if (rule.overwrite && rule.id >= FIRST_CHILD_ID) {
      if (exists) return 'overwrite';
      this.#diagnostics.warn(
        `(7613): Rule ID '${String(rule.id)}' does not exist but 'overwrite' is set to 'yes'. Still, the rule will be loaded.`,
        place,
      );
      return 'add';
    }
    if (!exists) return 'add';
    this.#diagnostics.warn(
      `(7612): Rule ID '${String(rule.id)}' is duplicated. Only the first occurrence will be considered.`,
      place,
    );
    return 'duplicate';
  }

  /**
   * Attaches a rule to the tree and marks what it correlates with.
   * @param groupTest compiled `if_matched_group`
   * @returns false when it has no place and is dropped; why was reported
   * @throws RulesetError when the tree has more places than an event may try
   */
  add(loaded: LoadedRule, groupTest: GroupTest | undefined): boolean {
    const { rule } = loaded;
    if (rule.id < FIRST_CHILD_ID) this.#insert(loaded, undefined);
    else if (!this.#attach(loaded)) return false;
    loaded.order = this.#byId.size;
    this.#byId.set(rule.id, loaded);
    this.#groups.add(rule.groups, loaded);
    this.#mark(loaded, groupTest);
    return true;
  }

  /** Replaces the data of an existing rule; place, children, search and fired counter stay (3.4). */
  overwrite(rule: Rule, conditions: readonly Condition[], matchedRegex: Matcher | undefined): void {
    const loaded = this.#byId.get(rule.id);
    if (loaded === undefined) return;
    const before = loaded.rule;
    const retain = (element: string): void => {
      this.#diagnostics.warn(
        `(7605): It is not possible to overwrite '${element}' value in rule '${String(rule.id)}'. The original value is retained.`,
        placeOf(rule),
      );
    };
    if (rule.ifSid !== undefined && rule.ifSid !== before.ifSid && rule.ifMatchedSid === undefined) retain('if_sid');
    // The reference no longer knows the original text, so it warns every time (13.1, Q4).
    if (rule.ifGroup !== undefined && rule.ifMatchedGroup === undefined) retain('if_group');
    if (rule.ifLevel !== undefined && rule.ifLevel !== before.ifLevel) retain('if_level');
    if (rule.ifMatchedGroup !== undefined && rule.ifMatchedGroup !== before.ifMatchedGroup) retain('if_matched_group');
    if (rule.ifMatchedSid !== undefined && rule.ifMatchedSid !== before.ifMatchedSid) retain('if_matched_sid');
    loaded.rule = {
      ...rule,
      ifSid: before.ifSid,
      ifGroup: before.ifGroup,
      ifLevel: before.ifLevel,
      ifMatchedSid: before.ifMatchedSid,
      ifMatchedGroup: before.ifMatchedGroup,
    };
    loaded.conditions = conditions;
    loaded.matchedRegex = matchedRegex;
    loaded.sortKey = sortKey(rule);
    loaded.category = rule.category;
    this.#groups.remove(before.groups, loaded);
    this.#groups.add(rule.groups, loaded);
  }

  /** First applicable line of rules-and-alerts.md 3.2. */
  #attach(loaded: LoadedRule): boolean {
    const { rule } = loaded;
    if (rule.ifSid !== undefined) return this.#attachToIds(loaded, rule.ifSid);
    const id = String(rule.id);
    if (rule.ifLevel !== undefined) {
      const key = rule.ifLevel * 100;
      const parents = [...this.#byId.values()].filter((parent) => parent.sortKey >= key);
      if (this.#attachToAll(loaded, parents)) return true;
      return this.#drop(
        rule,
        `(7608): Level ID '${String(key)}' was not found. Invalid 'if_level'. Rule '${id}' will be ignored.`,
      );
    }
    const group = rule.ifGroup;
    if (group !== undefined) {
      const parents = this.#groups.find(`if_group ${group}`, () => {
        const matches = compileGroupWords(group);
        return (groups) => matches(asciiLowerCase(groups));
      });
      if (this.#attachToAll(loaded, parents.sort(byOrder))) return true;
      return this.#drop(
        rule,
        `(7610): Group '${group}' was not found. Invalid 'if_group'. Rule '${id}' will be ignored.`,
      );
    }
    if (this.#attachToCategory(loaded)) return true;
    return this.#drop(rule, `(7611): Category was not found. Invalid 'category'. Rule '${id}' will be ignored.`);
  }

  #attachToIds(loaded: LoadedRule, ifSid: string): boolean {
    const { rule } = loaded;
    const id = String(rule.id);
    let found = false;
    for (const word of ifSid.split(/[, ]+/)) {
      // what a separator at the start gives
      if (word === '') continue;
      const parent = this.#byId.get(Number(word));
      if (parent === undefined) {
        if (rule.ifMatchedSid !== undefined) {
          this.#detach(loaded);
          return this.#drop(
            rule,
            `(7620): Signature ID '${word}' was not found. Invalid 'if_matched_sid'.Rule '${id}' will be ignored.`,
          );
        }
        this.#diagnostics.warn(
          `(7617): Signature ID '${word}' was not found and will be ignored in the 'if_sid' option of rule '${id}'.`,
          placeOf(rule),
        );
        continue;
      }
      found = true;
      loaded.category = parent.category;
      for (const node of [...parent.nodes]) this.#insert(loaded, node);
    }
    if (/[, ]$/.test(ifSid) && this.#attachToCategory(loaded)) {
      // Kept because rulesets behave so in the reference (13.1, Q3); hardly ever what the author wants.
      this.#diagnostics.warn(
        `The list of 'if_sid' in rule '${id}' ends with a separator: the rule is also tried for every event of its category.`,
        placeOf(rule),
      );
      found = true;
    }
    return found || this.#drop(rule, `(7619): Empty 'if_sid' value. Rule '${id}' will be ignored.`);
  }

  #attachToAll(loaded: LoadedRule, parents: readonly LoadedRule[]): boolean {
    // The rule itself is not in the index yet, so it never becomes a child of itself.
    const places = parents.flatMap(({ nodes }) => nodes);
    if (this.#nodes + places.length > MAX_NODES) {
      const text = `The tree of rules has more than ${String(MAX_NODES)} places with rule '${String(loaded.rule.id)}'.`;
      failLoad(this.#diagnostics, placeOf(loaded.rule), text);
    }
    for (const node of places) this.#insert(loaded, node);
    return places.length > 0;
  }

  #attachToCategory(loaded: LoadedRule): boolean {
    const root = this.roots.find((node) => node.loaded.category === loaded.category);
    if (root === undefined) return false;
    this.#insert(loaded, root);
    return true;
  }

  /** Before the first sibling with a strictly smaller key; equal keys keep load order (3.3). */
  #insert(loaded: LoadedRule, parent: RuleNode | undefined): void {
    const node = new RuleNode(loaded, parent);
    this.#nodes += 1;
    loaded.nodes.push(node);
    const siblings = parent === undefined ? this.roots : parent.children;
    const at = siblings.findIndex((sibling) => sibling.loaded.sortKey < loaded.sortKey);
    if (at < 0) siblings.push(node);
    else siblings.splice(at, 0, node);
  }

  #detach(loaded: LoadedRule): void {
    for (const node of loaded.nodes) {
      const siblings = node.parent === undefined ? this.roots : node.parent.children;
      siblings.splice(siblings.indexOf(node), 1);
    }
    this.#nodes -= loaded.nodes.length;
    loaded.nodes.length = 0;
  }

  #drop(rule: Rule, text: string): false {
    this.#diagnostics.warn(text, placeOf(rule));
    return false;
  }

  /** Marks for correlation, made right after a rule is attached (3.5). */
  #mark(loaded: LoadedRule, groupTest: GroupTest | undefined): void {
    const { rule } = loaded;
    if (rule.ifMatchedSid !== undefined) {
      const target = this.#byId.get(rule.ifMatchedSid);
      if (target !== undefined) target.hasSidList = true;
      loaded.search = { kind: 'sid', target };
    } else if (groupTest !== undefined) {
      loaded.search = { kind: 'group' };
      for (const other of this.#groups.find(groupTest.key, () => groupTest.test)) {
        if (other.nodes.length > 0) other.feeds.push({ composite: loaded, times: other.nodes.length });
      }
    } else if (rule.composite) {
      loaded.search = { kind: 'recent' };
    }
  }
}

function byOrder(a: LoadedRule, b: LoadedRule): number {
  return a.order - b.order;
}

/** A test of a rule's group string with a compiled `if_matched_group`. */
export function groupTester(matcher: Matcher, context: MatchContext): GroupTest {
  const { language, source } = matcher;
  return { key: `${language} ${source}`, test: (groups) => matcher.test(groups, context) };
}

function sortKey({ level, lowAccuracy }: Rule): number {
  const counted = level === 0 ? 99 : level;
  return lowAccuracy ? counted : counted * 100;
}

function placeOf(rule: Rule): SourcePlace {
  return { file: rule.file, line: rule.line, ruleId: rule.id };
}
