import { BusError } from '../../lib/bus/bus-error.js';
import { applyChanges } from './agent-changes.js';
import { agentIdText, MANAGER_ID, newAgent } from './agent-record.js';
import { existingAgents, MANAGER_REFUSAL, namedAgent, refuseManager } from './agent-rows.js';
import type { AgentHandlers } from './handler-types.js';
import { changeMembership, DEFAULT_GROUP } from './membership.js';
import type { Registry } from './registry.js';

/** Answers of svc-db that change who is registered and in which groups. */
export function agentRegistration(
  registry: Registry,
): Pick<AgentHandlers, 'agents.register' | 'agents.update' | 'agents.remove' | 'agents.removed' | 'agents.membership'> {
  const { agents } = registry;
  return {
    'agents.register': ({ id, name, registerIP, dateAdd, groups = [DEFAULT_GROUP], replaces }) =>
      registry.edit((edit) => {
        registry.requireGroups(groups);
        registry.groupUses.note(groups);
        const number = Number(id);
        const replaced = existingAgents(registry, replaces).rows;
        refuseManager(number, ...replaced.map((row) => row.id));
        for (const row of replaced) edit.deleteAgent(row);
        if (agents.get(number) !== undefined) throw new BusError('agent_exists', `There is an agent ${id} already`);
        edit.setAgent(number, newAgent(name, registerIP, dateAdd, [...new Set(groups)]));
        return { removed: replaced.map(namedAgent) };
      }),

    'agents.update': async ({ id, changes }) => {
      await registry.edit((edit) => {
        refuseManager(Number(id));
        applyChanges(registry, edit, registry.requireAgent(id), changes);
      });
      return {};
    },

    'agents.remove': ({ ids }) =>
      registry.edit((edit) => {
        const { rows, unknown } = existingAgents(registry, ids);
        refuseManager(...rows.map((row) => row.id));
        for (const row of rows) edit.deleteAgent(row);
        return { removed: rows.map(namedAgent), unknown };
      }),

    'agents.removed': async ({ after, limit }) => {
      const { removals } = registry;
      // What the disk does not take is forgotten another time.
      await registry.forgetRemovals(after).catch(() => {});
      return { removed: removals.after(after, limit).map(({ sequence, id }) => ({ sequence, id: agentIdText(id) })) };
    },

    'agents.membership': ({ mode, agents: asked }) =>
      registry.edit((edit) => {
        if (mode !== 'remove') {
          const wanted = new Set(asked.flatMap(({ groups }) => groups));
          registry.requireGroups(wanted);
          registry.groupUses.note(wanted);
        }
        const changed: { id: string; groups: string[] }[] = [];
        const failed: { id: string; code: string; message: string }[] = [];
        for (const { id, groups } of asked) {
          const row = agents.get(Number(id));
          const result =
            row === undefined
              ? { code: 'unknown_agent', message: `There is no agent ${id}` }
              : row.id === MANAGER_ID
                ? { code: 'manager', message: MANAGER_REFUSAL }
                : changeMembership(row.id, mode, row.record.groups, groups);
          if ('code' in result) {
            failed.push({ id, ...result });
          } else if (row !== undefined && result.groups !== row.record.groups) {
            edit.setAgent(row.id, { ...row.record, groups: [...result.groups] });
            changed.push({ id, groups: [...result.groups] });
          }
        }
        return { changed, failed };
      }),
  };
}
