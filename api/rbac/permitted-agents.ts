import type { AgentScope } from '../../lib/bus/contracts/db-agents.js';
import { deniedError } from './denied-error.js';

/**
 * Agents that a request is about. Which of them the caller may use is a scope, for svc-db to choose from: a list of all agents need not be
 * known here, and of an agent that is named only svc-db knows the groups.
 */
export class PermittedAgents {
  /** Ids that the request names, allowed or not; undefined when it means all agents. */
  readonly named: readonly string[] | undefined;
  readonly #scope: AgentScope;
  #isSettled = false;

  /** @throws ApiError 4000 when agents are named and none of them is allowed, whatever groups they are in */
  constructor(scope: AgentScope, named: readonly string[] | undefined) {
    this.#scope = scope;
    this.named = named;
    if (named === undefined || named.length === 0 || this.dependsOnGroups) return;
    if (!named.some((id) => scopeAllows(scope, id, []))) throw deniedError('agent:id');
  }

  /** Whether the handler has taken the scope: who answers without it has forgotten to ask. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Whether what is allowed of those that are named cannot be said without the groups that they are in. */
  get dependsOnGroups(): boolean {
    return this.named !== undefined && this.#scope.steps.some(({ kind }) => kind === 'group');
  }

  get isAll(): boolean {
    return this.named === undefined;
  }

  get scope(): AgentScope {
    this.#isSettled = true;
    return this.#scope;
  }
}

/** Whether a scope has an agent in it: the last step that concerns it decides (rest-api.md 5.1), as in svc-db. */
export function scopeAllows(scope: AgentScope, id: string, groups: readonly string[]): boolean {
  const step = scope.steps.findLast(({ kind, value = '' }) => {
    if (kind === 'all') return true;
    return kind === 'id' ? Number(value) === Number(id) : groups.includes(value);
  });
  return step === undefined ? scope.start === 'all' : step.effect === 'allow';
}

/** Whether nobody is left out of a scope, whatever groups he is in. */
export function scopeAllowsAll({ start, steps }: AgentScope): boolean {
  const general = steps.findLastIndex(({ kind }) => kind === 'all');
  const isAllowed = general === -1 ? start === 'all' : steps[general]?.effect === 'allow';
  return isAllowed && steps.slice(general + 1).every(({ effect }) => effect === 'allow');
}
