import { type GivenNumbers, MAX_BUILT_IN_ID } from '../../../lib/cluster/access-records.js';
import type { RecordChange } from '../../../lib/cluster/shared-records.js';
import type { TokenKeyPair } from '../../../lib/security/token-keys.js';
import type { SecurityConfiguration } from '../../auth/security-settings.js';
import type { ObjectChange } from '../access-decisions.js';
import { roleNow } from '../later-built-in.js';
import type { SecurityObjects } from '../security-backup.js';
import {
  type AccessNews,
  numbersRecordOf,
  objectRecord,
  revocationRecordOf,
  settingsRecordOf,
  tokenKeyRecordOf,
} from './access-codec.js';
import { revocationKeyOf } from './decision-records.js';
import { type MergedObjects, mergeObjects } from './merge-objects.js';

/** What a manager has that joins. */
export type OwnAccess = {
  readonly objects: SecurityObjects;
  /** By `RevocationKey`. */
  readonly revocations: ReadonlyMap<string, number>;
  readonly revision: number;
  readonly settings: SecurityConfiguration;
  readonly tokenKeys: TokenKeyPair;
};

export type AccessSeed = {
  readonly changes: readonly RecordChange[];
  /** Whether there were none in the cluster: all of this manager's are the cluster's. */
  readonly isFirst: boolean;
  readonly merged: MergedObjects;
};

const NOTHING_GIVEN: GivenNumbers = {
  users: MAX_BUILT_IN_ID,
  roles: MAX_BUILT_IN_ID,
  policies: MAX_BUILT_IN_ID,
  rules: MAX_BUILT_IN_ID,
  revision: 0,
};

/**
 * What a manager brings into a cluster that it joins. The first brings everything, its key of tokens before all else: whoever
 * finds one adds what is missing and takes over the rest.
 * @param fresh a key that nobody has seen
 */
export function accessSeed(own: OwnAccess, there: AccessNews, fresh: TokenKeyPair): AccessSeed {
  const isFirst = there.tokenKeys === undefined && there.objects.length === 0;
  const known = isFirst ? NOTHING_GIVEN : (there.numbers ?? NOTHING_GIVEN);
  const shared = objectsOf(there);
  // The cluster's may be of an earlier version: every node of this one takes them for what they are now.
  const merged = mergeObjects(own.objects, { ...shared, roles: shared.roles.map(roleNow) }, known);
  const revision = Math.max(known.revision, ...[...there.revocations.values()].map((one) => one ?? 0));
  // A user who is brought has the name of none who is there, but perhaps of one whose tokens still live.
  const newRevision = isFirst ? own.revision : revision + 1;
  const revisionOf = (change: ObjectChange): number =>
    isFirst ? (own.revocations.get(revocationKeyOf(change) ?? '') ?? 0) : newRevision;
  const revoked = isFirst ? (['all', 'run_as'] as const).filter((key) => own.revocations.has(key)) : [];
  const tokenKeys = seededKey(own, there, { isFirst, merged, fresh });
  const objects = merged.brought.map((change) => objectRecord(change, revisionOf(change)));
  const others = [
    ...(tokenKeys === undefined ? [] : [tokenKeyRecordOf(tokenKeys)]),
    ...(there.settings === undefined ? [settingsRecordOf(own.settings)] : []),
    ...revoked.map((key) => revocationRecordOf(key, own.revocations.get(key) ?? 0)),
  ];
  if (objects.length === 0 && others.length === 0 && there.numbers !== undefined) {
    return { changes: [], isFirst, merged };
  }
  const numbers = numbersAfter(known, there, merged.brought, isFirst ? own : undefined, newRevision);
  return { changes: [...others, ...objects, numbersRecordOf(numbers)], isFirst, merged };
}

/**
 * The key that signs tokens, where it is to be another. One that this manager has used itself must not go on when ids of its
 * roles, or what its names mean, are others now: its tokens would give what nobody has given.
 */
function seededKey(
  own: OwnAccess,
  there: AccessNews,
  { isFirst, merged, fresh }: Pick<AccessSeed, 'isFirst' | 'merged'> & { readonly fresh: TokenKeyPair },
): TokenKeyPair | undefined {
  if (isFirst) return own.tokenKeys;
  if (there.tokenKeys === undefined) return fresh;
  const isOwn = there.tokenKeys.publicKey.trim() === own.tokenKeys.publicKey.trim();
  return isOwn && merged.moved.length + merged.overruled.length > 0 ? fresh : undefined;
}

function numbersAfter(
  known: GivenNumbers,
  there: AccessNews,
  brought: readonly ObjectChange[],
  first: OwnAccess | undefined,
  revision: number,
): GivenNumbers {
  const numbers = { ...known, revision: Math.max(known.revision, revision) };
  for (const { kind, id } of [...there.objects, ...brought]) numbers[kind] = Math.max(numbers[kind], id);
  // Users and roles that were removed: tokens may still name them.
  for (const key of first?.revocations.keys() ?? []) {
    const [kind, id] = key.split(':');
    if (kind === 'user') numbers.users = Math.max(numbers.users, Number(id));
    if (kind === 'role') numbers.roles = Math.max(numbers.roles, Number(id));
  }
  return numbers;
}

function objectsOf({ objects }: AccessNews): SecurityObjects {
  const of = <T>(kind: string): T[] =>
    objects.flatMap((change) => (change.kind === kind && change.object !== undefined ? [change.object as T] : []));
  return { users: of('users'), roles: of('roles'), policies: of('policies'), rules: of('rules') };
}
