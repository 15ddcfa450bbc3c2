/** Characters that a JSON string cannot hold as they are. */
const NEEDS_ESCAPE = /[\u0000-\u001f"\\]/;

/** The text as a JSON string. Byte strings stay byte strings: bytes above 0x7f pass, `/` is not escaped. */
export function jsonString(text: string): string {
  // JSON.stringify writes the short escapes and \u00xx in lower case, as the reference does
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
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
  const short = general(value, 15);
  return Number(short) === value ? short : general(value, 17);
}

/** C's `%.<precision>g`. */
function general(value: number, precision: number): string {
  const [mantissa = '', exponentText = '0'] = value.toExponential(precision - 1).split('e');
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= precision) {
    const sign = exponent < 0 ? '-' : '+';
    return `${withoutTrailingZeros(mantissa)}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  return withoutTrailingZeros(value.toFixed(precision - 1 - exponent));
}

function withoutTrailingZeros(digits: string): string {
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits;
}
