import { fieldNumberText } from './number-text.js';
import type { JsonObject, JsonValue } from './parse-json.js';

/** A string or number member as text (numbers as `%i` or `%f`); undefined for others. */
export function scalarText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'number' ? fieldNumberText(value) : typeof value === 'string' ? value : undefined;
}

/** A string or number member as text, numbers as integers; undefined for others. */
export function integerText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'number' ? String(Math.trunc(value)) : typeof value === 'string' ? value : undefined;
}

/** A member that is an object. */
export function objectMember(object: JsonObject, name: string): JsonObject | undefined {
  const value = object.get(name);
  return value instanceof Map ? value : undefined;
}

/** A member that is a string. */
export function stringMember(object: JsonObject, name: string): string | undefined {
  const value = object.get(name);
  return typeof value === 'string' ? value : undefined;
}

/** Strings of a member that is an array. */
export function stringsMember(object: JsonObject, name: string): string[] | undefined {
  const value = object.get(name);
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined;
}
