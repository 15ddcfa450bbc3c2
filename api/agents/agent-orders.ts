import { MAX_AGENTS_PER_SEND, type remotedContract } from '../../lib/bus/contracts/remoted.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import type { Home } from '../../lib/home/home.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest } from '../http/api-request.js';
import { type ApiResult, type FailedItem, type ListMessages, listResult } from '../http/envelope.js';
import { daemonFailure } from '../routes/daemon-call.js';
import type { AgentItem, AgentView, ChosenAgents } from './agent-view.js';

/** Longest wait for svc-remoted when the client lifted the request time limit, milliseconds. */
const MAX_DEADLINE_MS = 600_000;
/** What must be known of an agent to send it something. */
export const ORDER_FIELDS = ['status', 'version'];

export type AgentOrdersParts = {
  readonly home: Home;
  readonly node: () => string;
  readonly remoted: RequestClient<typeof remotedContract>;
};

/** Control messages to agents, which svc-remoted sends (agents-and-groups.md 4.5). */
export class AgentOrders {
  constructor(private readonly parts: AgentOrdersParts) {}

  /** @returns the agents it did not go to @throws ApiError 1017 when svc-remoted does not run */
  async send(request: ApiRequest, agents: readonly AgentItem[], message: string): Promise<FailedItem[]> {
    const { home, node, remoted } = this.parts;
    const failed: FailedItem[] = [];
    for (let at = 0; at < agents.length; at += MAX_AGENTS_PER_SEND) {
      const ids = agents.slice(at, at + MAX_AGENTS_PER_SEND).map(({ id }) => id);
      try {
        const options = { deadlineMs: MAX_DEADLINE_MS, signal: request.signal };
        const answer = await remoted.call('agents.send', { ids, message }, options);
        for (const { id, code } of answer.failed) {
          failed.push({ id, error: new ApiError(code === 'unknown_agent' ? 1701 : 1707) });
        }
      } catch (error) {
        throw await daemonFailure(error, home, request.nodeName(node()), 'svc-remoted');
      }
    }
    return failed;
  }
}

/**
 * The agents of a request, with what must be known of them to send them something; never 000.
 * @param ids undefined means all agents: those that cannot be reached are left out silently then
 */
export async function agentsToOrder(view: AgentView, ids: readonly string[] | undefined): Promise<ChosenAgents> {
  if (ids === undefined) return { agents: await view.all({ status: 'active' }, ORDER_FIELDS), failed: [] };
  return view.chooseAgents(ids, ORDER_FIELDS);
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
