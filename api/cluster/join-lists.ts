import type { ListMessages, ListResult, ShownFailure } from '../http/envelope.js';

/** What nodes answered of one request, in the order of the agents that their items are about. */
export function joinLists(
  lists: readonly ListResult[],
  failed: readonly ShownFailure[],
  messages: ListMessages,
): ListResult {
  const items = lists.flatMap((list) => list.items);
  const status = lists.find((list) => list.status !== undefined)?.status;
  return {
    items: items.every((item) => agentOf(item) !== undefined) ? [...items].sort(byAgent) : items,
    total: lists.reduce((sum, { total }) => sum + total, 0),
    failed: [...lists.flatMap((list) => list.failed ?? []), ...failed],
    messages,
    ...(status === undefined ? {} : { status }),
  };
}

function byAgent(one: unknown, other: unknown): number {
  return (agentOf(one) ?? 0) - (agentOf(other) ?? 0);
}

/** Number of the agent that an item is, or is about; undefined for an item about something else. */
function agentOf(item: unknown): number | undefined {
  const id: unknown = typeof item === 'object' && item !== null && 'agent' in item ? item.agent : item;
  return typeof id === 'string' && /^\d{3,8}$/.test(id) ? Number(id) : undefined;
}
