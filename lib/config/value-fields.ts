import type { PatternLanguage } from '../patterns/matcher.js';
import type { XmlElement } from '../xml/xml-element.js';
import type { ConfigReport } from './config-report.js';
import { type Field, scalar } from './field.js';
import { isAddress, isNetwork } from './network-address.js';
import { patternProblem } from './pattern-text.js';
import { parseDigits, parseDuration, parseSize } from './units.js';

/** Labels of letters, digits, hyphens and underscores; a name of digits alone would be an address that is none. */
const HOST_NAME = /^(?=.{1,253}$)(?![\d.]+$)[\w-]{1,63}(\.[\w-]{1,63})*\.?$/;

/** Inclusive limits of a number. */
export type Range = { readonly min?: number; readonly max?: number };

/** Exactly `yes` or `no`. @throws ConfigError (1234), (1235) */
export function readYesNo(element: XmlElement, report: ConfigReport): boolean {
  switch (requireText(element, report)) {
    case 'yes':
      return true;
    case 'no':
      return false;
    default:
      throw report.invalidValue(element);
  }
}

/** Value of a yes/no attribute. @throws ConfigError (1233) for another word */
export function readYesNoAttribute(element: XmlElement, name: string, initial: boolean, report: ConfigReport): boolean {
  const value = element.attributes.find((attribute) => attribute.name === name)?.value;
  if (value === undefined) {
    return initial;
  }
  if (value !== 'yes' && value !== 'no') {
    throw report.invalidAttribute(element, value);
  }
  return value === 'yes';
}

/** The content, which must not be empty. @throws ConfigError (1234) */
export function requireText(element: XmlElement, report: ConfigReport): string {
  if (element.content === '' && element.children.length === 0) {
    throw report.missingValue(element);
  }
  if (element.children.length > 0) {
    const [child] = element.children;
    throw report.unknownElement(child ?? element);
  }
  return element.content;
}

/** A whole number in decimal digits within the range. @throws ConfigError (1234), (1235) */
export function readInteger(element: XmlElement, report: ConfigReport, range: Range = {}): number {
  const value = parseDigits(requireText(element, report), (range.min ?? 0) < 0);
  if (value === undefined || !within(value, range)) {
    throw report.invalidValue(element);
  }
  return value;
}

/** A time in seconds, with optional suffix s m h d w. @throws ConfigError (1234), (1235) */
export function readDuration(element: XmlElement, report: ConfigReport, range: Range = {}): number {
  const value = parseDuration(requireText(element, report));
  if (value === undefined || !within(value, range)) {
    throw report.invalidValue(element);
  }
  return value;
}

/** An address or network. @throws ConfigError (1237) */
export function readNetwork(element: XmlElement, report: ConfigReport): string {
  const value = requireText(element, report).trim();
  if (!isNetwork(value.replace(/^!/, ''))) {
    throw report.invalidAddress(element, value);
  }
  return value;
}

/** `yes` or `no`. */
export function yesNo(initial: boolean): Field<boolean> {
  return scalar(initial, readYesNo);
}

/** A whole number. */
export function integer(initial: number, range: Range = {}): Field<number> {
  return scalar(initial, (element, report) => readInteger(element, report, range));
}

/** A number whose absence means something. */
export function optionalInteger(range: Range = {}): Field<number | undefined> {
  return scalar<number | undefined>(undefined, (element, report) => readInteger(element, report, range));
}

/** A number above `max` becomes `max` with a warning. */
export function clampedInteger(initial: number, limits: { readonly min: number; readonly max: number }): Field<number> {
  return scalar(initial, (element, report) =>
    clamp(readInteger(element, report, { min: limits.min }), limits.max, element, report),
  );
}

/** Seconds. */
export function duration(initial: number, range: Range = {}): Field<number> {
  return scalar(initial, (element, report) => readDuration(element, report, range));
}

/** Bytes. */
export function size(initial: number, allowed: (bytes: number) => boolean): Field<number> {
  return scalar(initial, (element, report) => {
    const value = parseSize(requireText(element, report));
    if (value === undefined || !allowed(value)) {
      throw report.invalidValue(element);
    }
    return value;
  });
}

/** A text that is not empty. */
export function text(initial: string): Field<string> {
  return scalar(initial, requireText);
}

/** A text whose absence means something; it is not empty where it is given. */
export function optionalText(): Field<string | undefined> {
  return scalar<string | undefined>(undefined, requireText);
}

/** A text that may be empty. */
export function freeText(initial = ''): Field<string> {
  return scalar(initial, (element) => element.content);
}

/**
 * An address in the web whose absence means something.
 * @param schemes without colon
 */
export function webAddress(...schemes: readonly string[]): Field<string | undefined> {
  return scalar<string | undefined>(undefined, (element, report) => readWebAddress(element, report, schemes));
}

/** An address in the web. @throws ConfigError (1234), (1235) */
export function readWebAddress(element: XmlElement, report: ConfigReport, schemes: readonly string[]): string {
  const value = requireText(element, report);
  const url = URL.canParse(value.trim()) ? new URL(value.trim()) : undefined;
  if (url === undefined || !schemes.some((scheme) => url.protocol === `${scheme}:`)) {
    throw report.invalidValue(element);
  }
  return value;
}

/** Name or address of a host whose absence means something. */
export function hostName(): Field<string | undefined> {
  return scalar<string | undefined>(undefined, (element, report) => {
    const value = requireText(element, report);
    if (!isAddress(value.trim()) && !HOST_NAME.test(value.trim())) {
      throw report.invalidValue(element);
    }
    return value;
  });
}

/** One of the words, exactly. */
export function oneOf<W extends string>(initial: W, words: readonly W[]): Field<W> {
  return scalar(initial, (element, report) => {
    const value = requireText(element, report);
    const word = words.find((candidate) => candidate === value);
    if (word === undefined) {
      throw report.invalidValue(element);
    }
    return word;
  });
}

/** One IPv4 or IPv6 address. */
export function address(): Field<string | undefined> {
  return scalar<string | undefined>(undefined, (element, report) => {
    const value = requireText(element, report);
    if (!isAddress(value)) {
      throw report.invalidAddress(element, value);
    }
    return value;
  });
}

/** `value`, or `max` with a warning when it is larger. */
export function clamp(value: number, max: number, element: XmlElement, report: ConfigReport): number {
  if (value <= max) {
    return value;
  }
  report.warn(
    element,
    `Value ${String(value)} of element '${element.name}' is above the limit; ${String(max)} is used.`,
  );
  return max;
}

function within(value: number, range: Range): boolean {
  return value >= (range.min ?? 0) && value <= (range.max ?? Number.MAX_SAFE_INTEGER);
}

/** A pattern of a language, as written. @throws ConfigError (1235) saying why the text is none */
export function readPattern(language: PatternLanguage, element: XmlElement, report: ConfigReport): string {
  const text = requireText(element, report);
  const problem = patternProblem(language, text);
  if (problem !== undefined) {
    throw report.error(element, 1235, `Invalid value for element '${element.name}': ${text}: ${problem}.`);
  }
  return text;
}
