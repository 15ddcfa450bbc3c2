import type { XmlElement } from '../../../xml/xml-element.js';
import type { Rule } from '../rule.js';
import { keepOneNotation } from './mitre-element.js';
import { readRuleAttributes } from './rule-attributes.js';
import { newRule, type RuleDraft } from './rule-draft.js';
import { ruleElement } from './rule-elements.js';
import { type RuleParseContext, RuleReport } from './rule-report.js';

/**
 * Reads one `<rule>` (rules-and-alerts.md 2).
 *
 * @param index position of the rule in its group, for messages
 * @param fileGroup `name` of the group
 * @returns the rule, or undefined when only this rule is dropped; why was reported as a warning
 * @throws RulesetError when the whole load fails
 */
export function parseRule(
  element: XmlElement,
  index: number,
  fileGroup: string,
  file: string,
  context: RuleParseContext,
): Rule | undefined {
  const attributes = readRuleAttributes(element, index, file, context.defaultTimeframe, context.diagnostics);
  const report: RuleReport = new RuleReport(file, element.line, attributes.id, context);
  if (element.children.length === 0) {
    report.failRule(
      `Rule '${report.ruleId}' without any option. It may lead to false positives and some other problems for the system. Exiting.`,
    );
  }
  const rule = newRule(attributes, fileGroup, report);
  for (const child of element.children) {
    const read = ruleElement(child.name);
    if (read === undefined) report.failOption(child);
    read(rule, child, report);
  }
  return checkRule(rule, report) ? rule : undefined;
}

/**
 * Consistency checks of rules-and-alerts.md 2.3, in its order; patterns are compiled by the caller.
 * @returns whether the rule is kept
 * @throws RulesetError
 */
function checkRule(rule: RuleDraft, report: RuleReport): rule is RuleDraft & { description: string } {
  if (rule.ifSid !== undefined && !/^[0-9, ]+$/.test(rule.ifSid)) {
    report.warnOfRule(`(7618): Invalid 'if_sid' value: '${rule.ifSid}'. Rule '${report.ruleId}' will be ignored.`);
    return false;
  }
  if (report.isLeftOut) return false;
  if (rule.description === undefined) report.failRule(`No such description at rule '${report.ruleId}'.`);
  if (correlates(rule) && !rule.composite && !rule.checkDiff) {
    report.failRule(`Invalid use of frequency/context options. Missing if_matched on rule '${report.ruleId}'.`);
  }
  if (rule.checkDiff) rule.composite = false;
  keepOneNotation(rule, report);
  return true;
}

/** Whether the rule says how earlier events are counted or compared. */
function correlates(rule: RuleDraft): boolean {
  const { same, different, sameFields, differentFields } = rule;
  const comparisons = same.size + different.size + sameFields.length + differentFields.length;
  return rule.globalFrequency || rule.frequency > 0 || comparisons > 0;
}
