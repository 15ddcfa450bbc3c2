import { asciiLowerCase } from './ascii-case.js';
import type { EngineEvent } from './event.js';

/**
 * Events with more fields than this are looked up in an index, since a log can have a thousand. Making it costs a microsecond
 * for tens of fields, and few are looked up: descriptions and composites name some.
 */
const MAX_SEARCHED = 64;

/**
 * Value of the first dynamic field with this name, compared without regard to case (decoding.md 4.6).
 * @param key the name in ASCII lower case
 */
export function findField(event: EngineEvent, key: string): string | undefined {
  const names = event.fieldNames;
  if (names.length > MAX_SEARCHED) return indexed(event).get(key);
  for (let i = 0; i < names.length; i += 1) {
    const name = names[i];
    if (name === undefined || name.length !== key.length) continue;
    if (isSpelling(name, key)) return event.fieldValues[i];
  }
  return undefined;
}

/** Whether a name of the same length is the key, without regard to the case of ASCII letters. Names differ at their ends. */
function isSpelling(name: string, key: string): boolean {
  for (let i = key.length - 1; i >= 0; i -= 1) {
    const code = name.charCodeAt(i);
    if ((code >= 0x41 && code <= 0x5a ? code | 0x20 : code) !== key.charCodeAt(i)) return false;
  }
  return true;
}

/** The event's fields by their names in lower case; those that came since the last time are added. */
function indexed(event: EngineEvent): ReadonlyMap<string, string> {
  const index = (event.fieldIndex ??= { count: 0, values: new Map<string, string>() });
  const { fieldNames, fieldValues } = event;
  for (; index.count < fieldNames.length; index.count += 1) {
    const key = asciiLowerCase(fieldNames[index.count] ?? '');
    if (!index.values.has(key)) index.values.set(key, fieldValues[index.count] ?? '');
  }
  return index.values;
}
