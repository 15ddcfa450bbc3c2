import { asciiLowerCase } from './ascii-case.js';
import type { EngineEvent } from './event.js';

/**
 * Value of the first dynamic field with this name, compared without regard to case (decoding.md 4.6).
 * @param key the name in ASCII lower case
 */
export function findField(event: EngineEvent, key: string): string | undefined {
  const names = event.fieldNames;
  for (let i = 0; i < names.length; i += 1) {
    const name = names[i];
    if (name === undefined || name.length !== key.length) continue;
    if (name === key || asciiLowerCase(name) === key) return event.fieldValues[i];
  }
  return undefined;
}
