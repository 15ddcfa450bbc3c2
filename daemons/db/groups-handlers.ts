import { groupHash } from '../../lib/agentlink/merged-file.js';
import { BusError } from '../../lib/bus/bus-error.js';
import type { CallParams, CallResult, Handlers } from '../../lib/bus/contract.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import type { groupMethods } from '../../lib/bus/contracts/db-groups.js';
import { agentIdText } from './agent-record.js';
import type { GroupAuthority } from './groups/group-authority.js';
import { decideCreation, decideRemoval, type Removal } from './groups/group-decisions.js';
import type { Now } from './handler-types.js';
import { requireGroups } from './membership.js';
import type { Registry } from './registry.js';

type GroupHandlers = Pick<Handlers<typeof dbContract>, keyof typeof groupMethods>;
type RemovalParams = CallParams<typeof dbContract, 'groups.remove'>;
type RemovalResult = CallResult<typeof dbContract, 'groups.remove'>;

/** Answers of svc-db about groups (lib/bus/contracts/db-groups.ts). */
export function groupsHandlers(registry: Registry, authority: GroupAuthority, now: Now): GroupHandlers {
  const { groups, agents, groupUses: uses } = registry;
  const counted = (name: string) => ({ name, count: agents.byGroup.count(name) });
  return {
    'groups.list': ({ names }) => {
      const wanted = names ?? [...groups.keys()];
      return {
        groups: [...new Set(wanted)]
          .filter((name) => groups.has(name))
          .sort()
          .map(counted),
        unknown: wanted.filter((name) => !groups.has(name)),
        mark: uses.mark,
      };
    },

    'groups.get': ({ name }) => {
      requireGroups(groups, [name]);
      return counted(name);
    },

    'groups.create': async ({ name }, call) => {
      const since = Math.floor(now() / 1000);
      let isProposed = false;
      const isNew = await authority.decide((view) => {
        const decision = decideCreation(view, name, since);
        // Decided anew, it may find what it has made itself.
        const isOwn = isProposed && view.groups.get(name)?.dateAdd === since;
        isProposed ||= decision.result;
        return { ...decision, result: decision.result || isOwn };
      }, call?.isWanted);
      if (!isNew) throw new BusError('group_exists', `There is a group '${name}' already`);
      return {};
    },

    'groups.remove': (params, call) => removeGroups(authority, params, call?.isWanted),

    'groups.agents': ({ name }) => {
      requireGroups(groups, [name]);
      const rows = [...agents.byGroup.get(name)].sort((a, b) => a.id - b.id);
      return { ids: rows.map((row) => row.idText) };
    },

    'groups.sums': ({ sums }) =>
      registry.edit((edit) => {
        const told = new Map(sums.map(({ groups, md5 }) => [groups.join(','), md5]));
        const gone = [...agents.mergedSums.keys()].filter((key) => !told.has(key));
        const other = [...told].filter(([key, md5]) => agents.mergedSums.get(key) !== md5);
        for (const key of gone) edit.setMergedSum(key, undefined);
        for (const [key, md5] of other) edit.setMergedSum(key, md5);
        return { changed: gone.length + other.length };
      }),

    'groups.multigroups': () => {
      const lists = [...agents.groupLists].filter(({ names }) => names.length > 1);
      return { lists: lists.map(({ names, agents }) => ({ groups: [...names], hash: groupHash(names), agents })) };
    },
  };
}

/**
 * As often as it takes until none of the groups has members, and then they are gone. What is decided more than once is answered
 * as if it had been once.
 */
async function removeGroups(
  authority: GroupAuthority,
  { names, unusedSince }: RemovalParams,
  isWanted?: () => boolean,
): Promise<RemovalResult> {
  const asked = { names, unusedSince, most: authority.mostChanges };
  const there = new Set<string>();
  const agents = new Set<number>();
  let removal: Removal;
  do {
    removal = await authority.decide((view) => {
      const decision = decideRemoval(view, asked);
      for (const name of decision.result.there) there.add(name);
      for (const id of decision.result.agents) agents.add(id);
      return decision;
    }, isWanted);
  } while (removal.more);
  const kept = new Set(removal.kept);
  return {
    removed: [...there].filter((name) => !kept.has(name)),
    kept: [...there].filter((name) => kept.has(name)),
    unknown: names.filter((name) => !there.has(name)),
    agents: [...agents].sort((a, b) => a - b).map(agentIdText),
  };
}
