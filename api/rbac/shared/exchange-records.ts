import { isDeepStrictEqual } from 'node:util';
import { MAX_BUILT_IN_ID } from '../../../lib/cluster/access-records.js';
import type { RecordChange } from '../../../lib/cluster/shared-records.js';
import type { TokenKeyPair } from '../../../lib/security/token-keys.js';
import type { SecurityConfiguration } from '../../auth/security-settings.js';
import { type ObjectChange, putObject, removeObject } from '../access-decisions.js';
import type { RbacStore } from '../rbac-store.js';
import type { RbacObject, RbacTable } from '../rbac-table.js';
import type { SecurityBackup, SecurityObjects } from '../security-backup.js';
import {
  numbersRecordOf,
  objectRecord,
  revocationRecordOf,
  settingsRecordOf,
  tokenKeyRecordOf,
} from './access-codec.js';
import { numbersWith } from './decision-records.js';

export type ExchangeParts = {
  /** That was checked. */
  readonly backup: SecurityBackup;
  readonly tokenKeys: TokenKeyPair;
  readonly store: RbacStore;
  /** Settings in force. */
  readonly current: SecurityConfiguration;
};

/** Objects of one kind that are to be others. */
type Exchange<T> = {
  readonly changed: readonly T[];
  readonly gone: readonly T[];
  readonly touched: ReadonlySet<number>;
};

/**
 * Everything of a backup instead of what there is, as changes of records that others may see a beginning of, and of which a
 * node that is killed leaves one. Meanwhile only what is allowed is allowed, whoever is concerned has no roles and roles that
 * are concerned allow nothing: at no moment may anybody more than before or afterwards. Built-in users keep the built-in role
 * of administrators, so that it can be done again.
 */
export function exchangeRecords({ backup, tokenKeys, store, current }: ExchangeParts): RecordChange[] {
  const { objects } = backup;
  const policies = exchange(store.policies, objects.policies);
  const rules = exchange(store.rules, objects.rules);
  const isConcerned = (role: SecurityObjects['roles'][number]): boolean =>
    role.policies.some((id) => policies.touched.has(id)) || role.rules.some((id) => rules.touched.has(id));
  const roles = exchange(store.roles, objects.roles, isConcerned);
  const users = exchange(store.users, objects.users);

  const revision = store.revision + 1;
  const all: ObjectChange[] = [
    ...users.gone.map(({ id }) => removeObject('users', id)),
    // With no role: it gets those of the backup when they are what the backup says.
    ...store.users
      .some(users.changed.map(({ id }) => id))
      .filter(({ id, roles: own }) => id > MAX_BUILT_IN_ID && own.length > 0)
      .map((user) => putObject('users', { ...user, roles: [] })),
    ...store.roles.all().flatMap((role) => (roles.touched.has(role.id) ? emptied(role) : [])),
    ...policies.gone.map(({ id }) => removeObject('policies', id)),
    ...rules.gone.map(({ id }) => removeObject('rules', id)),
    ...policies.changed.map((policy) => putObject('policies', policy)),
    ...rules.changed.map((rule) => putObject('rules', rule)),
    ...roles.changed.map((role) => putObject('roles', role)),
    ...users.changed.map((user) => putObject('users', user)),
    ...roles.gone.map(({ id }) => removeObject('roles', id)),
  ];
  const numbers = numbersWith(store, all, revision);
  const { auth_token_exp_timeout: tokenLifetimeSeconds, rbac_mode: rbacMode } = backup.settings;
  return [
    settingsRecordOf({ ...current, rbacMode: 'white' }),
    tokenKeyRecordOf(tokenKeys),
    revocationRecordOf('all', revision),
    ...(numbers === undefined ? [] : [numbersRecordOf(numbers)]),
    ...all.map((change) => objectRecord(change, revision)),
    // Whoever has logged in meanwhile does it again.
    revocationRecordOf('all', revision + 1),
    settingsRecordOf({ tokenLifetimeSeconds, rbacMode }),
  ];
}

/** @param isConcerned objects that are as wanted, and may not be in force meanwhile */
function exchange<T extends RbacObject>(
  table: RbacTable<T>,
  wanted: readonly T[],
  isConcerned: (object: T) => boolean = () => false,
): Exchange<T> {
  const kept = new Set(wanted.map(({ id }) => id));
  const gone = table.all().filter(({ id }) => !kept.has(id));
  const changed = wanted.filter((object) => {
    const there = table.get(object.id);
    return !isDeepStrictEqual(there, object) || isConcerned(object);
  });
  return { changed, gone, touched: new Set([...changed, ...gone].map(({ id }) => id)) };
}

/** A role that allows nothing, and is given by no rule of somebody's own. */
function emptied(role: SecurityObjects['roles'][number]): ObjectChange[] {
  const isBuiltIn = role.id <= MAX_BUILT_IN_ID;
  const rules = isBuiltIn ? role.rules.filter((id) => id <= MAX_BUILT_IN_ID) : [];
  const policies = isBuiltIn ? role.policies : [];
  if (rules.length === role.rules.length && policies.length === role.policies.length) return [];
  return [putObject('roles', { ...role, policies, rules })];
}
