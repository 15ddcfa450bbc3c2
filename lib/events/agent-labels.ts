/** Marks a label that is only shown on demand. */
const HIDDEN = '!';
/** Marks a label of the system, which is never shown. */
const SYSTEM = '_';

/** Whether a label belongs to the user; system labels count for nothing (rules-and-alerts.md 7.3). */
export function isUserLabel(name: string): boolean {
  return !name.startsWith(SYSTEM);
}

/**
 * Name of a label as alerts show it, or undefined when they do not. A label that its agent declares hidden carries a `!`
 * before its name.
 */
export function visibleLabel(name: string, showHidden: boolean): string | undefined {
  if (name.startsWith(SYSTEM)) return undefined;
  if (!name.startsWith(HIDDEN)) return name;
  return showHidden ? name.slice(1) : undefined;
}
