import { BusError } from '../../lib/bus/bus-error.js';
import { applyChanges } from './agent-changes.js';
import { agentIdText, newAgent } from './agent-record.js';
import { existingAgents, namedAgent, refuseManager } from './agent-rows.js';
import type { GroupAuthority } from './groups/group-authority.js';
import { decideMembership, type MembershipOutcome, type MembershipRequest } from './groups/group-decisions.js';
import type { AgentHandlers } from './handler-types.js';
import type { MembershipMode } from './membership.js';
import type { Registry } from './registry.js';

/** Answers of svc-db that change who is registered and in which groups. */
export function agentRegistration(
  registry: Registry,
  authority: GroupAuthority,
): Pick<AgentHandlers, 'agents.register' | 'agents.update' | 'agents.remove' | 'agents.removed' | 'agents.membership'> {
  const { agents } = registry;
  return {
    'agents.register': async ({ id, name, registerIP, dateAdd, groups, replaces }) => {
      const number = Number(id);
      await authority.prepare(number, groups);
      return registry.edit((edit) => {
        const given = authority.ofNewAgent(number, groups);
        const replaced = existingAgents(registry, replaces).rows;
        refuseManager(number, ...replaced.map((row) => row.id));
        for (const row of replaced) edit.deleteAgent(row);
        if (agents.get(number) !== undefined) throw new BusError('agent_exists', `There is an agent ${id} already`);
        edit.setAgent(number, newAgent(name, registerIP, dateAdd, given));
        return { removed: replaced.map(namedAgent) };
      });
    },

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

    'agents.membership': ({ mode, agents: asked }, call) => changeMemberships(authority, mode, asked, call?.isWanted),
  };
}

/** As many at once as there may be. What is changed stays so when those after it cannot be: they are named as failed. */
async function changeMemberships(
  authority: GroupAuthority,
  mode: MembershipMode,
  asked: readonly MembershipRequest[],
  isWanted?: () => boolean,
): Promise<MembershipOutcome> {
  const most = authority.mostChanges;
  const all = await changeAtOnce(authority, mode, asked.slice(0, most), isWanted);
  for (let at = most; at < asked.length; at += most) {
    try {
      const { changed, failed } = await changeAtOnce(authority, mode, asked.slice(at, at + most), isWanted);
      all.changed.push(...changed);
      all.failed.push(...failed);
    } catch (error) {
      if (!(error instanceof BusError)) throw error;
      const { code, message } = error;
      all.failed.push(...asked.slice(at).map(({ id }) => ({ id, code, message })));
      break;
    }
  }
  return all;
}

function changeAtOnce(
  authority: GroupAuthority,
  mode: MembershipMode,
  asked: readonly MembershipRequest[],
  isWanted?: () => boolean,
): Promise<MembershipOutcome> {
  const planned = new Map<number, readonly string[]>();
  return authority.decide((view) => {
    const decision = decideMembership(view, mode, asked, planned);
    for (const { id, groups } of decision.changes) planned.set(id, groups);
    return decision;
  }, isWanted);
}
