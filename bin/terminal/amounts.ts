/** An amount, or `-` where there is none. */
export function amount(value: number | undefined): string {
  return value === undefined ? '-' : number(value);
}

/** With separators for thousands, and a decimal where it says something. */
export function number(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 10 ? 1 : 0 });
}

/** Bytes with their unit, `1.2 KiB`. */
export function size(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let [value, unit] = [bytes, 0];
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return `${unit === 0 ? String(value) : value.toFixed(1)} ${units[unit] ?? ''}`;
}
