import { isObject } from '../../json/is-object.js';
import { AgentMessageError } from './agent-message-error.js';
import type { SyncAnswer } from './sync-step.js';

/** Longest answer that is read, in characters: more than the wire lets through. */
const MAX_ANSWER_LENGTH = 1024 * 1024;

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reads the JSON behind `dbsync checksum_fail` and `dbsync no_data` (integrity-and-inventory.md 4.4). The order of keys is
 * free and unknown names are left alone.
 * @throws AgentMessageError
 */
export function readSyncAnswer(verb: string, json: string): SyncAnswer {
  if (verb !== 'checksum_fail' && verb !== 'no_data') throw badField('verb', 'is neither checksum_fail nor no_data');
  const data = parse(json);
  return { verb, begin: textOf(data, 'begin'), end: textOf(data, 'end'), id: integerOf(data, 'id') };
}

function parse(text: string): JsonObject {
  if (text.length > MAX_ANSWER_LENGTH) throw new AgentMessageError('malformed', 'The message is too long');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new AgentMessageError('malformed', 'The message is no JSON');
  }
  if (!isObject(value)) throw new AgentMessageError('malformed', 'The message is no JSON object');
  return value;
}

function textOf(object: JsonObject, name: string): string {
  const value = object[name];
  if (typeof value !== 'string') throw badField(name, 'is no text');
  return value;
}

function integerOf(object: JsonObject, name: string): number {
  const value = object[name];
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) throw badField(name, 'is no whole number');
  return number;
}

function badField(field: string, what: string): AgentMessageError {
  return new AgentMessageError('bad_field', `Field '${field}' ${what}`, field);
}
