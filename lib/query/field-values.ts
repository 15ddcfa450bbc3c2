import { isObject } from '../json/is-object.js';
/** Anything a list shows: an object, or a bare text or number. */
export type ListItem = unknown;

/** A field name taken apart once, for looking into many items. */
export type FieldPath = { readonly name: string; readonly steps: readonly string[] };

export function fieldPath(name: string): FieldPath {
  return { name, steps: name.split('.') };
}

/** Value of a member, own properties only: names come from outside. */
export function ownMember(value: unknown, name: string): unknown {
  if (!isObject(value)) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/** The value a name leads to: a member of exactly that name, or nested ones. Undefined when there is none. */
export function fieldValue(item: ListItem, path: FieldPath): unknown {
  const direct = ownMember(item, path.name);
  if (direct !== undefined || path.steps.length === 1) return direct;
  let value: unknown = item;
  for (const step of path.steps) {
    value = ownMember(value, step);
    if (value === undefined) return undefined;
  }
  return value;
}

/**
 * Calls `test` with every plain value the name leads to, walking into lists, until one is true.
 * @returns whether one was; false when there is no such value
 */
export function someFieldValue(item: ListItem, path: FieldPath, test: (value: string | number | boolean) => boolean) {
  const direct = ownMember(item, path.name);
  return direct === undefined ? walk(item, path.steps, 0, test) : walk(direct, path.steps, path.steps.length, test);
}

function walk(
  value: unknown,
  steps: readonly string[],
  depth: number,
  test: (value: string | number | boolean) => boolean,
): boolean {
  if (Array.isArray(value)) return value.some((item) => walk(item, steps, depth, test));
  const step = steps[depth];
  if (step === undefined) {
    return (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') && test(value);
  }
  const member = ownMember(value, step);
  return member !== undefined && walk(member, steps, depth + 1, test);
}
