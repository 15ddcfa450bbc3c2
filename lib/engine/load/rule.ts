import type { PatternLanguage } from '../../patterns/matcher.js';
import type { Category } from '../event.js';

/** Elements whose text is one pattern tested against one attribute of the event (rules-and-alerts.md 2.2). */
export const PATTERN_ELEMENTS = [
  'program_name',
  'id',
  'system_name',
  'protocol',
  'match',
  'regex',
  'action',
  'url',
  'location',
  'srcport',
  'dstport',
  'user',
  'srcgeoip',
  'dstgeoip',
  'data',
  'extra_data',
  'hostname',
  'status',
] as const;
export type PatternElement = (typeof PATTERN_ELEMENTS)[number];

/** A pattern as written; `exact` is the plain string comparison of `action` (rules-and-alerts.md 2.2). */
export type PatternSpec = {
  readonly language: PatternLanguage | 'exact';
  readonly source: string;
  readonly negate: boolean;
};

export type FieldSpec = { readonly name: string; readonly pattern: PatternSpec };

/** An OR-list of addresses and networks; `negate` of the last element applies to all of it. */
export type AddressSpec = { readonly sources: readonly string[]; readonly negate: boolean };

export const LIST_LOOKUPS = [
  'match_key',
  'not_match_key',
  'match_key_value',
  'address_match_key',
  'not_address_match_key',
  'address_match_key_value',
] as const;
export type ListLookup = (typeof LIST_LOOKUPS)[number];

/** Attributes that `<list field="...">` reaches by name; any other word is a dynamic field (rules-and-alerts.md 6.1). */
export const LIST_ATTRIBUTES = [
  'srcip',
  'srcport',
  'dstip',
  'dstport',
  'user',
  'url',
  'id',
  'hostname',
  'program_name',
  'status',
  'action',
  'protocol',
  'system_name',
  'data',
  'extra_data',
] as const;
export type ListAttribute = (typeof LIST_ATTRIBUTES)[number];

export type ListSpec = {
  /** Path as the rule writes it. */
  readonly path: string;
  readonly attribute: ListAttribute | undefined;
  /** Name of the dynamic field when `attribute` is undefined. */
  readonly fieldName: string;
  readonly lookup: ListLookup;
  /** OS_Match expression on the value, for the `*_value` lookups. */
  readonly checkValue: string | undefined;
};

/** Attributes that `same_*` and `different_*` compare (rules-and-alerts.md 2.4). */
export const CORRELATION_ATTRIBUTES = [
  'id',
  'srcip',
  'dstip',
  'srcport',
  'dstport',
  'srcuser',
  'dstuser',
  'protocol',
  'action',
  'url',
  'data',
  'extra_data',
  'status',
  'system_name',
  'srcgeoip',
  'dstgeoip',
  'location',
] as const;
export type CorrelationAttribute = (typeof CORRELATION_ATTRIBUTES)[number];

/** Words of `ignore` and `check_if_ignored` that name a static part of the key, in the key's order (6.6). */
export const IGNORE_PARTS = ['name', 'id', 'user', 'srcip', 'dstip', 'data', 'location'] as const;
export type IgnorePart = (typeof IGNORE_PARTS)[number];
export type IgnoreSpec = { readonly parts: ReadonlySet<IgnorePart>; readonly fields: readonly string[] };

/** What a rule says about ATT&CK: the old notation lists techniques, the new one pairs (rules-and-alerts.md 2.6). */
export type MitreSpec = {
  readonly techniques: readonly string[];
  readonly pairs: readonly { readonly tactic: string; readonly technique: string }[];
};

/**
 * One `<rule>` as read from its file: plain data, nothing compiled. Everything that evaluation needs is derived from it
 * (compile-rule.ts), everything that the tree needs as well (rule-tree.ts).
 */
export type Rule = {
  readonly id: number;
  /** 0 to 16. */
  readonly level: number;
  readonly file: string;
  readonly line: number;
  /** Minimum length of the log in bytes in spite of its name; 0 = off. */
  readonly maxsize: number;
  /** Seconds. */
  readonly timeframe: number;
  /** Attribute value minus 2; 0 when absent. */
  readonly frequency: number;
  /** `accuracy="0"`: tried after all siblings with normal accuracy. */
  readonly lowAccuracy: boolean;
  /** Seconds; 0 = off. */
  readonly ignoreTime: number;
  readonly noalert: boolean;
  readonly overwrite: boolean;
  /** Raw group string: file group and every `<group>`, nothing between (rules-and-alerts.md 2.5). */
  readonly groups: string;
  readonly category: Category;
  readonly decodedAs: string | undefined;
  readonly patterns: Readonly<Partial<Record<PatternElement, PatternSpec>>>;
  readonly fields: readonly FieldSpec[];
  readonly srcip: AddressSpec | undefined;
  readonly dstip: AddressSpec | undefined;
  readonly lists: readonly ListSpec[];
  readonly compiledRule: string | undefined;
  readonly time: string | undefined;
  readonly weekday: string | undefined;
  readonly ifSid: string | undefined;
  readonly ifGroup: string | undefined;
  readonly ifLevel: number | undefined;
  readonly ifMatchedSid: number | undefined;
  readonly ifMatchedGroup: string | undefined;
  readonly ifMatchedRegex: string | undefined;
  /** Some `if_matched_*` is given and no `check_diff`: the rule searches earlier events. */
  readonly composite: boolean;
  readonly ifFts: boolean;
  readonly checkDiff: boolean;
  readonly globalFrequency: boolean;
  readonly same: ReadonlySet<CorrelationAttribute>;
  readonly different: ReadonlySet<CorrelationAttribute>;
  readonly sameFields: readonly string[];
  readonly differentFields: readonly string[];
  readonly ignore: IgnoreSpec | undefined;
  readonly checkIfIgnored: IgnoreSpec | undefined;
  readonly description: string;
  readonly info: string | undefined;
  readonly cve: string | undefined;
  readonly mitre: MitreSpec;
  readonly mail: boolean;
  readonly log: boolean;
  readonly noActiveResponse: boolean;
  readonly noFullLog: boolean;
  readonly noCounter: boolean;
};
