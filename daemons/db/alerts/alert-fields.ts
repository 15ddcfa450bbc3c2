import type { AlertField } from '../../../lib/bus/contracts/db-alerts.js';
import { fieldPath, fieldValue } from '../../../lib/query/field-values.js';

/** A plain value of an alert. */
export type PlainValue = string | number | boolean;
/** What an alert has for a field; null where it has not. */
export type AlertValue = PlainValue | readonly PlainValue[] | null;
/** An alert as JSON is read. */
export type AlertJson = Readonly<Record<string, unknown>>;

/**
 * Fields that are kept together: an alert has the number of what they are, all of one family as one. Those that belong
 * together cost one number, and one that differs from alert to alert does not spoil the others.
 */
export const FAMILIES: readonly (readonly AlertField[])[] = [
  [
    ...(['rule.id', 'rule.level', 'rule.groups', 'rule.mitre.id', 'rule.mitre.tactic'] as const),
    ...(['rule.mitre.technique', 'rule.pci_dss', 'rule.gdpr', 'rule.hipaa', 'rule.nist_800_53', 'rule.tsc'] as const),
  ],
  ['agent.id', 'agent.name', 'agent.ip'],
  ['manager.name', 'cluster.name', 'cluster.node', 'decoder.name', 'location', 'predecoder.program_name'],
  ['predecoder.hostname'],
  ['data.srcip'],
  ['data.dstip'],
  ['data.srcuser'],
  ['data.dstuser'],
  ['data.user'],
  ['syscheck.path'],
  ['syscheck.event'],
  ['data.win.system.eventID', 'data.win.system.channel', 'data.win.system.providerName'],
];

/** Where a field is kept: its family, and its place in that. */
export type FieldPlace = { readonly family: number; readonly index: number };

const PLACES: ReadonlyMap<string, FieldPlace> = new Map(
  FAMILIES.flatMap((fields, family) => fields.map((field, index) => [field, { family, index }] as const)),
);

/** Where a field is kept apart; undefined for one that is read from the alert's text. */
export function placeOfField(field: string): FieldPlace | undefined {
  return PLACES.get(field);
}

/** How a field is read from an alert. */
export function fieldReader(field: string): (alert: AlertJson) => AlertValue {
  const path = fieldPath(field);
  return (alert) => plainValue(fieldValue(alert, path));
}

/** What an alert's fields of a family are, in its order. */
export type FamilyReader = (alert: AlertJson) => AlertValue[];

/** Readers of all families. */
export const FAMILY_READERS: readonly FamilyReader[] = FAMILIES.map((fields) => {
  const readers = fields.map(fieldReader);
  return (alert) => readers.map((read) => read(alert));
});

/** What counts of a member: plain values, one or several. */
export function plainValue(value: unknown): AlertValue {
  if (isPlain(value)) return value;
  if (!Array.isArray(value)) return null;
  const values = value.filter(isPlain);
  return values.length === 0 ? null : values;
}

function isPlain(value: unknown): value is PlainValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
