/** Seconds of each time suffix (daemons-and-config.md, conventions). */
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86400, w: 604800 };
/** Bytes of each size suffix. */
const BYTES: Readonly<Record<string, number>> = { B: 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

/**
 * Decimal digits as a number, or undefined for anything else. Longer than 15 digits is refused: it would not be exact.
 * @param signed also accepts a leading `-`
 */
export function parseDigits(text: string, signed = false): number | undefined {
  return (signed ? /^-?\d{1,15}$/ : /^\d{1,15}$/).test(text) ? Number(text) : undefined;
}

/** `90`, `15m`, `1h` in seconds; undefined when it is not a time. Suffixes: s m h d w. */
export function parseDuration(text: string): number | undefined {
  return parseWithUnit(text, SECONDS);
}

/** `10M`, `4096`, `1G` in bytes; undefined when it is not a size. Suffixes: B K M G, each optionally followed by `B`. */
export function parseSize(text: string): number | undefined {
  return parseWithUnit(text.replace(/(?<=[KMG])B$/, ''), BYTES);
}

function parseWithUnit(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const match = /^(\d{1,15})([A-Za-z]?)$/.exec(text);
  if (match === null) {
    return undefined;
  }
  const suffix = match[2] ?? '';
  const factor = suffix === '' ? 1 : Object.hasOwn(units, suffix) ? units[suffix] : undefined;
  if (factor === undefined) {
    return undefined;
  }
  const value = Number(match[1]) * factor;
  return Number.isSafeInteger(value) ? value : undefined;
}

/**
 * Sizes of the FIM diff limits in kilobytes (integrity-and-inventory.md 2.4): digits alone are KB, suffixes KB MB GB TB in
 * any case, at least 1; too large becomes 2147483647. Undefined when it is not such a size.
 */
export function parseKilobytes(text: string): number | undefined {
  const match = /^(\d{1,15})(?:([A-Za-z])B)?$/i.exec(text);
  if (match === null) {
    return undefined;
  }
  const power = { M: 1, G: 2, T: 3 }[(match[2] ?? 'K').toUpperCase()] ?? 0;
  const value = Number(match[1]) * 1024 ** power;
  return value < 1 ? undefined : Math.min(value, 2147483647);
}

/** Words of a comma list, trimmed, without empty ones. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
