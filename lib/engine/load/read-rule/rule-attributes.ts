import type { XmlElement } from '../../../xml/xml-element.js';
import { asciiLowerCase } from '../../ascii-case.js';
import type { Diagnostics, SourcePlace } from '../../event.js';
import { failLoad } from '../rule-problem.js';

/** Attributes of `<rule>` (rules-and-alerts.md 2.1). */
export type RuleAttributes = {
  readonly id: number;
  readonly level: number;
  readonly maxsize: number;
  readonly timeframe: number;
  /** Attribute value minus 2, 0 when absent. */
  readonly frequency: number;
  readonly lowAccuracy: boolean;
  readonly ignoreTime: number;
  readonly noalert: boolean;
  readonly overwrite: boolean;
};

const MAX_ID_DIGITS = 6;
const MAX_LEVEL = 16;
const MAX_FREQUENCY = 9999;

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
  const bad = (text: string): never => failLoad(diagnostics, place, text, 'Invalid attribute for rule.');
  let id: number | undefined;
  let level: number | undefined;
  let maxsize = 0;
  let timeframe = defaultTimeframe;
  let frequency = 0;
  let lowAccuracy = false;
  let ignoreTime = 0;
  let noalert = false;
  let overwrite = false;
  for (const { name, value } of element.attributes) {
    switch (asciiLowerCase(name)) {
      case 'id':
        if (!isDigits(value) || value.length > MAX_ID_DIGITS) {
          bad(`rules_op: Invalid rule id: ${value}. Must be integer (max 6 digits)`);
        }
        id = leadingNumber(value, MAX_ID_DIGITS);
        break;
      case 'level':
        // anything that is no number counts as absent
        level = isDigits(value) ? leadingNumber(value, value.length) : undefined;
        if (level !== undefined && level > MAX_LEVEL) {
          bad(`rules_op: Invalid level: ${String(level)}. Must be an integer between 0 and 16.`);
        }
        break;
      case 'maxsize':
        if (!isDigits(value)) bad(`rules_op: Invalid maxsize: ${value}. Must be integer`);
        maxsize = leadingNumber(value, 4) ?? 0;
        break;
      case 'timeframe':
        if (!isDigits(value)) bad(`rules_op: Invalid timeframe: ${value}. Must be integer (max 5 digits)`);
        timeframe = leadingNumber(value, 5) ?? defaultTimeframe;
        break;
      case 'frequency': {
        if (!isDigits(value)) bad(`rules_op: Invalid frequency: ${value}. Must be integer`);
        const count = leadingNumber(value, value.length) ?? 0;
        if (count < 2 || count > MAX_FREQUENCY) {
          bad(`rules_op: Invalid frequency: ${String(count)}. Must be higher than 1 and lower than 10000.`);
        }
        frequency = count - 2;
        break;
      }
      case 'accuracy':
        if (!isDigits(value)) bad(`rules_op: Invalid accuracy: ${value}. Must be integer`);
        lowAccuracy = leadingNumber(value, 4) === 0;
        break;
      case 'ignore':
        if (!isDigits(value)) bad(`rules_op: Invalid ignore_time: ${value}. Must be integer (max 6 digits)`);
        ignoreTime = leadingNumber(value, 6) ?? 0;
        break;
      case 'noalert':
        if (value === '0' || value === '1') noalert = value === '1';
        else diagnostics.warn("Invalid value for attribute 'noalert'", place);
        break;
      case 'overwrite':
        if (value !== 'yes' && value !== 'no') {
          bad(`rules_op: Invalid overwrite: ${value}. Can only by 'yes' or 'no'.`);
        }
        overwrite = value === 'yes';
        break;
      default:
        bad(
          `rules_op: Invalid attribute "${name}". Only id, level, maxsize, accuracy, noalert, ignore, frequency and timeframe are allowed.`,
        );
    }
  }
  if (id === undefined || level === undefined) {
    failLoad(diagnostics, place, `No rule id or level specified for rule '${String(index)}'.`);
  }
  return { id, level, maxsize, timeframe, frequency, lowAccuracy, ignoreTime, noalert, overwrite };
}

/** Every character a decimal digit; true for the empty text, as in the reference. */
export function isDigits(text: string): boolean {
  return /^[0-9]*$/.test(text);
}

/** Number made of the first digits of the text; undefined for the empty text. */
function leadingNumber(digits: string, count: number): number | undefined {
  return digits === '' ? undefined : Number(digits.slice(0, count));
}
