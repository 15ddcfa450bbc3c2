/** What stands for a value that is not known (integrity-and-inventory.md 11.2). */
export const UNKNOWN = ' ';

/** A text, or that it is not known. */
export function known(text: string | undefined): string {
  return text === undefined || text === '' ? UNKNOWN : text;
}

/** A whole number in digits; 0 for anything else. */
export function count(text: string | undefined): number {
  const number = Number(text ?? '0');
  return Number.isSafeInteger(number) && number >= 0 ? number : 0;
}

/** A text of a document that somebody else wrote; empty for any other value. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value, or nothing. */
export function orNone<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}
