import { formatAgentId } from '../../../lib/agentlink/agent-identity.js';

/** Ids of agents, in their order: four bytes each, so that 100,000 of them are sent to the thread and looked up at little cost. */
export type AgentNumbers = Uint32Array;

/** Whether an agent is one of them. @param id as alerts have it, `001` */
export function hasAgent(numbers: AgentNumbers, id: string): boolean {
  const wanted = Number(id);
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return numbers[low] === wanted && id === formatAgentId(wanted);
}
