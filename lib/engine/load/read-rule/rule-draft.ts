import type { SourcePlace } from '../../event.js';
import type { MitreSpec, PatternElement, PatternSpec, Rule } from '../rule.js';
import type { RuleAttributes } from './rule-attributes.js';
import type { RuleParseContext } from './rule-report.js';

type Growing<T> = T extends readonly (infer Item)[] ? Item[] : T extends ReadonlySet<infer Item> ? Set<Item> : T;
type LateMember = 'description' | 'patterns' | 'mitre';

/** A rule while its elements are read: its members grow with them, and `description` may be missing yet. */
export type RuleDraft = { -readonly [Member in Exclude<keyof Rule, LateMember>]: Growing<Rule[Member]> } & {
  description: string | undefined;
  readonly patterns: Partial<Record<PatternElement, PatternSpec>>;
  mitre: { readonly [Member in keyof MitreSpec]: Growing<MitreSpec[Member]> };
};

/** Where a rule stands, and from which levels on its alerts are written and mailed. */
type RulePlacing = {
  readonly context: Pick<RuleParseContext, 'mailLevel' | 'logLevel'>;
  readonly rulePlace: Pick<SourcePlace, 'file' | 'line'>;
};

/**
 * A rule without any element.
 * @param fileGroup `name` of the group the rule stands in
 */
export function newRule(attributes: RuleAttributes, fileGroup: string, placing: RulePlacing): RuleDraft {
  const { context, rulePlace } = placing;
  // Written out: with a spread the many members make a slow object, and loading takes noticeably longer.
  return {
    id: attributes.id,
    level: attributes.level,
    maxsize: attributes.maxsize,
    timeframe: attributes.timeframe,
    frequency: attributes.frequency,
    lowAccuracy: attributes.lowAccuracy,
    ignoreTime: attributes.ignoreTime,
    noalert: attributes.noalert,
    overwrite: attributes.overwrite,
    file: rulePlace.file,
    line: rulePlace.line,
    groups: fileGroup.replaceAll('\n', ''),
    category: 'syslog',
    decodedAs: undefined,
    patterns: {},
    fields: [],
    srcip: undefined,
    dstip: undefined,
    lists: [],
    compiledRule: undefined,
    time: undefined,
    weekday: undefined,
    ifSid: undefined,
    ifGroup: undefined,
    ifLevel: undefined,
    ifMatchedSid: undefined,
    ifMatchedGroup: undefined,
    ifMatchedRegex: undefined,
    composite: false,
    ifFts: false,
    checkDiff: false,
    globalFrequency: false,
    same: new Set(),
    different: new Set(),
    sameFields: [],
    differentFields: [],
    ignore: undefined,
    checkIfIgnored: undefined,
    description: undefined,
    info: undefined,
    cve: undefined,
    mitre: { techniques: [], pairs: [] },
    mail: context.mailLevel <= attributes.level,
    log: context.logLevel <= attributes.level,
    noActiveResponse: false,
    noFullLog: false,
    noCounter: false,
  };
}
