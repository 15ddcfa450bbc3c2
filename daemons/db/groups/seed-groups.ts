import { MAX_GROUPS } from '../../../lib/bus/contracts/db-groups.js';
import { agentRecord } from '../../../lib/cluster/record-kinds.js';
import type { RecordChange, SharedRecord } from '../../../lib/cluster/shared-records.js';
import { agentIdText } from '../agent-record.js';
import { DEFAULT_GROUP } from '../membership.js';
import type { Registry } from '../registry.js';
import { agentIdOf, type GroupRecords } from './group-records.js';

/**
 * What a manager brings into a cluster that it joins: groups that the cluster has not, and the groups of those of its agents that
 * are the cluster's, which are those of the same id and name. Groups come before their members.
 * @param known what the records say, those given
 */
export function seedGroups(
  registry: Registry,
  known: GroupRecords,
  records: Iterable<SharedRecord>,
): readonly RecordChange[] {
  const room = Math.max(0, MAX_GROUPS - known.groups.size);
  const own = [...registry.groups].filter(([name]) => !known.groups.has(name)).slice(0, room);
  const changes: RecordChange[] = own.map(([name, { dateAdd }]) => ({ kind: 'group', key: name, value: { dateAdd } }));
  const there = new Set([...known.groups.keys(), ...own.map(([name]) => name)]);
  for (const record of records) {
    const id = record.kind === 'agent' ? agentIdOf(record.key) : undefined;
    if (id === undefined || known.hasMember(id)) continue;
    const row = registry.agents.get(id);
    if (row === undefined || row.record.name !== agentRecord.safeParse(record.value).data?.name) continue;
    const groups = row.record.groups.filter((name) => there.has(name));
    const isNews = groups.length > 1 || (groups.length === 1 && groups[0] !== DEFAULT_GROUP);
    if (isNews) changes.push({ kind: 'member', key: agentIdText(id), value: { groups } });
  }
  return changes;
}
