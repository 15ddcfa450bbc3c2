import type { Registry } from '../registry.js';
import type { GroupView, Member } from './group-decisions.js';

/** The registry as decisions about groups see it. @param strangers agents that have one of the groups and are not registered */
export function registryView(
  registry: Registry,
  strangers: (groups: ReadonlySet<string>) => readonly Member[] = () => [],
): GroupView {
  const { agents, groups, groupUses } = registry;
  return {
    groups,
    groupsOf: (id) => agents.get(id)?.record.groups,
    membersOf: (names) => {
      const rows = new Set(names.flatMap((name) => [...agents.byGroup.get(name)]));
      const members = Array.from(rows, ({ id, record }) => ({ id, groups: record.groups, isRegistered: true }));
      return [...members, ...strangers(new Set(names))].sort((a, b) => a.id - b.id);
    },
    isUnusedSince: (name, mark) => groupUses.isUnusedSince(name, mark),
  };
}
