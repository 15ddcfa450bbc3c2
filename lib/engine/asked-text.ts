import type { EngineEvent } from './event.js';

/**
 * What conditions ask an event for: attributes and dynamic fields without which they fail, whatever they say. Rules that ask for
 * a text that the event has not got are not tried.
 */
export type AskedTexts = {
  /** A bit for each attribute, see `attributeBit`. */
  readonly attributes: number;
  /** Numbers of dynamic fields in the ruleset's table. */
  readonly slots: readonly number[];
};

const ATTRIBUTES = [
  'program_name',
  'id',
  'system_name',
  'protocol',
  'action',
  'url',
  'srcip',
  'dstip',
  'srcport',
  'dstport',
  'user',
  'data',
  'extra_data',
  'status',
  // which no event has (rules-and-alerts.md 6.9)
  'srcgeoip',
  'dstgeoip',
] as const;

/** The bit of the attribute that an element looks at; 0 where every event has it. */
export function attributeBit(element: string): number {
  const position = ATTRIBUTES.findIndex((name) => name === element);
  return position < 0 ? 0 : 1 << position;
}

/** The bits of the attributes that an event has. */
export function attributesOf(event: EngineEvent): number {
  return (
    (event.programName === undefined ? 0 : 1) |
    (event.id === undefined ? 0 : 1 << 1) |
    (event.system_name === undefined ? 0 : 1 << 2) |
    (event.protocol === undefined ? 0 : 1 << 3) |
    (event.action === undefined ? 0 : 1 << 4) |
    (event.url === undefined ? 0 : 1 << 5) |
    (event.srcip === undefined ? 0 : 1 << 6) |
    (event.dstip === undefined ? 0 : 1 << 7) |
    (event.srcport === undefined ? 0 : 1 << 8) |
    (event.dstport === undefined ? 0 : 1 << 9) |
    (event.dstuser === undefined && event.srcuser === undefined ? 0 : 1 << 10) |
    (event.data === undefined ? 0 : 1 << 11) |
    (event.extra_data === undefined ? 0 : 1 << 12) |
    (event.status === undefined ? 0 : 1 << 13)
  );
}
