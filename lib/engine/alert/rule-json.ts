import { flatBytes } from '../byte-string.js';
import { jsonString, jsonStrings } from '../json-text.js';
import type { MitreTable } from '../load/mitre-table.js';
import type { CompiledRule } from '../rules/ruleset.js';

/** Group strings are read up to this byte (rules-and-alerts.md 7.2). */
const MAX_GROUPS = 1023;

/** Prefix of a group to the array that takes it. */
const COMPLIANCE = ['pci_dss', 'cis', 'gdpr', 'gpg13', 'hipaa', 'nist_800_53', 'tsc'] as const;

export type RuleList = { readonly name: string; readonly values: readonly string[] };

/** What stays the same in the `rule` member of all alerts of one rule (rules-and-alerts.md 7.2), as JSON text. */
export class RuleJson {
  /** The description when it is the same for all events, as most are: the text that their alerts have. */
  readonly plainDescription: string;
  /** `head`, that description and `middle`. */
  readonly opening: string;
  /** `{"level":5,"description":`, or without the level when it is 0. */
  readonly head: string;
  /** `,"id":"..."` with `mitre`, `cve`, `info` and `frequency` where the rule has them. */
  readonly middle: string;
  /** `,"mail":false,"groups":[...]` with the compliance arrays, and the closing brace. */
  readonly tail: string;
  /** The arrays of `tail`, `groups` first, for events that add to them. */
  readonly lists: readonly RuleList[];
  /** Whether the rule is about rootcheck texts, which may carry marks for further arrays. */
  readonly isRootcheck: boolean;
  /** What the ATT&CK table did not know. */
  readonly mitreWarnings: readonly string[];
  readonly #mail: string;

  constructor(compiled: CompiledRule, mitre: MitreTable) {
    const { rule } = compiled;
    const described = mitre.describe(rule.mitre);
    this.head = rule.level > 0 ? `{"level":${String(rule.level)},"description":` : '{"description":';
    let middle = `,"id":"${String(rule.id)}"`;
    if (described.json !== undefined) middle += `,"mitre":${described.json}`;
    if (rule.cve !== undefined) middle += `,"cve":${jsonString(rule.cve)}`;
    if (rule.info !== undefined) middle += `,"info":${jsonString(rule.info)}`;
    if (compiled.hasSearch) middle += `,"frequency":${String(rule.frequency + 2)}`;
    this.middle = middle;
    this.plainDescription = compiled.description.source;
    this.opening = flatBytes(this.head + jsonString(this.plainDescription) + middle);
    this.lists = splitGroups(rule.groups);
    this.#mail = `,"mail":${String(rule.mail)}`;
    this.tail = flatBytes(`${this.tailWith(this.lists)}}`);
    this.isRootcheck = this.lists[0]?.values.includes('rootcheck') === true;
    this.mitreWarnings = described.warnings;
  }

  /** `mail` and these arrays, without the closing brace. */
  tailWith(lists: readonly RuleList[]): string {
    let json = this.#mail;
    for (const { name, values } of lists) json += `,${jsonString(name)}:${jsonStrings(values)}`;
    return json;
  }
}

/** `groups` and the compliance arrays in the order in which they first appear. */
export function splitGroups(groups: string): RuleList[] {
  const plain: string[] = [];
  const lists: { name: string; values: string[] }[] = [{ name: 'groups', values: plain }];
  for (const group of groups.slice(0, MAX_GROUPS).split(',')) {
    if (group === '') continue;
    const name = COMPLIANCE.find((prefix) => group.startsWith(`${prefix}_`));
    if (name === undefined) {
      plain.push(group);
      continue;
    }
    let list = lists.find((each) => each.name === name);
    if (list === undefined) lists.push((list = { name, values: [] }));
    list.values.push(group.slice(name.length + 1));
  }
  return lists;
}
