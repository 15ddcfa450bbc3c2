import type { GivenNumbers } from '../../../lib/cluster/access-records.js';
import type { RecordChange } from '../../../lib/cluster/shared-records.js';
import { DEFAULT_SECURITY_SETTINGS } from '../../auth/security-settings.js';
import { type AccessDecision, type ObjectChange, type ObjectKind, putObject } from '../access-decisions.js';
import type { RevocationKey } from '../rbac-model.js';
import type { RbacStore } from '../rbac-store.js';
import {
  numbersRecordOf,
  objectRecord,
  revocationRecordOf,
  settingsRecordOf,
  tokenKeyRecordOf,
} from './access-codec.js';

/** What is linked comes before what links to it; what goes, the other way round. */
const ORDER: readonly ObjectKind[] = ['policies', 'rules', 'roles', 'users'];

/**
 * A decision as changes of records. Of those of one decision others may see a beginning, and a node that is killed leaves
 * one: what is made or changed comes first, then that no number is given again, then what goes. So nothing is ever linked to
 * what is not there, and no id or revocation is forgotten with an object.
 */
export function decisionRecords(decision: Omit<AccessDecision<unknown>, 'result'>, store: RbacStore): RecordChange[] {
  const { changes = [], revoked = [], settings, tokenKeys } = decision;
  const revision = store.revision + (revoked.length > 0 ? 1 : 0);
  const ends = new Set<string>(revoked);
  const revisionOf = (change: ObjectChange): number => {
    const key = revocationKeyOf(change);
    if (key === undefined) return 0;
    return ends.has(key) ? revision : store.revocationOf(key);
  };
  const puts = [...changes.filter(({ object }) => object !== undefined), ...revokedAlone(ends, changes, store)];
  const removals = changes.filter(({ object }) => object === undefined);
  const numbers = numbersWith(store, changes, revision);
  return [
    ...inOrder(puts, ORDER).map((change) => objectRecord(change, revisionOf(change))),
    ...(['all', 'run_as'] as const).filter((key) => ends.has(key)).map((key) => revocationRecordOf(key, revision)),
    ...(settings === undefined ? [] : [settingsRecordOf({ ...DEFAULT_SECURITY_SETTINGS, ...given(settings) })]),
    ...(tokenKeys === undefined ? [] : [tokenKeyRecordOf(tokenKeys)]),
    ...(numbers === undefined ? [] : [numbersRecordOf(numbers)]),
    ...inOrder(removals, ORDER.toReversed()).map((change) => objectRecord(change, 0)),
  ];
}

/** Numbers that are higher than those that are known to be given; undefined when none is. */
export function numbersWith(
  store: RbacStore,
  changes: readonly ObjectChange[],
  revision: number,
): GivenNumbers | undefined {
  const numbers = { ...store.numbers, revision: Math.max(store.numbers.revision, revision) };
  for (const { kind, id } of changes) numbers[kind] = Math.max(numbers[kind], id);
  const known = store.numbers;
  const isHigher = (Object.keys(numbers) as (keyof GivenNumbers)[]).some((key) => numbers[key] > known[key]);
  return isHigher ? numbers : undefined;
}

export function revocationKeyOf({ kind, id }: Pick<ObjectChange, 'kind' | 'id'>): RevocationKey | undefined {
  if (kind === 'users') return `user:${id}`;
  return kind === 'roles' ? `role:${id}` : undefined;
}

/** Users and roles whose tokens end, and that stay as they are. */
function revokedAlone(ends: ReadonlySet<string>, changes: readonly ObjectChange[], store: RbacStore): ObjectChange[] {
  const changed = new Set(changes.map((change) => revocationKeyOf(change)));
  const isLeft = (key: RevocationKey): boolean => ends.has(key) && !changed.has(key);
  const ids = (kind: string): number[] =>
    [...ends].filter((key) => key.startsWith(`${kind}:`)).map((key) => Number(key.slice(kind.length + 1)));
  return [
    ...store.users.some(ids('user').filter((id) => isLeft(`user:${id}`))).map((user) => putObject('users', user)),
    ...store.roles.some(ids('role').filter((id) => isLeft(`role:${id}`))).map((role) => putObject('roles', role)),
  ];
}

function inOrder(changes: readonly ObjectChange[], kinds: readonly ObjectKind[]): ObjectChange[] {
  return kinds.flatMap((wanted) => changes.filter(({ kind }) => kind === wanted));
}

function given<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
