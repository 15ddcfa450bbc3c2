import type { XmlElement } from '../../../xml/xml-element.js';
import type { RuleDraft } from './rule-draft.js';
import type { RuleReport } from './rule-report.js';

/** How one element of `<rule>` is read: what each occurrence makes of the rule so far. @throws RulesetError */
export type RuleElement = (rule: RuleDraft, element: XmlElement, report: RuleReport) => void;

/** Members of a rule of exactly this type. */
export type MembersOf<T> = {
  [Member in keyof RuleDraft]: [RuleDraft[Member], T] extends [T, RuleDraft[Member]] ? Member : never;
}[keyof RuleDraft];

/** Texts of conditions are kept up to this many bytes (rules-and-alerts.md 2.2, "Length"). */
const MAX_TEXT = 2048;

/**
 * Repeated elements are joined without a separator. A text over the limit drops the rule: the reference drops only the
 * condition, so that the rule matches more than its author wrote (13.1, Q1).
 */
export function joinText(before: string | undefined, element: XmlElement, report: RuleReport): string {
  const text = (before ?? '') + element.content;
  if (element.content.length < MAX_TEXT && text.length <= MAX_TEXT) return text;
  report.dropWithError(
    element,
    `(1104): Maximum string size reached for: ${element.content.slice(0, 64)}. Rule '${report.ruleId}' will be ignored.`,
  );
  return text.slice(0, MAX_TEXT);
}

/** A condition whose texts are joined. */
export function joined(member: MembersOf<string | undefined>): RuleElement {
  return (rule, element, report) => {
    rule[member] = joinText(rule[member], element, report);
  };
}

/** A text of any length for people to read, to which each occurrence adds; `clean` makes one line of it. */
export function appended(
  member: MembersOf<string | undefined> | 'groups',
  clean: (text: string) => string = (text) => text,
): RuleElement {
  return (rule, element) => {
    rule[member] = (rule[member] ?? '') + clean(element.content);
  };
}

/** An element whose being there is all that counts. */
export function flag(member: MembersOf<boolean>): RuleElement {
  return (rule) => {
    rule[member] = true;
  };
}

/** A number of digits alone, from `least`; the last one counts. Any other text drops the rule with warning `code`. */
export function number(member: MembersOf<number | undefined>, least: number, code: number): RuleElement {
  return (rule, element, report) => {
    const { content, name } = element;
    if (/^[0-9]+$/.test(content) && Number(content) >= least) {
      rule[member] = Number(content);
      return;
    }
    report.drop(
      element,
      `(${String(code)}): Invalid '${name.toLowerCase()}' value: '${content}'. Rule '${report.ruleId}' will be ignored.`,
    );
  };
}

/** A text of which the last one counts. One that is not `valid` ends the load with the texts of `complain`. */
export function checked(
  member: MembersOf<string | undefined>,
  valid: (text: string, report: RuleReport) => boolean,
  complain: (text: string, element: XmlElement) => readonly [string, ...string[]],
): RuleElement {
  return (rule, element, report) => {
    const { content } = element;
    if (!valid(content, report)) report.fail(element, ...complain(content, element));
    rule[member] = content;
  };
}
