import { IpExpression } from '../../../network/ip-expression.js';
import type { PatternLanguage } from '../../../patterns/matcher.js';
import { attributeValue, type XmlElement } from '../../../xml/xml-element.js';
import { asciiLowerCase } from '../../ascii-case.js';
import type { PatternElement, PatternSpec } from '../rule.js';
import type { RuleDraft } from './rule-draft.js';
import { joinText, type RuleElement } from './rule-element.js';
import type { RuleReport } from './rule-report.js';

/** Fields that a decoder sets as static members; `<field>` cannot reach them. */
const STATIC_NAMES: ReadonlySet<string> = new Set(
  'srcip dstip srcgeoip dstgeoip srcport dstport user srcuser dstuser url id data extra_data status protocol system_name action'.split(
    ' ',
  ),
);

/** A pattern with its attributes `type` and `negate`; texts are joined, of the attributes the last element's count. */
export function pattern(name: PatternElement, byDefault: PatternSpec['language']): RuleElement {
  return (rule, element, report) => {
    const source = joinText(rule.patterns[name]?.source, element, report);
    rule.patterns[name] = readPattern(source, byDefault, element, report);
  };
}

/** `<field name="...">`: a pattern tested against one dynamic field; each element is a condition of its own. */
export function fieldPattern(rule: RuleDraft, element: XmlElement, report: RuleReport): void {
  const name = attributeValue(element, 'name');
  if (name === undefined) {
    report.fail(element, `Failure to read rule ${report.ruleId}. No such attribute 'name' for field.`);
  }
  if (STATIC_NAMES.has(asciiLowerCase(name))) {
    report.fail(element, `Failure to read rule ${report.ruleId}. Field '${name}' is static.`);
  }
  if (rule.fields.length >= report.context.maxFields) {
    report.fail(element, `Rule ${report.ruleId} has exceeded the maximum number of allowed fields`);
  }
  const source = joinText(undefined, element, report);
  rule.fields.push({ name, pattern: readPattern(source, 'osregex', element, report) });
}

/** An address or network; each element adds one to the OR-list. */
export function address(member: 'srcip' | 'dstip'): RuleElement {
  return (rule, element, report) => {
    const source = element.content;
    if (!(IpExpression.compile([source]) instanceof IpExpression)) {
      report.fail(element, `(1237): Invalid ip address: '${source}'.`);
    }
    if (source.startsWith('!')) {
      report.warn(
        element,
        `Rule ${report.ruleId}: '!' before the address '${source}' has no effect, use negate="yes".`,
      );
    }
    rule[member] = { sources: [...(rule[member]?.sources ?? []), source], negate: readNegation(element, report) };
  };
}

function readPattern(
  source: string,
  byDefault: PatternSpec['language'],
  element: XmlElement,
  report: RuleReport,
): PatternSpec {
  return { source, language: readLanguage(element, report) ?? byDefault, negate: readNegation(element, report) };
}

function readLanguage(element: XmlElement, report: RuleReport): PatternLanguage | undefined {
  const value = attributeValue(element, 'type');
  if (value === undefined) return undefined;
  const word = asciiLowerCase(value);
  if (word === 'osmatch' || word === 'osregex' || word === 'pcre2') return word;
  warnOfAttribute('type', value, element, report);
  return undefined;
}

function readNegation(element: XmlElement, report: RuleReport): boolean {
  const value = attributeValue(element, 'negate');
  if (value === undefined) return false;
  const word = asciiLowerCase(value);
  if (word !== 'yes' && word !== 'no') warnOfAttribute('negate', value, element, report);
  return word === 'yes';
}

function warnOfAttribute(attribute: string, value: string, element: XmlElement, report: RuleReport): void {
  report.warn(element, `(7600): Invalid value '${value}' for attribute '${attribute}' in rule ${report.ruleId}.`);
}
