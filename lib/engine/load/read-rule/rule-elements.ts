import { TimeExpression } from '../../../time/time-expression.js';
import { parseWeekdays } from '../../../time/weekday-expression.js';
import type { XmlElement } from '../../../xml/xml-element.js';
import { asciiLowerCase } from '../../ascii-case.js';
import type { Category } from '../../event.js';
import { COMPILED_FUNCTIONS } from '../compiled-functions.js';
import { PATTERN_ELEMENTS, type PatternElement, type PatternSpec } from '../rule.js';
import { address, fieldPattern, pattern } from './condition-elements.js';
import { CORRELATION_ELEMENTS, EXACT_CASE_CORRELATION_ELEMENTS } from './correlation-elements.js';
import { ignoreKey } from './ignore-element.js';
import { listCondition } from './list-element.js';
import { mitreBlock } from './mitre-element.js';
import type { RuleDraft } from './rule-draft.js';
import { appended, checked, flag, joined, number, type RuleElement } from './rule-element.js';
import type { RuleReport } from './rule-report.js';

const CATEGORIES: ReadonlySet<string> = new Set(['firewall', 'ids', 'syslog', 'web-log', 'squid', 'windows', 'ossec']);

const INFO_TYPES: readonly string[] = ['text', 'link', 'cve', 'osvdb'];

/** Words of `<options>`: the member that each sets, and to what. */
const OPTIONS: ReadonlyMap<string, Partial<RuleDraft>> = new Map([
  ['alert_by_email', { mail: true }],
  ['no_email_alert', { mail: false }],
  ['log_alert', { log: true }],
  ['no_log', { log: false }],
  ['no_ar', { noActiveResponse: true }],
  ['no_full_log', { noFullLog: true }],
  ['no_counter', { noCounter: true }],
]);

/** The elements whose names may be written in any case (rules-and-alerts.md 2.2, 2.4 to 2.6). */
const ANY_CASE: ReadonlyMap<string, RuleElement> = tableOf({
  ...Object.fromEntries(PATTERN_ELEMENTS.map((name) => [name, pattern(name, defaultLanguage(name))])),
  field: fieldPattern,
  srcip: address('srcip'),
  dstip: address('dstip'),
  decoded_as: checked(
    'decodedAs',
    (name, { context }) => context.knowsDecoder(name),
    (name) => [`Invalid decoder name: '${name}'.`],
  ),
  category: readCategory,
  if_sid: joined('ifSid'),
  if_group: joined('ifGroup'),
  if_level: number('ifLevel', 1, 7609),
  if_matched_sid: composite(number('ifMatchedSid', 0, 7615)),
  if_matched_group: composite(joined('ifMatchedGroup')),
  if_matched_regex: composite(joined('ifMatchedRegex')),
  if_fts: flag('ifFts'),
  check_diff: flag('checkDiff'),
  compiled_rule: checked(
    'compiledRule',
    (name) => COMPILED_FUNCTIONS.has(name),
    (name, element) => [`Compiled rule not found: '${name}'`, invalidElement(element)],
  ),
  time: checked(
    'time',
    (time) => TimeExpression.parse(time) !== undefined,
    (time, element) => [`(1240): Invalid time format: '${time}'.`, invalidElement(element)],
  ),
  weekday: checked(
    'weekday',
    (days) => parseWeekdays(days) !== undefined,
    (days, element) => [`(1241): Invalid day format: '${days}'.`, invalidElement(element)],
  ),
  list: listCondition,
  global_frequency: flag('globalFrequency'),
  ignore: ignoreKey('ignore'),
  check_if_ignored: ignoreKey('checkIfIgnored'),
  group: appended('groups', (text) => text.replaceAll('\n', '')),
  description: appended('description', (text) => text.replace('\n', ' ')),
  info: readInfo,
  cve: appended('cve'),
  mitre: mitreBlock,
  options: readOption,
  ...CORRELATION_ELEMENTS,
});

const EXACT_CASE = tableOf(EXACT_CASE_CORRELATION_ELEMENTS);

/** How the element of this name is read, or undefined when a rule has no such element. */
export function ruleElement(name: string): RuleElement | undefined {
  return ANY_CASE.get(asciiLowerCase(name)) ?? EXACT_CASE.get(name);
}

/** Names come from outside: only the table's own members count. */
function tableOf(elements: Readonly<Record<string, RuleElement>>): ReadonlyMap<string, RuleElement> {
  return new Map(Object.entries(elements));
}

function defaultLanguage(name: PatternElement): PatternSpec['language'] {
  if (name === 'regex') return 'osregex';
  return name === 'action' ? 'exact' : 'osmatch';
}

/** An element that makes the rule one that searches earlier events, even where its text is refused. */
function composite(read: RuleElement): RuleElement {
  return (rule, element, report) => {
    rule.composite = true;
    read(rule, element, report);
  };
}

function readCategory(rule: RuleDraft, element: XmlElement, report: RuleReport): void {
  const { content } = element;
  if (!CATEGORIES.has(content)) report.fail(element, `(1273): Invalid category '${content}' chosen.`);
  rule.category = content as Category;
}

function readInfo(rule: RuleDraft, element: XmlElement, report: RuleReport): void {
  rule.info = (rule.info ?? '') + element.content;
  const [attribute] = element.attributes;
  if (attribute === undefined) return;
  const { name, value } = attribute;
  if (name !== 'type') {
    report.error(element, `rules_op: Element info has invalid attribute "${name}"`);
  } else if (!INFO_TYPES.includes(value)) {
    report.error(element, `rules_op: Element info attribute "${name}" has invalid value "${value}"`);
  }
}

function readOption(rule: RuleDraft, element: XmlElement, report: RuleReport): void {
  const option = OPTIONS.get(element.content);
  if (option === undefined) {
    report.failOption(element, `(1235): Invalid value for element 'options': ${element.content}.`);
  }
  Object.assign(rule, option);
}

function invalidElement(element: XmlElement): string {
  return `(1274): Invalid configuration. Element '${element.name}': ${element.content}.`;
}
