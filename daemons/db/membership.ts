import { BusError } from '../../lib/bus/bus-error.js';
import { MAX_GROUPS_PER_AGENT } from '../../lib/bus/contracts/db-groups.js';
import { agentIdText } from './agent-record.js';

/** The group every agent without another one is in. */
export const DEFAULT_GROUP = 'default';

export type MembershipMode = 'append' | 'override' | 'empty_only' | 'remove';

/** Groups after a change, or why there is none. */
export type MembershipResult =
  | { readonly groups: readonly string[] }
  | { readonly code: string; readonly message: string };

/** What becomes of an agent's groups (agents-and-groups.md 10.5). Priority is the place in the list. */
export function changeMembership(
  id: number,
  mode: MembershipMode,
  current: readonly string[],
  asked: readonly string[],
): MembershipResult {
  const wanted = [...new Set(asked)];
  switch (mode) {
    case 'append': {
      const added = wanted.filter((group) => !current.includes(group));
      if (added.length === 0) return failure('already_member', `Agent ${agentIdText(id)} is in these groups already`);
      return limited(id, [...current, ...added]);
    }
    case 'override':
      return limited(id, wanted);
    case 'empty_only':
      return { groups: current.length > 0 ? current : wanted };
    case 'remove': {
      const left = current.filter((group) => !wanted.includes(group));
      if (left.length === current.length) {
        return failure('not_member', `Agent ${agentIdText(id)} is in none of these groups`);
      }
      if (left.length > 0) return { groups: left };
      if (current.length === 1 && current[0] === DEFAULT_GROUP) {
        return failure('only_default', `Agent ${agentIdText(id)} only belongs to '${DEFAULT_GROUP}'`);
      }
      return { groups: [DEFAULT_GROUP] };
    }
  }
}

/** What is left of an agent's groups when some are deleted. */
export function withoutGroups(current: readonly string[], deleted: ReadonlySet<string>): readonly string[] {
  const left = current.filter((group) => !deleted.has(group));
  return left.length > 0 ? left : [DEFAULT_GROUP];
}

/** @param groups those that there are @throws BusError `unknown_group` */
export function requireGroups(groups: ReadonlyMap<string, unknown>, names: Iterable<string>): void {
  for (const name of names) {
    if (!groups.has(name)) throw new BusError('unknown_group', `Unable to find the id of the group '${name}'`);
  }
}

function limited(id: number, groups: readonly string[]): MembershipResult {
  if (groups.length <= MAX_GROUPS_PER_AGENT) return { groups };
  return failure(
    'too_many_groups',
    `The groups assigned to agent ${agentIdText(id)} exceed the maximum of ${MAX_GROUPS_PER_AGENT} permitted.`,
  );
}

function failure(code: string, message: string): MembershipResult {
  return { code, message };
}
