import type { AgentScope } from '../../lib/bus/contracts/db-agents.js';
import type { AgentRow } from './agent-record.js';

type Decision = { readonly step: number; readonly allow: boolean };

/** Test for the agents a caller may see: of the steps that concern an agent the last decides; none for all agents. */
export function compileScope(scope: AgentScope): ((row: AgentRow) => boolean)[] {
  let general: Decision = { step: -1, allow: scope.start === 'all' };
  const ids = new Map<number, Decision>();
  const groups = new Map<string, Decision>();
  for (const [step, { effect, kind, value = '' }] of scope.steps.entries()) {
    const decision = { step, allow: effect === 'allow' };
    if (kind === 'all') general = decision;
    else if (kind === 'id') ids.set(Number(value), decision);
    else groups.set(value, decision);
  }
  const differs = ({ step, allow }: Decision) => step > general.step && allow !== general.allow;
  if (general.allow && ![...ids.values(), ...groups.values()].some(differs)) return [];
  return [
    (row) => {
      let last = later(general, ids.get(row.id));
      if (groups.size > 0) for (const group of row.record.groups) last = later(last, groups.get(group));
      return last.allow;
    },
  ];
}

function later(one: Decision, other: Decision | undefined): Decision {
  return other !== undefined && other.step > one.step ? other : one;
}
