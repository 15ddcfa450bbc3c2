import { isObject } from '../../json/is-object.js';
import type { JsonMessage, JsonObject } from './read-json.js';
import type { SyncAnswer } from './sync-step.js';

/**
 * The manager's answer to a check that failed, `fim_file dbsync no_data {..}`: what was received, without what only the
 * manager needs (integrity-and-inventory.md 4.4). `readSyncAnswer` reads what stands behind the verb.
 * @param component as the agent calls it
 */
export function syncAnswer(component: string, verb: SyncAnswer['verb'], received: JsonMessage): Buffer {
  const data: JsonObject = isObject(received.value['data']) ? received.value['data'] : {};
  const kept = Object.fromEntries(Object.entries(data).filter(([name]) => name !== 'tail' && name !== 'checksum'));
  return received.bytes(`${component} dbsync ${verb} ${JSON.stringify(kept)}`);
}
