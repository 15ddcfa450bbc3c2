import { IpExpression } from '../../../network/ip-expression.js';
import type { PatternLanguage } from '../../../patterns/matcher.js';
import { TimeExpression } from '../../../time/time-expression.js';
import { parseWeekdays } from '../../../time/weekday-expression.js';
import { attributeValue, type XmlElement } from '../../../xml/xml-element.js';
import { asciiLowerCase } from '../../ascii-case.js';
import type { Category, Diagnostics, SourcePlace } from '../../event.js';
import { COMPILED_FUNCTIONS } from '../compiled-functions.js';
import {
  type AddressSpec,
  type CorrelationAttribute,
  type FieldSpec,
  type IgnoreSpec,
  type ListSpec,
  PATTERN_ELEMENTS,
  type PatternElement,
  type PatternSpec,
  type Rule,
} from '../rule.js';
import { isDigits, readRuleAttributes, type RuleAttributes } from './rule-attributes.js';
import { correlationElement } from './correlation-elements.js';
import { readIgnoreSpec } from './ignore-element.js';
import { readListSpec } from './list-element.js';
import { RuleMitre } from './mitre-element.js';
import { failLoad } from '../rule-problem.js';

/** What rules are read against. */
export type RuleParseContext = {
  readonly diagnostics: Diagnostics;
  /** Seconds a composite rule without `timeframe` looks back (`analysisd.default_timeframe`). */
  readonly defaultTimeframe: number;
  /** Level from which an alert is mailed (`email_alert_level`). */
  readonly mailLevel: number;
  /** Level from which an alert is written (`log_alert_level`). */
  readonly logLevel: number;
  /** Most `<field>` elements of a rule (`analysisd.decoder_order_size`). */
  readonly maxFields: number;
  knowsDecoder(name: string): boolean;
  /** Whether `<list>` may name this path: a configured text path, with or without `.cdb`. */
  knowsList(path: string): boolean;
};

/** Texts of conditions are kept up to this many bytes (rules-and-alerts.md 2.2, "Length"). */
const MAX_TEXT = 2048;

const CATEGORIES: ReadonlySet<string> = new Set(['firewall', 'ids', 'syslog', 'web-log', 'squid', 'windows', 'ossec']);

/** Fields that a decoder sets as static members; `<field>` cannot reach them. */
const STATIC_NAMES: ReadonlySet<string> = new Set(
  'srcip dstip srcgeoip dstgeoip srcport dstport user srcuser dstuser url id data extra_data status protocol system_name action'.split(
    ' ',
  ),
);

const IS_PATTERN: ReadonlySet<string> = new Set(PATTERN_ELEMENTS);

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
  if (element.children.length === 0) {
    failLoad(
      context.diagnostics,
      { file, line: element.line, ruleId: attributes.id },
      `Rule '${String(attributes.id)}' without any option. It may lead to false positives and some other problems for the system. Exiting.`,
    );
  }
  const reader = new RuleReader(attributes, element.line, fileGroup, file, context);
  for (const child of element.children) reader.read(child);
  return reader.finish();
}

/** Gathers the elements of one rule. */
class RuleReader {
  readonly #attributes: RuleAttributes;
  readonly #file: string;
  readonly #line: number;
  readonly #context: RuleParseContext;
  readonly #diagnostics: Diagnostics;
  readonly #mitre: RuleMitre;
  /** A reason to drop this rule was reported. */
  #skip = false;

  #groups: string;
  #category: Category = 'syslog';
  #decodedAs: string | undefined;
  readonly #patterns: Partial<Record<PatternElement, PatternSpec>> = {};
  readonly #fields: FieldSpec[] = [];
  #srcip: AddressSpec | undefined;
  #dstip: AddressSpec | undefined;
  readonly #lists: ListSpec[] = [];
  #compiledRule: string | undefined;
  #time: string | undefined;
  #weekday: string | undefined;
  #ifSid: string | undefined;
  #ifGroup: string | undefined;
  #ifLevel: number | undefined;
  #ifMatchedSid: number | undefined;
  #ifMatchedGroup: string | undefined;
  #ifMatchedRegex: string | undefined;
  #hasMatched = false;
  #ifFts = false;
  #checkDiff = false;
  #globalFrequency = false;
  readonly #same = new Set<CorrelationAttribute>();
  readonly #different = new Set<CorrelationAttribute>();
  readonly #sameFields: string[] = [];
  readonly #differentFields: string[] = [];
  #ignore: IgnoreSpec | undefined;
  #checkIfIgnored: IgnoreSpec | undefined;
  #description: string | undefined;
  #info: string | undefined;
  #cve: string | undefined;
  #mail: boolean;
  #log: boolean;
  #noActiveResponse = false;
  #noFullLog = false;
  #noCounter = false;

  constructor(attributes: RuleAttributes, line: number, fileGroup: string, file: string, context: RuleParseContext) {
    this.#attributes = attributes;
    this.#line = line;
    this.#file = file;
    this.#context = context;
    this.#diagnostics = context.diagnostics;
    this.#groups = fileGroup.replaceAll('\n', '');
    this.#mail = context.mailLevel <= attributes.level;
    this.#log = context.logLevel <= attributes.level;
    this.#mitre = new RuleMitre(attributes.id, this.#placeOf(line), context.diagnostics);
  }

  read(element: XmlElement): void {
    const name = asciiLowerCase(element.name);
    const { content } = element;
    if (IS_PATTERN.has(name)) {
      this.#readPattern(name as PatternElement, element);
      return;
    }
    switch (name) {
      case 'field':
        this.#readField(element);
        return;
      case 'srcip':
        this.#srcip = this.#readAddress(this.#srcip, element);
        return;
      case 'dstip':
        this.#dstip = this.#readAddress(this.#dstip, element);
        return;
      case 'decoded_as':
        if (!this.#context.knowsDecoder(content)) this.#fail(element, `Invalid decoder name: '${content}'.`);
        this.#decodedAs = content;
        return;
      case 'category':
        if (!CATEGORIES.has(content)) this.#fail(element, `(1273): Invalid category '${content}' chosen.`);
        this.#category = content as Category;
        return;
      case 'if_sid':
        this.#ifSid = this.#join(this.#ifSid, element);
        return;
      case 'if_group':
        this.#ifGroup = this.#join(this.#ifGroup, element);
        return;
      case 'if_level':
        if (!isDigits(content) || Number(content) === 0) {
          this.#drop(element, `(7609): Invalid 'if_level' value: '${content}'. Rule '${this.#id}' will be ignored.`);
        } else {
          this.#ifLevel = Number(content);
        }
        return;
      case 'if_matched_sid':
        this.#hasMatched = true;
        if (!isDigits(content) || content === '') {
          this.#drop(
            element,
            `(7615): Invalid 'if_matched_sid' value: '${content}'. Rule '${this.#id}' will be ignored.`,
          );
        } else {
          this.#ifMatchedSid = Number(content);
        }
        return;
      case 'if_matched_group':
        this.#hasMatched = true;
        this.#ifMatchedGroup = this.#join(this.#ifMatchedGroup, element);
        return;
      case 'if_matched_regex':
        this.#hasMatched = true;
        this.#ifMatchedRegex = this.#join(this.#ifMatchedRegex, element);
        return;
      case 'if_fts':
        this.#ifFts = true;
        return;
      case 'check_diff':
        this.#checkDiff = true;
        return;
      case 'compiled_rule':
        if (!COMPILED_FUNCTIONS.has(content)) {
          this.#fail(element, `Compiled rule not found: '${content}'`, invalidElement(element));
        }
        this.#compiledRule = content;
        return;
      case 'time':
        if (TimeExpression.parse(content) === undefined) {
          this.#fail(element, `(1240): Invalid time format: '${content}'.`, invalidElement(element));
        }
        this.#time = content;
        return;
      case 'weekday':
        if (parseWeekdays(content) === undefined) {
          this.#fail(element, `(1241): Invalid day format: '${content}'.`, invalidElement(element));
        }
        this.#weekday = content;
        return;
      case 'list': {
        const list = readListSpec(element, this.#place(element), this.#diagnostics);
        if (this.#context.knowsList(list.path)) {
          this.#lists.push(list);
        } else {
          const text = `(7616): List '${list.path}' could not be loaded. Rule '${this.#id}' will be ignored.`;
          this.#drop(element, text, { list: list.path });
        }
        return;
      }
      case 'global_frequency':
        this.#globalFrequency = true;
        return;
      case 'ignore':
        this.#ignore = readIgnoreSpec(this.#ignore, element, this.#place(element), this.#diagnostics);
        return;
      case 'check_if_ignored':
        this.#checkIfIgnored = readIgnoreSpec(this.#checkIfIgnored, element, this.#place(element), this.#diagnostics);
        return;
      case 'group':
        this.#groups += content.replaceAll('\n', '');
        return;
      case 'description':
        this.#description = (this.#description ?? '') + content.replace('\n', ' ');
        return;
      case 'info':
        this.#readInfo(element);
        return;
      case 'cve':
        this.#cve = (this.#cve ?? '') + content;
        return;
      case 'mitre':
        this.#mitre.add(element);
        return;
      case 'options':
        this.#readOption(element);
        return;
      default:
        this.#readCorrelation(element);
    }
  }

  /** Consistency checks of rules-and-alerts.md 2.3, in its order; patterns are compiled by the caller. */
  finish(): Rule | undefined {
    const place = this.#placeOf(this.#line);
    if (this.#ifSid !== undefined && !/^[0-9, ]+$/.test(this.#ifSid)) {
      this.#diagnostics.warn(
        `(7618): Invalid 'if_sid' value: '${this.#ifSid}'. Rule '${this.#id}' will be ignored.`,
        place,
      );
      return undefined;
    }
    if (this.#skip) return undefined;
    if (this.#description === undefined) {
      failLoad(this.#diagnostics, place, `No such description at rule '${this.#id}'.`);
    }
    const { frequency } = this.#attributes;
    const correlates =
      this.#globalFrequency ||
      frequency > 0 ||
      this.#same.size + this.#different.size + this.#sameFields.length + this.#differentFields.length > 0;
    if (correlates && !this.#hasMatched && !this.#checkDiff) {
      failLoad(
        this.#diagnostics,
        place,
        `Invalid use of frequency/context options. Missing if_matched on rule '${this.#id}'.`,
      );
    }
    const attributes = this.#attributes;
    // written out: with a spread the many members make a slow object, and loading takes noticeably longer
    return {
      id: attributes.id,
      level: attributes.level,
      maxsize: attributes.maxsize,
      timeframe: attributes.timeframe,
      frequency,
      lowAccuracy: attributes.lowAccuracy,
      ignoreTime: attributes.ignoreTime,
      noalert: attributes.noalert,
      overwrite: attributes.overwrite,
      file: this.#file,
      line: this.#line,
      groups: this.#groups,
      category: this.#category,
      decodedAs: this.#decodedAs,
      patterns: this.#patterns,
      fields: this.#fields,
      srcip: this.#srcip,
      dstip: this.#dstip,
      lists: this.#lists,
      compiledRule: this.#compiledRule,
      time: this.#time,
      weekday: this.#weekday,
      ifSid: this.#ifSid,
      ifGroup: this.#ifGroup,
      ifLevel: this.#ifLevel,
      ifMatchedSid: this.#ifMatchedSid,
      ifMatchedGroup: this.#ifMatchedGroup,
      ifMatchedRegex: this.#ifMatchedRegex,
      composite: this.#hasMatched && !this.#checkDiff,
      ifFts: this.#ifFts,
      checkDiff: this.#checkDiff,
      globalFrequency: this.#globalFrequency,
      same: this.#same,
      different: this.#different,
      sameFields: this.#sameFields,
      differentFields: this.#differentFields,
      ignore: this.#ignore,
      checkIfIgnored: this.#checkIfIgnored,
      description: this.#description,
      info: this.#info,
      cve: this.#cve,
      mitre: this.#mitre.finish(),
      mail: this.#mail,
      log: this.#log,
      noActiveResponse: this.#noActiveResponse,
      noFullLog: this.#noFullLog,
      noCounter: this.#noCounter,
    };
  }

  get #id(): string {
    return String(this.#attributes.id);
  }

  #placeOf(line: number): SourcePlace {
    return { file: this.#file, line, ruleId: this.#attributes.id };
  }

  #place(element: XmlElement): SourcePlace {
    return this.#placeOf(element.line);
  }

  #fail(element: XmlElement, ...texts: readonly [string, ...string[]]): never {
    failLoad(this.#diagnostics, this.#place(element), ...texts);
  }

  #drop(element: XmlElement, text: string, more: Pick<SourcePlace, 'list'> = {}): void {
    this.#skip = true;
    this.#diagnostics.warn(text, { ...this.#place(element), ...more });
  }

  /**
   * Repeated elements are joined without a separator. A text over the limit drops the rule: the reference drops only the
   * condition, so that the rule matches more than its author wrote (13.1, Q1).
   */
  #join(before: string | undefined, element: XmlElement): string {
    const text = (before ?? '') + element.content;
    if (element.content.length < MAX_TEXT && text.length <= MAX_TEXT) return text;
    this.#skip = true;
    this.#diagnostics.error(
      `(1104): Maximum string size reached for: ${element.content.slice(0, 64)}. Rule '${this.#id}' will be ignored.`,
      this.#place(element),
    );
    return text.slice(0, MAX_TEXT);
  }

  #readPattern(name: PatternElement, element: XmlElement): void {
    const source = this.#join(this.#patterns[name]?.source, element);
    this.#patterns[name] = {
      source,
      language: this.#language(element, defaultLanguage(name)),
      negate: this.#negation(element),
    };
  }

  #readField(element: XmlElement): void {
    const name = attributeValue(element, 'name');
    if (name === undefined) {
      this.#fail(element, `Failure to read rule ${this.#id}. No such attribute 'name' for field.`);
    }
    if (STATIC_NAMES.has(asciiLowerCase(name))) {
      this.#fail(element, `Failure to read rule ${this.#id}. Field '${name}' is static.`);
    }
    if (this.#fields.length >= this.#context.maxFields) {
      this.#fail(element, `Rule ${this.#id} has exceeded the maximum number of allowed fields`);
    }
    const source = this.#join(undefined, element);
    const pattern = { source, language: this.#language(element, 'osregex'), negate: this.#negation(element) };
    this.#fields.push({ name, pattern });
  }

  #readAddress(before: AddressSpec | undefined, element: XmlElement): AddressSpec {
    const source = element.content;
    if (!(IpExpression.compile([source]) instanceof IpExpression)) {
      this.#fail(element, `(1237): Invalid ip address: '${source}'.`);
    }
    if (source.startsWith('!')) {
      this.#diagnostics.warn(
        `Rule ${this.#id}: '!' before the address '${source}' has no effect, use negate="yes".`,
        this.#place(element),
      );
    }
    return { sources: [...(before?.sources ?? []), source], negate: this.#negation(element) };
  }

  #language<Default extends PatternSpec['language']>(
    element: XmlElement,
    byDefault: Default,
  ): PatternLanguage | Default {
    const value = attributeValue(element, 'type');
    if (value === undefined) return byDefault;
    const word = asciiLowerCase(value);
    if (word === 'osmatch' || word === 'osregex' || word === 'pcre2') return word;
    this.#warnAttribute(element, 'type', value);
    return byDefault;
  }

  #negation(element: XmlElement): boolean {
    const value = attributeValue(element, 'negate');
    if (value === undefined) return false;
    const word = asciiLowerCase(value);
    if (word !== 'yes' && word !== 'no') this.#warnAttribute(element, 'negate', value);
    return word === 'yes';
  }

  #warnAttribute(element: XmlElement, attribute: string, value: string): void {
    this.#diagnostics.warn(
      `(7600): Invalid value '${value}' for attribute '${attribute}' in rule ${this.#id}.`,
      this.#place(element),
    );
  }

  #readInfo(element: XmlElement): void {
    this.#info = (this.#info ?? '') + element.content;
    const [attribute] = element.attributes;
    if (attribute === undefined) return;
    if (attribute.name !== 'type') {
      this.#diagnostics.error(`rules_op: Element info has invalid attribute "${attribute.name}"`, this.#place(element));
    } else if (!['text', 'link', 'cve', 'osvdb'].includes(attribute.value)) {
      this.#diagnostics.error(
        `rules_op: Element info attribute "${attribute.name}" has invalid value "${attribute.value}"`,
        this.#place(element),
      );
    }
  }

  #readOption(element: XmlElement): void {
    switch (element.content) {
      case 'alert_by_email':
        this.#mail = true;
        return;
      case 'no_email_alert':
        this.#mail = false;
        return;
      case 'log_alert':
        this.#log = true;
        return;
      case 'no_log':
        this.#log = false;
        return;
      case 'no_ar':
        this.#noActiveResponse = true;
        return;
      case 'no_full_log':
        this.#noFullLog = true;
        return;
      case 'no_counter':
        this.#noCounter = true;
        return;
      default:
        this.#fail(
          element,
          `(1235): Invalid value for element 'options': ${element.content}.`,
          `Invalid option '${element.name}' for rule '${this.#id}'.`,
        );
    }
  }

  #readCorrelation(element: XmlElement): void {
    const meaning = correlationElement(element.name);
    switch (meaning?.kind) {
      case undefined:
        this.#fail(element, `Invalid option '${element.name}' for rule '${this.#id}'.`);
        break;
      case 'same':
        this.#same.add(meaning.attribute);
        break;
      case 'different':
        this.#different.add(meaning.attribute);
        break;
      case 'sameField':
        this.#sameFields.push(element.content);
        break;
      case 'differentField':
        this.#differentFields.push(element.content);
        break;
      case 'deprecated':
        this.#diagnostics.warn(
          `Detected a deprecated field option for rule, ${element.name} is not longer available.`,
          this.#place(element),
        );
    }
  }
}

function defaultLanguage(name: PatternElement): PatternSpec['language'] {
  if (name === 'regex') return 'osregex';
  return name === 'action' ? 'exact' : 'osmatch';
}

function invalidElement(element: XmlElement): string {
  return `(1274): Invalid configuration. Element '${element.name}': ${element.content}.`;
}
