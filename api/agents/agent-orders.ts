import { ApiError } from '../http/api-error.js';
import { type ApiResult, type FailedItem, type ListMessages, listResult } from '../http/envelope.js';
import type { AgentItem, AgentView, ChosenAgents } from './agent-view.js';

/** What must be known of an agent to send it something. */
export const ORDER_FIELDS = ['status', 'version'];

/**
 * The agents of a request, with what must be known of them to send them something; never 000. When all agents were meant, those that
 * cannot be reached are left out silently.
 */
export function agentsToOrder(view: AgentView): Promise<ChosenAgents> {
  return view.chooseAgents(ORDER_FIELDS, { status: 'active' });
}

/** Those that are connected; the others fail with 1707. */
export function activeOnes({ agents, failed }: ChosenAgents): { ready: readonly AgentItem[]; failed: FailedItem[] } {
  const ready = agents.filter(({ status }) => status === 'active');
  const others = agents.filter(({ status }) => status !== 'active');
  return { ready, failed: [...failed, ...others.map(({ id }) => ({ id, error: new ApiError(1707) }))] };
}

/** @param all whether all agents were meant: nobody wants to hear of those that were not reached (rest-api.md 5.2) */
export function orderResult(
  ready: readonly AgentItem[],
  failed: readonly FailedItem[],
  all: boolean,
  messages: ListMessages,
): ApiResult {
  const without = new Set(failed.map(({ id }) => id));
  const items = ready.map(({ id }) => id).filter((id) => !without.has(id));
  items.sort((a, b) => Number(a) - Number(b));
  return listResult({ items, total: items.length, failed: all ? [] : failed, messages });
}
