import { asciiLowerCase } from '../ascii-case.js';
import type { EngineEvent } from '../event.js';
import { findField } from '../event-field.js';
import type { IgnoreSpec } from '../load/rule.js';

/** Line that a rule with `<ignore>` appends to `queue/fts/ig-queue` (rules-and-alerts.md 6.6), without line ends. */
export function ignoreKey(event: EngineEvent, { parts, fields }: IgnoreSpec): string {
  const statics = [
    parts.has('name') ? event.decoder?.name : undefined,
    parts.has('id') ? event.id : undefined,
    parts.has('user') ? event.dstuser : undefined,
    parts.has('srcip') ? event.srcip : undefined,
    parts.has('dstip') ? event.dstip : undefined,
    parts.has('data') ? event.data : undefined,
    // The reference has a place for the system name that no word selects.
    undefined,
    parts.has('location') ? event.location : undefined,
  ];
  let key = statics.map((text) => text ?? '').join(' ');
  for (const name of fields) {
    const value = findField(event, asciiLowerCase(name));
    if (value !== undefined) key += ` ${value}`;
  }
  return key;
}
