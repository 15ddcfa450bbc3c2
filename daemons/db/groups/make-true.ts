import type { Edit } from '../edit.js';
import type { Registry } from '../registry.js';
import type { GroupChange } from './group-decisions.js';

/** Has the registry be as changes say. Those of agents that are not registered have no effect. */
export function makeTrue(registry: Registry, edit: Edit, changes: readonly GroupChange[]): void {
  for (const change of changes) {
    if (change.kind === 'member') {
      const row = registry.agents.get(change.id);
      if (row !== undefined) edit.setAgent(row.id, { ...row.record, groups: change.groups });
    } else if (change.record === null) {
      edit.deleteGroup(change.name);
      registry.groupUses.forget([change.name]);
    } else {
      edit.setGroup(change.name, change.record);
    }
  }
}
