import { ACTIONS } from './action-catalogue.js';

/**
 * Which resources a caller has to be allowed an action on:
 * - `none`: the action concerns no resource;
 * - `parameter`: those that a parameter names; without it, or with `all` in a list that takes it, all there are;
 * - `all`: all there are, of which those that are not allowed are left out silently;
 * - `files`: the same, and refused when none is allowed;
 * - `this-node`: this node of the cluster.
 */
export type RequirementSource =
  | { readonly kind: 'none' | 'all' | 'files' | 'this-node' }
  | { readonly kind: 'parameter'; readonly name: string; readonly isList: boolean; readonly takesAll: boolean };

/** Actions that an operation needs on resources of one kind (rest-api.md 5.2, 5.4). */
export type Requirement = {
  readonly actions: readonly string[];
  /** Kind of the resources, for example `group:id`; agents are `agent:id`, also where a policy names their groups. */
  readonly resource: string;
  readonly source: RequirementSource;
};

/** What the contract says of an operation, as far as it concerns permissions. */
export type DeclaredOperation = {
  readonly method: string;
  /** `x-rbac-actions`. */
  readonly actions: readonly string[];
  readonly parameters: readonly {
    readonly name: string;
    readonly schema: Readonly<Record<string, unknown>>;
    /** `x-rbac-resources`: kinds of resources that the parameter names; the action says which of them is meant. */
    readonly resources: readonly string[];
  }[];
};

/** How handlers call what they may use of a kind of resources (`Operations`). */
const NAMES: Readonly<Record<string, string>> = {
  'agent:id': 'agents',
  'group:id': 'groups',
  'node:id': 'nodes',
  'decoder:file': 'files',
  'list:file': 'files',
  'rule:file': 'files',
  'policy:id': 'policies',
  'role:id': 'roles',
  'rule:id': 'rules',
  'user:id': 'users',
};

/**
 * What callers of an operation have to be allowed, by its declaration in the contract: a parameter that names resources of an
 * action's kind says which ones, without one all of them are meant.
 * @throws Error for an action that is not in the catalogue: a broken contract
 */
export function requirementsOf(operation: DeclaredOperation): readonly Requirement[] {
  const merged = new Map<string, Requirement>();
  for (const requirement of operation.actions.flatMap((action) => requirementsOfAction(operation, action))) {
    const { resource, source } = requirement;
    const key = `${resource} ${source.kind === 'parameter' ? source.name : ''}`;
    const actions = [...(merged.get(key)?.actions ?? []), ...requirement.actions];
    merged.set(key, { ...requirement, actions });
  }
  return [...merged.values()];
}

/** Kind of the resources that an action is about, `*:*` for none (rest-api.md 5.4). @throws Error for an action that is not in the catalogue */
export function kindOf(action: string): string {
  const kind = ACTIONS[action]?.[1][0];
  if (kind === undefined) throw new Error(`contract: the action ${action} is not known`);
  return kind;
}

/** What handlers call the resources of a requirement; undefined where there is nothing to hand over. */
export function permittedName({ resource, source }: Requirement): string | undefined {
  return source.kind === 'this-node' ? undefined : NAMES[resource];
}

function requirementsOfAction(operation: DeclaredOperation, action: string): Requirement[] {
  const first = kindOf(action);
  if (first === '*:*') return [{ actions: [action], resource: first, source: { kind: 'none' } }];
  const named = operation.parameters.flatMap(({ name, schema, resources }): Requirement[] => {
    const resource = resources.find((kind) => ACTIONS[action]?.[1].includes(kind));
    if (resource === undefined) return [];
    return [{ actions: [action], resource, source: { kind: 'parameter', name, ...shapeOf(operation, schema) } }];
  });
  if (named.length > 0) return named;
  return [{ actions: [action], resource: first, source: { kind: sourceWithoutParameter(first) } }];
}

function sourceWithoutParameter(resource: string): 'all' | 'files' | 'this-node' {
  if (resource === 'node:id') return 'this-node';
  return resource.endsWith(':file') ? 'files' : 'all';
}

/** Who makes links names what to link: `all` is no id, and not taken for all there are. */
function shapeOf({ method }: DeclaredOperation, { type, items }: Readonly<Record<string, unknown>>) {
  const format: unknown = typeof items === 'object' && items !== null && 'x-format' in items ? items['x-format'] : '';
  return { isList: type === 'array', takesAll: method !== 'POST' && String(format).endsWith('_or_all') };
}
