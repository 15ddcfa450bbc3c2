import type { AgentScope } from '../../../lib/bus/contracts/db-agents.js';
import { compileScope } from '../agent-scope.js';
import type { AgentSet } from '../agent-set.js';
import type { AgentNumbers } from './agent-numbers.js';

/** Agents that there are and that all of it holds for, as the contract has it (lib/bus/contracts/db-alerts.ts). */
export type Among = {
  readonly scope?: AgentScope | undefined;
  readonly group?: readonly string[] | undefined;
};

/** Answers that are kept: streams ask the same again and again. */
const MOST_KEPT = 64;

/** Which of the agents that there are a question is about. */
export class AgentSelection {
  readonly #agents: AgentSet;
  readonly #kept = new Map<string, AgentNumbers>();
  #version: number | undefined;

  constructor(agents: AgentSet) {
    this.#agents = agents;
  }

  /** It must not be changed. */
  numbers({ scope, group }: Among): AgentNumbers {
    const { version } = this.#agents.memberships;
    if (version !== this.#version) this.#kept.clear();
    this.#version = version;
    const key = JSON.stringify([scope, group]);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const numbers = matching(this.#agents, { scope, group });
    if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
    this.#kept.set(key, numbers);
    return numbers;
  }
}

function matching(agents: AgentSet, { scope, group }: Among): AgentNumbers {
  const tests = scope === undefined ? [] : compileScope(scope);
  const wanted = new Set(group?.map((name) => name.toLowerCase()));
  // Many agents have the same list of groups: each is looked at once.
  const lists = new Map<readonly string[], boolean>();
  const isInGroup = (names: readonly string[]): boolean => {
    let isIn = lists.get(names);
    if (isIn === undefined) {
      isIn = names.some((name) => wanted.has(name.toLowerCase()));
      lists.set(names, isIn);
    }
    return isIn;
  };
  const numbers = new Uint32Array(agents.size);
  let count = 0;
  for (const row of agents.byId()) {
    if (group !== undefined && !isInGroup(row.groupList.names)) continue;
    if (!tests.every((test) => test(row))) continue;
    numbers[count] = row.id;
    count += 1;
  }
  return numbers.slice(0, count);
}
