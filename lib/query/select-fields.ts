import { type ListItem, ownMember } from './field-values.js';
import { QueryError } from './query-error.js';

export type SelectOptions = {
  /** Fields the list knows; without them an item that has none of the requested fields is refused. */
  readonly allowed?: readonly string[];
  /** Fields that stay whatever is selected. */
  readonly mandatory?: readonly string[];
};

type Tree = Map<string, Tree | undefined>;

/**
 * Items with the selected fields only (rest-api.md 4.5). Nested fields are named with dots and stay nested; absent and
 * null ones are left out.
 * @throws QueryError 1724
 */
export function selectFields(
  items: readonly ListItem[],
  fields: readonly string[],
  options: SelectOptions = {},
): Record<string, unknown>[] {
  const refuse = (): never => {
    throw new QueryError(1724, { extra: [...new Set(fields.map(topName))].join(', ') });
  };
  const { allowed, mandatory = [] } = options;
  if (allowed !== undefined && fields.some((field) => !allowed.includes(field) && !allowed.includes(topName(field)))) {
    refuse();
  }
  const tree = fieldTree([...mandatory, ...fields]);
  const requested = fieldTree(fields);
  return items.map((item) => {
    if (allowed === undefined && Object.keys(pick(item, requested)).length === 0) refuse();
    return pick(item, tree);
  });
}

function topName(field: string): string {
  return field.split('.', 1)[0] ?? field;
}

function fieldTree(fields: readonly string[]): Tree {
  const tree: Tree = new Map();
  for (const field of fields) {
    // The full name first: a member may have dots in its name.
    let branch = tree;
    const steps = field.split('.');
    for (const [index, step] of steps.entries()) {
      if (index === steps.length - 1) {
        branch.set(step, undefined);
        break;
      }
      const known = branch.get(step);
      if (branch.has(step) && known === undefined) break;
      const next: Tree = known ?? new Map();
      branch.set(step, next);
      branch = next;
    }
    if (steps.length > 1) tree.set(field, undefined);
  }
  return tree;
}

function pick(item: unknown, tree: Tree): Record<string, unknown> {
  const result = Object.create(null) as Record<string, unknown>;
  for (const [name, branch] of tree) {
    const value = ownMember(item, name);
    if (value === undefined || value === null) continue;
    const picked = branch === undefined ? value : pickNested(value, branch);
    if (picked !== undefined) result[name] = picked;
  }
  return result;
}

function pickNested(value: unknown, tree: Tree): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => pickNested(item, tree)).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  const picked = pick(value, tree);
  return Object.keys(picked).length === 0 ? undefined : picked;
}
