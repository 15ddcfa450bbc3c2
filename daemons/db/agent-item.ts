import { AGENT_FIELDS, type AgentField, shownValue } from './agent-fields.js';
import type { AgentRow } from './agent-record.js';

const ALL = [...AGENT_FIELDS.values()];
const OS_PREFIX = 'os.';

/**
 * An agent as the API shows it (agents-and-groups.md 10.1): fields without a value are left out, those of the system are
 * one object.
 * @param missing shown for a value that is not there
 */
export function agentItem(
  row: AgentRow,
  fields: readonly AgentField[] = ALL,
  missing?: string,
): Record<string, unknown> {
  const item: Record<string, unknown> = {};
  let os: Record<string, unknown> | undefined;
  for (const field of fields) {
    const value = shownValue(field, row) ?? missing;
    if (value === undefined) continue;
    if (!field.name.startsWith(OS_PREFIX)) {
      item[field.name] = value;
    } else {
      os ??= item['os'] = {};
      os[field.name.slice(OS_PREFIX.length)] = value;
    }
  }
  return item;
}

/** About how many bytes an item has on the bus; what can grow without being noticed is counted. */
export function itemWeight({ record }: AgentRow): number {
  let weight = 700 + record.name.length + (record.uname?.length ?? 0);
  for (const group of record.groups) weight += group.length + 4;
  return weight;
}
