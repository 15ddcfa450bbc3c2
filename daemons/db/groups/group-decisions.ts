import { BusError } from '../../../lib/bus/bus-error.js';
import { MAX_GROUPS } from '../../../lib/bus/contracts/db-groups.js';
import { MANAGER_ID } from '../agent-record.js';
import { MANAGER_REFUSAL } from '../agent-rows.js';
import { changeMembership, DEFAULT_GROUP, type MembershipMode, requireGroups, withoutGroups } from '../membership.js';
import type { GroupRecord } from '../registry-store.js';

/** An agent as far as groups are concerned. */
export type Member = {
  readonly id: number;
  /** By priority. */
  readonly groups: readonly string[];
  /** False while it is known that it has groups, and nothing else. */
  readonly isRegistered: boolean;
};

/** What decisions about groups are made on. */
export interface GroupView {
  readonly groups: ReadonlyMap<string, GroupRecord>;
  /** Groups of a registered agent by priority; undefined when there is none with this id. */
  groupsOf(id: number): readonly string[] | undefined;
  /** Agents that are in one of these groups, by id. */
  membersOf(groups: readonly string[]): readonly Member[];
  /** Whether nobody has wanted a group since a moment, see `GroupUses`. */
  isUnusedSince(name: string, mark: string): boolean;
}

/** What is to be another way: a group with its record, null without it; or the groups of an agent. */
export type GroupChange = ChangedGroup | ChangedMember;
export type ChangedGroup = { readonly kind: 'group'; readonly name: string; readonly record: GroupRecord | null };
export type ChangedMember = { readonly kind: 'member'; readonly id: number; readonly groups: readonly string[] };

/**
 * What is to be done. The changes are in such an order that no group is in an agent's list and gone, however few of them
 * come true.
 */
export type GroupDecision<T, C extends GroupChange = GroupChange> = {
  readonly changes: readonly C[];
  /** Groups that somebody wants, whether they change or not. */
  readonly wanted: readonly string[];
  readonly result: T;
  /** As of a decision about shared records. */
  readonly isUnbinding?: boolean;
};

/** @param now epoch seconds @returns whether the group is new @throws BusError `too_many_groups` */
export function decideCreation({ groups }: GroupView, name: string, now: number): GroupDecision<boolean> {
  // Somebody who wants one that is there already wants it all the same.
  if (groups.has(name)) return { changes: [], wanted: [name], result: false };
  if (groups.size >= MAX_GROUPS) {
    throw new BusError('too_many_groups', `There cannot be more than ${MAX_GROUPS} groups`);
  }
  return { changes: [{ kind: 'group', name, record: { dateAdd: now } }], wanted: [name], result: true };
}

export type RemovalRequest = {
  readonly names: readonly string[];
  /** A mark: groups that are wanted since then stay. */
  readonly unusedSince: string | undefined;
  /** Changes at once. */
  readonly most: number;
};

export type Removal = {
  /** Those of the names that are groups. */
  readonly there: readonly string[];
  /** Those of them that are wanted. */
  readonly kept: readonly string[];
  /** Ids of registered agents that lose one of the groups. */
  readonly agents: readonly number[];
  /** Whether this is not all: it is to be decided again about the same. */
  readonly more: boolean;
};

/** Agents lose the groups first, and then these go. @throws BusError `default_group` */
export function decideRemoval(view: GroupView, { names, unusedSince, most }: RemovalRequest): GroupDecision<Removal> {
  if (names.includes(DEFAULT_GROUP)) {
    throw new BusError('default_group', `The group '${DEFAULT_GROUP}' cannot be removed`);
  }
  const there = [...new Set(names)].filter((name) => view.groups.has(name));
  const going = there.filter((name) => unusedSince === undefined || view.isUnusedSince(name, unusedSince));
  const members = view.membersOf(going);
  const losing = members.slice(0, most);
  const removed = going.slice(0, most - losing.length);
  const deleted = new Set(going);
  return {
    changes: [
      ...losing.map(({ id, groups }) => ({ kind: 'member', id, groups: withoutGroups(groups, deleted) }) as const),
      ...removed.map((name) => ({ kind: 'group', name, record: null }) as const),
    ],
    wanted: [],
    result: {
      there,
      kept: there.filter((name) => !deleted.has(name)),
      agents: losing.filter(({ isRegistered }) => isRegistered).map(({ id }) => id),
      more: removed.length < going.length,
    },
  };
}

export type MembershipRequest = { readonly id: string; readonly groups: readonly string[] };

export type MembershipOutcome = {
  readonly changed: { id: string; groups: string[] }[];
  readonly failed: { id: string; code: string; message: string }[];
};

/**
 * The agents one after the other, the same one more than once, too (agents-and-groups.md 10.5).
 * @param planned groups that an earlier try of the same gave to agents: some of them may have them now
 * @throws BusError `unknown_group`
 */
export function decideMembership(
  view: GroupView,
  mode: MembershipMode,
  asked: readonly MembershipRequest[],
  planned: ReadonlyMap<number, readonly string[]> = new Map(),
): GroupDecision<MembershipOutcome, ChangedMember> {
  const wanted = mode === 'remove' ? [] : [...new Set(asked.flatMap(({ groups }) => groups))];
  requireGroups(view.groups, wanted);
  const next = new Map<number, readonly string[]>();
  const result: MembershipOutcome = { changed: [], failed: [] };
  for (const { id, groups } of asked) {
    const number = Number(id);
    const current = next.get(number) ?? view.groupsOf(number);
    const made = planned.get(number);
    const isMade = current !== undefined && made !== undefined && isSameList(current, made);
    const change = isMade ? { groups: [...current] } : changeOf(number, mode, current, groups);
    if (change === undefined) {
      result.failed.push({ id, code: 'unknown_agent', message: `There is no agent ${id}` });
    } else if ('code' in change) {
      result.failed.push({ id, ...change });
    } else if (change.groups !== current) {
      next.set(number, change.groups);
      result.changed.push({ id, groups: [...change.groups] });
    }
  }
  const others = [...next].filter(([id, groups]) => !isSameList(view.groupsOf(id) ?? [], groups));
  return { changes: others.map(([id, groups]) => ({ kind: 'member', id, groups })), wanted, result };
}

/** Whether two lists have the same groups by the same priority. */
export function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one === other || (one.length === other.length && one.every((name, index) => name === other[index]));
}

function changeOf(id: number, mode: MembershipMode, current: readonly string[] | undefined, asked: readonly string[]) {
  if (current === undefined) return undefined;
  if (id === MANAGER_ID) return { code: 'manager', message: MANAGER_REFUSAL };
  return changeMembership(id, mode, current, asked);
}
