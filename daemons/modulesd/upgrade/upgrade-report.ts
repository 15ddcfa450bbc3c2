import { isObject } from '../../../lib/json/is-object.js';
import { agentText } from './agent-commands.js';

/** What an agent tells of its upgrade. */
export type UpgradeReport = { readonly succeeded: boolean; readonly message: string };

const COMMAND = 'upgrade_update_status';

/**
 * Reads an event of queue `u` (agents-and-groups.md 4.5):
 * `{"command":"upgrade_update_status","parameters":{"error":0,"message":"...","status":"Done"}}`.
 * @returns undefined for what is none
 */
export function readUpgradeReport(message: Uint8Array): UpgradeReport | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(message).toString('utf8'));
  } catch {
    return undefined;
  }
  if (!isObject(value) || value['command'] !== COMMAND) return undefined;
  const parameters = value['parameters'];
  if (!isObject(parameters) || typeof parameters['error'] !== 'number') return undefined;
  const text = parameters['message'];
  return { succeeded: parameters['error'] === 0, message: agentText(typeof text === 'string' ? text : '') };
}
