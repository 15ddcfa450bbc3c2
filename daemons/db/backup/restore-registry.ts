import { MANAGER_ID, newAgent } from '../agent-record.js';
import type { GroupAuthority } from '../groups/group-authority.js';
import { DEFAULT_GROUP } from '../membership.js';
import type { Registry } from '../registry.js';
import type { BackedUpAgent, RegistryBackup } from './registry-backup.js';

/** An agent as the key file names it. */
export type KnownKey = { readonly id: string; readonly name: string };

export type RestoreCounts = {
  /** Agents that have again what the backup knows of them. */
  readonly agents: number;
  /** Groups that were missing. */
  readonly groups: number;
  /** Agents of the backup that have no key any more, or another name: the key file decides which agents there are. */
  readonly withoutKey: number;
};

/**
 * Brings back what a backup knows, in one transaction: agents that have a key get their groups and the time they were added,
 * and all else where nothing newer is known of them; groups that are gone are there again. Agents and groups that have come
 * since then stay. What groups there are in a cluster, and who is in them, its records say: that stays as it is.
 * @throws BusError `disk_full`, `disk_failed`; nothing was changed then
 */
export function restoreRegistry(
  registry: Registry,
  backup: RegistryBackup,
  keys: Iterable<KnownKey>,
  authority: Pick<GroupAuthority, 'isShared' | 'ofNewAgent'>,
): Promise<RestoreCounts> {
  const names = new Map([...keys].map(({ id, name }) => [Number(id), name]));
  const ownGroups = authority.isShared ? [] : backup.groups;
  registry.groupUses.note(ownGroups.map(({ group }) => group));
  const groupsOf = ({ agent: id, record }: BackedUpAgent): readonly string[] => {
    if (!authority.isShared) return record.groups.filter((name) => registry.groups.has(name));
    return registry.agents.get(id)?.record.groups ?? authority.ofNewAgent(id, undefined);
  };
  return registry.edit((edit) => {
    let groups = 0;
    for (const { group, dateAdd } of ownGroups) {
      if (registry.groups.has(group)) continue;
      edit.setGroup(group, { dateAdd });
      groups += 1;
    }
    let agents = 0;
    let withoutKey = 0;
    for (const agent of backup.agents) {
      if (agent.agent === MANAGER_ID) continue;
      if (names.get(agent.agent) !== agent.record.name) {
        withoutKey += 1;
        continue;
      }
      const before = registry.agents.get(agent.agent);
      const known = before === undefined || before.record.status === 'never_connected' ? undefined : before.record;
      const row = edit.setAgent(agent.agent, {
        ...(known ?? agent.record),
        dateAdd: agent.record.dateAdd,
        groups: groupsOf(agent),
      });
      if (known === undefined) {
        if (agent.lastKeepAlive !== undefined) edit.setKeepAlive(row, agent.lastKeepAlive);
        if (agent.labels !== undefined) edit.setLabels(row.id, agent.labels);
      }
      agents += 1;
    }
    return { agents, groups, withoutKey };
  });
}

/** Agents that have a key and are not in the registry are registered, as svc-authd would. @returns how many */
export function registerKnown(
  registry: Registry,
  keys: Iterable<KnownKey & { readonly ip: string }>,
  now: number,
): Promise<number> {
  return registry.edit((edit) => {
    let added = 0;
    for (const { id, name, ip } of keys) {
      const number = Number(id);
      if (number === MANAGER_ID || registry.agents.get(number) !== undefined) continue;
      edit.setAgent(number, newAgent(name, ip, now, [DEFAULT_GROUP]));
      added += 1;
    }
    return added;
  });
}
