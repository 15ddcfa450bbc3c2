/** Guard bits that take up the rounding of the series. */
const GUARD_BITS = 64n;

/**
 * The first words of the fraction of pi, 32 bits each: Blowfish defines its tables by them. They are computed (some
 * 30 ms for Blowfish's 1042 words), which a test compares with published vectors, and not written down.
 */
export function piWords(count: number): Int32Array {
  const bits = BigInt(count) * 32n;
  const one = 1n << (bits + GUARD_BITS);
  // Machin: pi/4 = 4 arctan(1/5) - arctan(1/239).
  const pi = (4n * (4n * inverseTangent(one, 5n) - inverseTangent(one, 239n))) >> GUARD_BITS;
  const fraction = pi & ((1n << bits) - 1n);
  const hex = fraction.toString(16).padStart(count * 8, '0');
  return Int32Array.from({ length: count }, (_, index) => parseInt(hex.slice(index * 8, index * 8 + 8), 16) | 0);
}

/** arctan(1/x), as a fixed-point number with `one` for 1. */
function inverseTangent(one: bigint, x: bigint): bigint {
  const square = x * x;
  let power = one / x;
  let sum = power;
  for (let divisor = 3n, sign = -1n; power > 0n; divisor += 2n, sign = -sign) {
    power /= square;
    sum += (sign * power) / divisor;
  }
  return sum;
}
