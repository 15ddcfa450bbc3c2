import { responseMessage } from '../../lib/agentlink/response-message.js';
import { RESTART_TEXT_ORDER, restartOrder } from '../../lib/agentlink/restart-order.js';
import type { AgentControlErrorNumber } from './agent-control-error.js';

/** Order to scan anew, for the integrity daemon of agents (agents-and-groups.md 4.5). */
export const SCAN_ORDER = 'syscheck restart';

/** What agents are told to do: to run a response against an address, say. */
export type AgentOrder = 'restart' | 'scan' | { readonly response: string; readonly address: string };

/** Numbers of the errors of an order: svc-remoted does not take it, an agent was not reached. */
export function orderErrors(
  order: AgentOrder,
): readonly [away: AgentControlErrorNumber, failed: AgentControlErrorNumber] {
  if (order === 'scan') return [41, 42];
  return order === 'restart' ? [43, 44] : [46, 47];
}

/** The order as the reference's program sends it (agent-transcript.md 11): it names neither node nor alert. */
export function orderMessage(order: AgentOrder, asText: boolean): string {
  if (order === 'scan') return SCAN_ORDER;
  if (order === 'restart') {
    return asText ? RESTART_TEXT_ORDER : restartOrder({ name: '', module: '' }, { srcip: 'null' });
  }
  const { response, address } = order;
  return `execd ${asText ? `${response} - ${address} (from_the_server) (no_rule_id)` : runMessage(response, address)}`;
}

/** The message that has svc-execd run a response (daemons-and-config.md 5.2). */
export function runMessage(response: string, address: string): string {
  const origin = { name: '', module: '' };
  return responseMessage({ origin, command: response, extraArgs: [], alert: { data: { srcip: address } } });
}
