import type { Rule } from '../load/rule.js';
import { CompiledRule } from './ruleset.js';

/** Id reserved for the statistics alert (rules-and-alerts.md 6.8). */
const STATISTICS_RULE = 11;

/**
 * The rule that statistics alerts name: it is in no file and is never tried.
 * @param level `<global><stats>`
 */
export function statisticsRule(level: number, mailLevel: number, logLevel: number): CompiledRule {
  const rule: Rule = {
    id: STATISTICS_RULE,
    level,
    file: '',
    line: 0,
    maxsize: 0,
    timeframe: 0,
    frequency: 0,
    lowAccuracy: false,
    ignoreTime: 0,
    noalert: false,
    overwrite: false,
    groups: 'stats,',
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
    description: '',
    info: undefined,
    cve: undefined,
    mitre: { techniques: [], pairs: [] },
    mail: mailLevel <= level,
    log: logLevel <= level,
    noActiveResponse: false,
    noFullLog: false,
    noCounter: true,
  };
  return new CompiledRule(-1, rule, [], [], false);
}
