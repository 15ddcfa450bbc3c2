import { isDeepStrictEqual } from 'node:util';
import { type GivenNumbers, MAX_BUILT_IN_ID } from '../../../lib/cluster/access-records.js';
import { type ObjectChange, type ObjectKind, putObject } from '../access-decisions.js';
import { canonicalText } from '../canonical-text.js';
import { MOST_OBJECTS } from '../most-objects.js';
import type { RbacObject } from '../rbac-table.js';
import type { SecurityObjects } from '../security-backup.js';

/** Bytes of an object as JSON that a record has room for, with what is around it. */
const MAX_OBJECT_BYTES = 200 * 1024;

/** An object of this manager that the cluster has under another id. */
export type MovedObject = {
  readonly kind: ObjectKind;
  readonly name: string;
  readonly from: number;
  readonly to: number;
};
type NamedObject = { readonly kind: ObjectKind; readonly name: string };

/** What users, roles, policies and rules of a manager come to in a cluster that it joins. */
export type MergedObjects = {
  /** What the cluster does not have, with ids and links as they are there. */
  readonly brought: readonly ObjectChange[];
  readonly moved: readonly MovedObject[];
  /** The cluster has another of the name, which holds. */
  readonly overruled: readonly NamedObject[];
  /** There is no room for them. */
  readonly leftOut: readonly NamedObject[];
};

type KindMerge<T> = {
  readonly brought: readonly T[];
  /** Ids in the cluster by ids of this manager. */
  readonly ids: ReadonlyMap<number, number>;
  /** Those that have the name of one of the cluster, with it. */
  readonly twins: readonly (readonly [own: T, there: T])[];
  readonly leftOut: readonly T[];
};

/** Names are what both know objects by: where the cluster has one of a name, it holds, and links lead to it. */
export function mergeObjects(own: SecurityObjects, there: SecurityObjects, numbers: GivenNumbers): MergedObjects {
  const policies = mergeKind(own.policies, there.policies, numbers.policies, ({ policy }) => canonicalText(policy));
  const rules = mergeKind(own.rules, there.rules, numbers.rules, ({ rule }) => canonicalText(rule));
  const roles = mergeKind(own.roles, there.roles, numbers.roles);
  const users = mergeKind(own.users, there.users, numbers.users);
  const roleHere = (role: SecurityObjects['roles'][number]) => ({
    ...role,
    policies: linksIn(role.policies, policies),
    rules: linksIn(role.rules, rules),
  });
  const userHere = (user: SecurityObjects['users'][number]) => ({ ...user, roles: linksIn(user.roles, roles) });
  const merges = { policies, rules, roles, users };
  return {
    brought: [
      ...policies.brought.map((one) => putObject('policies', moved(one, policies))),
      ...rules.brought.map((one) => putObject('rules', moved(one, rules))),
      ...roles.brought.map((one) => putObject('roles', moved(roleHere(one), roles))),
      ...users.brought.map((one) => putObject('users', moved(userHere(one), users))),
    ],
    moved: named(merges, ({ ids, brought, twins }) =>
      [...brought, ...twins.map(([one]) => one)].filter(({ id }) => ids.get(id) !== id),
    ).map(({ kind, name, id }) => ({ kind, name, from: id, to: merges[kind].ids.get(id) ?? id })),
    overruled: [
      ...overruled('policies', policies, (one) => one),
      ...overruled('rules', rules, (one) => one),
      ...overruled('roles', roles, roleHere),
      ...overruled('users', users, userHere),
    ],
    leftOut: named(merges, ({ leftOut }) => leftOut),
  };
}

/** @param saying what an object says, where none may say the same as another, whatever their names */
function mergeKind<T extends RbacObject>(
  own: readonly T[],
  there: readonly T[],
  given: number,
  saying?: (object: T) => string,
): KindMerge<T> {
  const byId = new Map(there.map((object) => [object.id, object]));
  const byName = new Map(there.map((object) => [object.name, object]));
  const bySaying = new Map(saying === undefined ? [] : there.map((object) => [saying(object), object]));
  const ids = new Map<number, number>();
  const twins: (readonly [T, T])[] = [];
  const missing: T[] = [];
  for (const object of own) {
    const isBuiltIn = object.id <= MAX_BUILT_IN_ID;
    const twin = isBuiltIn ? byId.get(object.id) : (byName.get(object.name) ?? bySaying.get(saying?.(object) ?? ''));
    if (twin === undefined) {
      missing.push(object);
    } else {
      ids.set(object.id, twin.id);
      twins.push([object, twin]);
    }
  }
  const fitting = missing.filter((object) => Buffer.byteLength(JSON.stringify(object)) <= MAX_OBJECT_BYTES);
  const brought = fitting.slice(0, Math.max(0, MOST_OBJECTS - there.length));
  const isBrought = new Set(brought);
  const leftOut = missing.filter((object) => !isBrought.has(object));
  let highest = Math.max(MAX_BUILT_IN_ID, given, ...there.map(({ id }) => id));
  const staysFree = ({ id }: T): boolean => id <= MAX_BUILT_IN_ID || id > highest;
  const staying = brought.filter(staysFree);
  const leaving = brought.filter((object) => !staysFree(object));
  for (const { id } of staying) ids.set(id, id);
  highest = Math.max(highest, ...staying.map(({ id }) => id));
  for (const { id } of leaving) {
    highest += 1;
    ids.set(id, highest);
  }
  return { brought, ids, twins, leftOut };
}

function moved<T extends RbacObject>(object: T, { ids }: KindMerge<T>): T {
  return { ...object, id: ids.get(object.id) ?? object.id };
}

/** Each once: two of this manager may be one in the cluster. */
function linksIn<T>(links: readonly number[], { ids }: KindMerge<T>): number[] {
  return [...new Set(links.flatMap((id) => ids.get(id) ?? []))];
}

function overruled<T extends RbacObject>(
  kind: ObjectKind,
  { twins }: KindMerge<T>,
  here: (own: T) => T,
): NamedObject[] {
  return twins
    .filter(([own, there]) => !isDeepStrictEqual({ ...here(own), id: there.id }, there))
    .map(([{ name }]) => ({ kind, name }));
}

type Merges = Readonly<Record<ObjectKind, KindMerge<RbacObject>>>;

function named(
  merges: Merges,
  choose: (merge: KindMerge<RbacObject>) => readonly RbacObject[],
): (NamedObject & { readonly id: number })[] {
  return (Object.keys(merges) as ObjectKind[]).flatMap((kind) =>
    choose(merges[kind]).map(({ id, name }) => ({ kind, id, name })),
  );
}
