import type { XmlElement } from '../../../xml/xml-element.js';
import { asciiLowerCase } from '../../ascii-case.js';
import type { Diagnostics, SourcePlace } from '../../event.js';
import { failLoad } from '../fail-load.js';
import type { Rule } from '../rule.js';

/** Attributes of `<rule>` (rules-and-alerts.md 2.1). */
export type RuleAttributes = Pick<
  Rule,
  'id' | 'level' | 'maxsize' | 'timeframe' | 'frequency' | 'lowAccuracy' | 'ignoreTime' | 'noalert' | 'overwrite'
>;

const MAX_ID_DIGITS = 6;
const MAX_LEVEL = 16;
const MAX_FREQUENCY = 9999;

type AttributesDraft = { -readonly [Name in keyof RuleAttributes]: RuleAttributes[Name] | undefined };

type AttributeReport = { readonly warn: (text: string) => void; readonly fail: (text: string) => never };

/** How one attribute is read: what its text makes of the attributes so far. */
type RuleAttribute = (attributes: AttributesDraft, text: string, report: AttributeReport) => void;

const ATTRIBUTES: ReadonlyMap<string, RuleAttribute> = new Map(
  Object.entries<RuleAttribute>({
    id(attributes, text, report) {
      if (!isDigits(text) || text.length > MAX_ID_DIGITS) {
        report.fail(`rules_op: Invalid rule id: ${text}. Must be integer (max 6 digits)`);
      }
      attributes.id = leadingNumber(text, MAX_ID_DIGITS);
    },
    level(attributes, text, report) {
      // anything that is no number counts as absent
      const level = isDigits(text) ? leadingNumber(text, Infinity) : undefined;
      if (level !== undefined && level > MAX_LEVEL) {
        report.fail(`rules_op: Invalid level: ${String(level)}. Must be an integer between 0 and 16.`);
      }
      attributes.level = level;
    },
    maxsize: number({ name: 'maxsize', digits: 4 }, (attributes, size) => {
      attributes.maxsize = size;
    }),
    timeframe: number({ name: 'timeframe', digits: 5, hint: ' (max 5 digits)' }, (attributes, seconds) => {
      attributes.timeframe = seconds;
    }),
    frequency: number({ name: 'frequency', digits: Infinity }, (attributes, count = 0, report) => {
      if (count < 2 || count > MAX_FREQUENCY) {
        report.fail(`rules_op: Invalid frequency: ${String(count)}. Must be higher than 1 and lower than 10000.`);
      }
      attributes.frequency = count - 2;
    }),
    accuracy: number({ name: 'accuracy', digits: 4 }, (attributes, accuracy) => {
      attributes.lowAccuracy = accuracy === 0;
    }),
    ignore: number({ name: 'ignore_time', digits: 6, hint: ' (max 6 digits)' }, (attributes, seconds) => {
      attributes.ignoreTime = seconds;
    }),
    noalert(attributes, text, report) {
      if (text === '0' || text === '1') attributes.noalert = text === '1';
      else report.warn("Invalid value for attribute 'noalert'");
    },
    overwrite(attributes, text, report) {
      if (text !== 'yes' && text !== 'no') {
        report.fail(`rules_op: Invalid overwrite: ${text}. Can only by 'yes' or 'no'.`);
      }
      attributes.overwrite = text === 'yes';
    },
  }),
);

/**
 * Reads the attributes of the rule at `index` of its group.
 * @throws RulesetError for a bad or missing attribute
 */
export function readRuleAttributes(
  element: XmlElement,
  index: number,
  file: string,
  defaultTimeframe: number,
  diagnostics: Diagnostics,
): RuleAttributes {
  const place: SourcePlace = { file, line: element.line };
  if (element.attributes.length === 0) {
    failLoad(diagnostics, place, `Invalid rule '${String(index)}'. You must specify an ID and a level at least.`);
  }
  const report: AttributeReport = {
    warn: (text) => {
      diagnostics.warn(text, place);
    },
    fail: (text) => failLoad(diagnostics, place, text, 'Invalid attribute for rule.'),
  };
  const attributes = noAttributes();
  for (const { name, value } of element.attributes) {
    const read = ATTRIBUTES.get(asciiLowerCase(name));
    if (read === undefined) {
      report.fail(
        `rules_op: Invalid attribute "${name}". Only id, level, maxsize, accuracy, noalert, ignore, frequency and timeframe are allowed.`,
      );
    }
    read(attributes, value, report);
  }
  const { id, level, maxsize = 0, timeframe = defaultTimeframe, frequency = 0, ignoreTime = 0 } = attributes;
  if (id === undefined || level === undefined) {
    failLoad(diagnostics, place, `No rule id or level specified for rule '${String(index)}'.`);
  }
  const { lowAccuracy = false, noalert = false, overwrite = false } = attributes;
  return { id, level, maxsize, timeframe, frequency, lowAccuracy, ignoreTime, noalert, overwrite };
}

function noAttributes(): AttributesDraft {
  return {
    id: undefined,
    level: undefined,
    maxsize: undefined,
    timeframe: undefined,
    frequency: undefined,
    lowAccuracy: undefined,
    ignoreTime: undefined,
    noalert: undefined,
    overwrite: undefined,
  };
}

/** Digits alone, of which the first `digits` count; the number is undefined for the empty text. */
function number(
  text: { readonly name: string; readonly digits: number; readonly hint?: string },
  set: (attributes: AttributesDraft, value: number | undefined, report: AttributeReport) => void,
): RuleAttribute {
  return (attributes, value, report) => {
    if (!isDigits(value)) report.fail(`rules_op: Invalid ${text.name}: ${value}. Must be integer${text.hint ?? ''}`);
    set(attributes, leadingNumber(value, text.digits), report);
  };
}

/** Every character a decimal digit; true for the empty text, as in the reference. */
function isDigits(text: string): boolean {
  return /^[0-9]*$/.test(text);
}

/** Number made of the first digits of the text; undefined for the empty text. */
function leadingNumber(digits: string, count: number): number | undefined {
  return digits === '' ? undefined : Number(digits.slice(0, count));
}
