/** A condition or option of a rule as the API shows it (rest-api.md 6.5). */
export type Detail = string | { readonly [name: string]: Detail } | readonly Detail[];

/** A rule of the API. */
export type Rule = {
  readonly id: number;
  readonly level: number;
  readonly description: string;
  readonly filename: string;
  readonly relative_dirname: string;
  readonly status: 'enabled' | 'disabled';
  readonly details: Readonly<Record<string, Detail>>;
  readonly groups: readonly string[];
  readonly mitre: readonly string[];
} & Readonly<Record<Requirement, readonly string[]>>;

/** Standards whose numbers rules name, and how people write them. */
export const REQUIREMENTS = {
  pci_dss: 'PCI DSS',
  gdpr: 'GDPR',
  gpg13: 'GPG 13',
  hipaa: 'HIPAA',
  nist_800_53: 'NIST 800-53',
  tsc: 'TSC',
} as const;
export type Requirement = keyof typeof REQUIREMENTS;

/** How a rule names those above it. */
export const PARENT_KINDS = ['if_sid', 'if_matched_sid', 'if_group', 'if_matched_group'] as const;
export type ParentKind = (typeof PARENT_KINDS)[number];
type Details = Rule['details'];

/** Details that are shown in another place than among the conditions. */
const NO_CONDITIONS = new Set<string>([
  ...PARENT_KINDS,
  'description',
  'group',
  'mitre',
  'options',
  'info',
  'overwrite',
]);

/** A detail in a line. */
export function detailText(detail: Detail): string {
  if (typeof detail === 'string') return detail;
  if (isList(detail)) return detail.map(detailText).join(', ');
  const { pattern, ...attributes } = detail;
  const said = Object.entries(attributes).map(([name, value]) => `${name}: ${detailText(value)}`);
  return [...(pattern === undefined ? [] : [detailText(pattern)]), ...said].join(', ');
}

function isList(detail: Detail): detail is readonly Detail[] {
  return Array.isArray(detail);
}

/** What the event must be like, name by name. */
export function conditionsOf(details: Details): [string, string][] {
  return Object.entries(details)
    .filter(([name]) => !NO_CONDITIONS.has(name))
    .map(([name, detail]) => [name, detailText(detail)]);
}

/** Words of a detail: ids or groups, which may stand in one element or several. */
export function wordsOf(details: Details, name: string): string[] {
  const detail = details[name];
  return detail === undefined
    ? []
    : detailText(detail)
        .split(/[\s,|]+/)
        .filter((word) => word !== '');
}

/** Rules and groups above a rule. */
export function parentsOf({ details }: Pick<Rule, 'details'>): { kind: ParentKind; name: string }[] {
  return PARENT_KINDS.flatMap((kind) => wordsOf(details, kind).map((name) => ({ kind, name })));
}

/** A query for the rules that may name this one, or one of its groups: the server compares texts, not words. */
export function childrenQuery({ id, groups }: Pick<Rule, 'id' | 'groups'>): string {
  const safe = groups.filter((group) => /^[\w.-]+$/.test(group));
  const sids = ['if_sid', 'if_matched_sid'].map((name) => `details.${name}~${String(id)}`);
  const named = safe.flatMap((group) => [`details.if_group~${group}`, `details.if_matched_group~${group}`]);
  return [...sids, ...named].join(',');
}

/** How a rule is below another; undefined when it is not. */
export function childOf(rule: Pick<Rule, 'id' | 'groups'>, other: Pick<Rule, 'details'>): 'sid' | 'group' | undefined {
  const names = (kind: ParentKind, wanted: (word: string) => boolean) => wordsOf(other.details, kind).some(wanted);
  const isId = (word: string) => Number(word) === rule.id;
  if (names('if_sid', isId) || names('if_matched_sid', isId)) return 'sid';
  const isGroup = (word: string) => rule.groups.includes(word);
  return names('if_group', isGroup) || names('if_matched_group', isGroup) ? 'group' : undefined;
}

/** Where a file is, below the installation. */
export function pathOf({ relative_dirname: folder, filename }: { relative_dirname: string; filename: string }): string {
  return `${folder}/${filename}`;
}
