import { newRule } from '../load/read-rule/rule-draft.js';
import { CompiledRule } from './ruleset.js';

/** Id reserved for the statistics alert (rules-and-alerts.md 6.8). */
const STATISTICS_RULE = 11;

/** What a rule is without any attribute but its id. */
const NO_ATTRIBUTES = {
  id: STATISTICS_RULE,
  maxsize: 0,
  timeframe: 0,
  frequency: 0,
  lowAccuracy: false,
  ignoreTime: 0,
  noalert: false,
  overwrite: false,
};

/**
 * The rule that statistics alerts name: it is in no file and is never tried.
 * @param level `<global><stats>`
 */
export function statisticsRule(level: number, mailLevel: number, logLevel: number): CompiledRule {
  const nowhere = { file: '', line: 0 };
  const rule = newRule({ ...NO_ATTRIBUTES, level }, 'stats,', { context: { mailLevel, logLevel }, rulePlace: nowhere });
  return new CompiledRule(-1, { ...rule, description: '', noCounter: true }, [], [], false);
}
