/** Characters that a JSON string cannot hold as they are. */
const NEEDS_ESCAPE = /[\u0000-\u001f"\\]/;

/** The text as a JSON string. Byte strings stay byte strings: bytes above 0x7f pass, `/` is not escaped. */
export function jsonString(text: string): string {
  // JSON.stringify writes the short escapes and \u00xx in lower case, as the reference does
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** The text as it stands between the quotes of a JSON string; the same object where nothing is escaped. */
export function escapeJson(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}

/** A JSON array of strings. */
export function jsonStrings(texts: readonly string[]): string {
  return `[${texts.map(jsonString).join(',')}]`;
}

/**
 * A number as the reference prints it: integers of 32 bits plainly, others with 15 significant digits, or 17 when that
 * does not give the same number back.
 */
export function jsonNumber(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  if (Number.isInteger(value) && Math.abs(value) <= 0x7fffffff) return String(value);
  return ofFewDigits(value) ?? ofManyDigits(value);
}

const ZERO = 0x30;
const DOT = 0x2e;
/** Digits that each normal number keeps when it is read as a double and printed again (C's DBL_DIG). */
const KEPT_DIGITS = 15;
/** Numbers nearer to 0 have fewer digits than the others. */
const LEAST_NORMAL = 2.2250738585072014e-308;

/**
 * `%.15g` of a number that has no more digits than that: these are its shortest ones, which cost a fraction of the
 * others. Undefined for other numbers.
 */
function ofFewDigits(value: number): string | undefined {
  const size = Math.abs(value);
  if (size < LEAST_NORMAL) return undefined;
  const text = size.toExponential();
  const e = text.indexOf('e');
  if (e > KEPT_DIGITS + 1) return undefined;
  const exponent = Number(text.slice(e + 1));
  const sign = value < 0 ? '-' : '';
  if (exponent < -4 || exponent >= KEPT_DIGITS) return sign + withExponent(text.slice(0, e), exponent);
  // Of this size JavaScript writes no exponent, but up to 1e-7.
  return String(value);
}

/** A number that needs 16 digits or more; those next to 0 may do with fewer, which only a trial tells. */
function ofManyDigits(value: number): string {
  if (Math.abs(value) < LEAST_NORMAL) {
    const short = general(value, KEPT_DIGITS);
    if (Number(short) === value) return short;
  }
  return general(value, 17);
}

/** C's `%.<precision>g`. */
function general(value: number, precision: number): string {
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 10 ** precision) {
    // JavaScript rounds up to the next power of ten as C does, and writes an exponent only then.
    const text = value.toPrecision(precision);
    if (!text.includes('e')) return withoutTrailingZeros(text);
  }
  const [mantissa = '', exponentText = '0'] = value.toExponential(precision - 1).split('e');
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= precision) return withExponent(withoutTrailingZeros(mantissa), exponent);
  return withoutTrailingZeros(value.toFixed(precision - 1 - exponent));
}

function withExponent(mantissa: string, exponent: number): string {
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function withoutTrailingZeros(digits: string): string {
  if (!digits.includes('.')) return digits;
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === ZERO) end -= 1;
  if (digits.charCodeAt(end - 1) === DOT) end -= 1;
  return digits.slice(0, end);
}
