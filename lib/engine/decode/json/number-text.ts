/**
 * Text of a number as a field's value (decoding.md 4.8): `%i` when it equals its 32-bit integer, else `%f`.
 */
export function fieldNumberText(value: number): string {
  return isInt32(value) ? String(value | 0) : fixedSix(value);
}

function isInt32(value: number): boolean {
  return value === (value | 0);
}

/** C's `%f`: exact decimal value, six places, ties to even. */
function fixedSix(value: number): string {
  if (!Number.isFinite(value)) {
    return value > 0 ? 'inf' : '-inf';
  }
  const size = Math.abs(value);
  const sign = value < 0 ? '-' : '';
  if (size >= 1e21) {
    return `${sign}${BigInt(size).toString()}.000000`;
  }
  // Half of the last place is a multiple of 1/128; JS rounds such a tie up, C to even.
  const scaled = size * 128;
  if (!Number.isInteger(scaled) || scaled % 2 === 0) {
    return value.toFixed(6);
  }
  let places = (BigInt(scaled) * 15625n) >> 1n;
  places += places & 1n;
  const digits = places.toString().padStart(7, '0');
  return `${sign}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}
