import { type Requirement, REQUIREMENTS, type RuleItem } from '../../lib/engine/listing/rule-item.js';
import { type FileFilter, filterFiles } from './filter-files.js';

/** Levels from `min` to `max`, both included. */
export type LevelRange = { readonly min: number; readonly max: number };

/** Filters of `GET /rules` (rules-and-alerts.md 10.3); what is absent does not filter, all others must hold. */
export type RuleFilter = FileFilter & {
  readonly rule_ids?: readonly number[];
  readonly group?: string;
  readonly level?: LevelRange;
  /** Exact members of the requirement's array. */
  readonly requirements?: Readonly<Partial<Record<Requirement, string>>>;
};

/** Rules that meet every condition of the filter, in the order given. */
export function filterRules(rules: readonly RuleItem[], filter: RuleFilter): RuleItem[] {
  const { group, level, requirements } = filter;
  const ids = filter.rule_ids === undefined ? undefined : new Set(filter.rule_ids);
  const wanted = REQUIREMENTS.filter((name) => requirements?.[name] !== undefined);
  return filterFiles(rules, filter).filter(
    (rule) =>
      (ids === undefined || ids.has(rule.id)) &&
      (group === undefined || rule.groups.includes(group)) &&
      (level === undefined || (rule.level >= level.min && rule.level <= level.max)) &&
      wanted.every((name) => rule[name].includes(requirements?.[name] ?? '')),
  );
}

/** `N` or `A-B`; undefined for everything else (error 1203 of the API). */
export function parseLevelRange(text: string): LevelRange | undefined {
  const match = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(text);
  if (match === null) {
    return undefined;
  }
  const min = Number(match[1]);
  return { min, max: match[2] === undefined ? min : Number(match[2]) };
}

/** Requested ids that no rule has, each once, in the order asked for (failed items 1208). */
export function unknownRuleIds(rules: readonly RuleItem[], ruleIds: readonly number[]): number[] {
  const known = new Set(rules.map(({ id }) => id));
  return [...new Set(ruleIds)].filter((id) => !known.has(id));
}

/** Every group of the rules, each once, sorted (`GET /rules/groups`). */
export function ruleGroups(rules: readonly RuleItem[]): string[] {
  return [...new Set(rules.flatMap(({ groups }) => groups))].sort();
}

/** Every value of a requirement, each once, sorted (`GET /rules/requirement/{requirement}`). */
export function ruleRequirementValues(rules: readonly RuleItem[], requirement: Requirement): string[] {
  return [...new Set(rules.flatMap((rule) => rule[requirement]))].sort();
}

/** A requirement as parameters and paths of the API name it. */
export type RequirementName = Exclude<Requirement, 'nist_800_53'> | 'nist-800-53';

/** The requirement that a name stands for. */
export function requirementOf(name: RequirementName): Requirement {
  return name === 'nist-800-53' ? 'nist_800_53' : name;
}
