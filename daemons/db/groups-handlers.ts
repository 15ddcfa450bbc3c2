import { groupHash } from '../../lib/agentlink/merged-file.js';
import { BusError } from '../../lib/bus/bus-error.js';
import type { Handlers } from '../../lib/bus/contract.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import { type groupMethods, MAX_GROUPS } from '../../lib/bus/contracts/db-groups.js';
import type { AgentRow } from './agent-record.js';
import type { Edit } from './edit.js';
import type { Now } from './handler-types.js';
import { DEFAULT_GROUP, withoutGroups } from './membership.js';
import type { Registry } from './registry.js';

type GroupHandlers = Pick<Handlers<typeof dbContract>, keyof typeof groupMethods>;

/** Answers of svc-db about groups (lib/bus/contracts/db-groups.ts). */
export function groupsHandlers(registry: Registry, now: Now): GroupHandlers {
  const { groups, agents, groupUses: uses } = registry;
  const counted = (name: string) => ({ name, count: agents.byGroup.count(name) });
  const create = (edit: Edit, name: string) => {
    if (groups.size >= MAX_GROUPS) {
      throw new BusError('too_many_groups', `There cannot be more than ${MAX_GROUPS} groups`);
    }
    edit.addGroup(name, { dateAdd: Math.floor(now() / 1000) });
  };
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
      registry.requireGroups([name]);
      return counted(name);
    },

    'groups.create': async ({ name }) => {
      await registry.edit((edit) => {
        const isThere = groups.has(name);
        if (!isThere) create(edit, name);
        // Somebody who wants one that is there already wants it all the same.
        uses.note([name]);
        if (isThere) throw new BusError('group_exists', `There is a group '${name}' already`);
      });
      return {};
    },

    'groups.remove': ({ names, unusedSince }) =>
      registry.edit((edit) => {
        if (names.includes(DEFAULT_GROUP)) {
          throw new BusError('default_group', `The group '${DEFAULT_GROUP}' cannot be removed`);
        }
        const there = [...new Set(names)].filter((name) => groups.has(name));
        const isUnused = (name: string) => unusedSince === undefined || uses.isUnusedSince(name, unusedSince);
        const removed = there.filter(isUnused);
        const members = removeGroups(registry, edit, removed);
        return {
          removed,
          kept: there.filter((name) => !removed.includes(name)),
          unknown: names.filter((name) => !there.includes(name)),
          agents: members.map((row) => row.idText),
        };
      }),

    'groups.agents': ({ name }) => {
      registry.requireGroups([name]);
      return { ids: byId(agents.byGroup.get(name)).map((row) => row.idText) };
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

/** @returns agents that were in one of them */
function removeGroups(registry: Registry, edit: Edit, names: readonly string[]): AgentRow[] {
  const deleted = new Set(names);
  const members = byId(new Set(names.flatMap((name) => [...registry.agents.byGroup.get(name)])));
  for (const row of members) {
    edit.setAgent(row.id, { ...row.record, groups: [...withoutGroups(row.record.groups, deleted)] });
  }
  for (const name of names) edit.deleteGroup(name);
  registry.groupUses.forget(names);
  return members;
}

function byId(rows: Iterable<AgentRow>): AgentRow[] {
  return [...rows].sort((a, b) => a.id - b.id);
}
