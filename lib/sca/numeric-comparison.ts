/** ` compare ` of a numeric minterm, with what stands behind it. */
const COMPARE = ' compare ';
/** Digits of a number that is compared: more are no setting of any program. */
const MOST_DIGITS = 64;

const OPERATORS = {
  '<': (left: bigint, right: bigint) => left < right,
  '<=': (left: bigint, right: bigint) => left <= right,
  '=': (left: bigint, right: bigint) => left === right,
  '!=': (left: bigint, right: bigint) => left !== right,
  '>=': (left: bigint, right: bigint) => left >= right,
  '>': (left: bigint, right: bigint) => left > right,
};

/** What stands behind `n:` (integrity-and-inventory.md 10.3). */
export type NumericComparison = {
  /** With a group around the number; a byte string. */
  readonly regex: string;
  readonly holds: (value: bigint) => boolean;
};

/**
 * Reads `<regex> compare <operator> <integer>`.
 * @returns what is wrong as a text
 */
export function readComparison(text: string): NumericComparison | string {
  const at = text.indexOf(COMPARE);
  if (at < 0) return `there is no '${COMPARE.trim()}'`;
  const condition = text.slice(at + COMPARE.length).trim();
  const operator = operatorOf(condition);
  if (operator === undefined) return `'${condition}' has no operator: <, <=, =, ==, !=, >= or >`;
  const digits = /\d+/.exec(condition)?.[0];
  if (digits === undefined || digits.length > MOST_DIGITS) return `'${condition}' has no number to compare with`;
  const wanted = BigInt(digits);
  return { regex: text.slice(0, at), holds: (value) => OPERATORS[operator](value, wanted) };
}

/** In the order in which the reference looks for them. */
function operatorOf(text: string): keyof typeof OPERATORS | undefined {
  if (text.startsWith('=')) return '=';
  return (['!=', '<=', '>=', '<', '>'] as const).find((operator) => text.includes(operator));
}

/** The integer that a text begins with; undefined without one. */
export function readInteger(text: string): bigint | undefined {
  const found = /^\s*([+-]?)(\d+)/.exec(text);
  const [, sign, digits = ''] = found ?? [];
  if (found === null || digits.length > MOST_DIGITS) return undefined;
  return sign === '-' ? -BigInt(digits) : BigInt(digits);
}
