import type { AgentScope } from '../../lib/bus/contracts/db-agents.js';

/** Whether a scope has an agent in it: the last step that concerns it decides (rest-api.md 5.1), as in svc-db. */
export function scopeAllows(scope: AgentScope, id: string, groups: readonly string[]): boolean {
  const step = scope.steps.findLast(({ kind, value = '' }) => {
    if (kind === 'all') return true;
    return kind === 'id' ? Number(value) === Number(id) : groups.includes(value);
  });
  return step === undefined ? scope.start === 'all' : step.effect === 'allow';
}
