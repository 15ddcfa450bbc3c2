import { isDeepStrictEqual } from 'node:util';
import { DEFAULT_POLICIES, DEFAULT_ROLES } from './default-objects.js';
import type { Policy, Role } from './rbac-model.js';

/** Built-in policies that stores, backups and clusters of earlier versions do not have. */
const LATER: ReadonlySet<number> = new Set([36]);
const NOW: ReadonlyMap<number, readonly number[]> = new Map(DEFAULT_ROLES.map(({ id, policies }) => [id, policies]));

/** Built-in policies that are missing among those of an earlier version. */
export function laterPolicies(there: readonly Policy[]): readonly Policy[] {
  const ids = new Set(there.map(({ id }) => id));
  return DEFAULT_POLICIES.filter(({ id }) => LATER.has(id) && !ids.has(id));
}

/** A built-in role that is as an earlier version had it, as it is now: rules that are linked to it stay. Any other is left alone. */
export function roleNow(role: Role): Role {
  const now = NOW.get(role.id);
  if (now === undefined) return role;
  const before = now.filter((policy) => !LATER.has(policy));
  const isEarlier = before.length < now.length && isDeepStrictEqual(role.policies, before);
  return isEarlier ? { ...role, policies: [...now] } : role;
}
