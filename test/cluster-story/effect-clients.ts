import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../chaos/random.js';
import type { EventHistory } from './event-history.js';
import type { Outcome } from './history.js';
import type { ApiAnswer, ManagerNode } from './manager-node.js';
import type { OrderHistory } from './order-history.js';
import { outcomeOf } from './requests.js';

const MAX_BATCH = 4;
/** A node is away for some minutes at most. */
const MAX_TRIES = 1000;
/** Agents that were not sent an order, surely. */
const NOT_SENT = new Set<unknown>([1701, 1707]);

/**
 * A client of one node that sends events. Half of its requests have a key and are repeated until they are acknowledged; the others are
 * not, since without a clear answer nobody knows what was done.
 */
export async function sendEvents(
  node: ManagerNode,
  history: EventHistory,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const tokens = Array.from({ length: random.integer(1, MAX_BATCH) }, () => history.take(node.name));
    const key = random.chance(0.5) ? randomBytes(12).toString('hex') : undefined;
    let outcome = await postEvents(node, tokens, key);
    for (let tries = 1; key !== undefined && outcome !== 'done' && tries < MAX_TRIES; tries += 1) {
      await delay(random.integer(50, 400));
      // What was refused this time may have been done before.
      outcome = (await postEvents(node, tokens, key)) === 'done' ? 'done' : 'unknown';
    }
    history.settle(tokens, outcome);
    await delay(random.integer(20, 250));
  }
}

export async function postEvents(node: ManagerNode, tokens: readonly string[], key?: string): Promise<Outcome> {
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  const answer = await node.api('POST', '/events', { events: tokens.map(eventText) }, headers);
  return answer?.status === 401 ? 'refused' : outcomeOf(answer);
}

/** A client of one node that has agents run responses, each request once. */
export async function askForOrders(
  node: ManagerNode,
  history: OrderHistory,
  agents: readonly string[],
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const agent = random.pick(agents);
    const { token, settle } = history.ask(agent);
    const order = { command: '!note', alert: { data: { full_log: eventText(token) } } };
    settle(orderOutcome(await node.api('PUT', `/active-response?agents_list=${agent}`, order)));
    await delay(random.integer(50, 500));
  }
}

function orderOutcome(answer: ApiAnswer | undefined): Outcome {
  if (answer?.status !== 200 || (answer.body.error ?? 0) === 0) return outcomeOf(answer);
  const failed = answer.body.data?.failed_items ?? [];
  return failed.length > 0 && failed.every(({ error }) => NOT_SENT.has(error?.code)) ? 'refused' : 'unknown';
}

export function eventText(token: string): string {
  return `Mar  7 09:15:02 gate effectsd[1]: token ${token} end`;
}

/** The token of the event, or the order, that a text is about. */
export function tokenIn(text: string): string | undefined {
  return /"full_log":"[^"]*effectsd\[1\]: token (\S+) end"/.exec(text)?.[1];
}
