import { isOlderThan } from './agent-version.js';
import { type OrderOrigin, responseMessage } from './response-message.js';

/** Agents from this release line on take orders for svc-execd as JSON, older ones as text (daemons-and-config.md 5.2). */
const JSON_SINCE = { major: 4, minor: 2 };

/** The order to restart, as text, for agents before 4.2. */
export const RESTART_TEXT_ORDER = 'execd restart-ossec0 - null (from_the_server) (no_rule_id)';

/** Whether an agent is so old that it takes orders as text. @param version as agents say theirs: `Wazuh v4.14.7` */
export function takesTextOrders(version: unknown): boolean {
  return typeof version === 'string' && isOlderThan(version, JSON_SINCE);
}

/** The order to restart, as JSON, without the header of control messages. @param data of the alert it names */
export function restartOrder(origin: OrderOrigin, data: Readonly<Record<string, string>> = {}): string {
  return `execd ${responseMessage({ origin, command: 'restart-wazuh0', extraArgs: [], alert: { data } })}`;
}
