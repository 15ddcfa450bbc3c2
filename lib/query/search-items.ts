import type { ListItem } from './field-values.js';

/**
 * Items that contain the text in any value, nested ones too, whatever the case; with a leading `-` those that do not
 * (rest-api.md 4.1).
 */
export function searchItems<T extends ListItem>(items: readonly T[], search: string): T[] {
  const complement = search.startsWith('-');
  const wanted = (complement ? search.slice(1) : search).toLowerCase();
  return items.filter((item) => contains(item, wanted) !== complement);
}

function contains(value: unknown, wanted: string): boolean {
  if (typeof value === 'string') return value.toLowerCase().includes(wanted);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value).includes(wanted);
  if (Array.isArray(value)) return value.some((item) => contains(item, wanted));
  if (typeof value !== 'object' || value === null) return false;
  for (const key of Object.keys(value)) {
    if (contains((value as Record<string, unknown>)[key], wanted)) return true;
  }
  return false;
}
