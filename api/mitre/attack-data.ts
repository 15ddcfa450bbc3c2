import { readFileSync } from 'node:fs';
import { isObject } from '../../lib/json/is-object.js';
import { productRoot } from '../../lib/product/product-root.js';

/** The lists of ATT&CK objects, in the order of the data file. */
export const ATTACK_KINDS = ['tactics', 'techniques', 'groups', 'mitigations', 'software'] as const;
export type AttackKind = (typeof ATTACK_KINDS)[number];

/**
 * An object as `api/mitre/attack-objects.json` has it. Related objects are named by their external ids, of one direction
 * alone: the other one follows from it.
 */
export type AttackRecord = {
  readonly external_id: string;
  readonly id: string;
  readonly name: string;
  /** ISO 8601 with milliseconds, UTC. */
  readonly created_time: string;
  readonly modified_time: string;
  readonly mitre_version: string;
  readonly short_name?: string;
  readonly deprecated?: boolean;
  readonly remote_support?: boolean;
  readonly revoked_by?: string;
  readonly subtechnique_of?: string;
  /** Places in the list of references. */
  readonly references?: readonly number[];
} & Readonly<Partial<Record<AttackKind, readonly string[]>>>;

/** What the product knows of ATT&CK: the records by kind, the references that they cite, and our descriptions. */
export type AttackData = Readonly<Record<AttackKind, readonly AttackRecord[]>> & {
  /** Edition of ATT&CK. */
  readonly version: string;
  /** Source and url of each. */
  readonly references: readonly (readonly [string, string])[];
  /** Lines of our own by kind and external id. */
  readonly descriptions: Readonly<Partial<Record<AttackKind, Readonly<Record<string, string>>>>>;
};

/**
 * Reads the data that the product comes with (rest-api.md 6.17); `npm test` holds it against its source.
 * @throws Error when it is not what this program expects: a broken installation
 */
export function loadAttackData(): AttackData {
  const objects = readJson('attack-objects.json');
  const lists = ['references', ...ATTACK_KINDS].every((name) => Array.isArray(objects[name]));
  if (!lists || typeof objects['version'] !== 'string') throw new Error('attack-objects.json is not complete');
  return { ...(objects as Omit<AttackData, 'descriptions'>), descriptions: readJson('descriptions.json') };
}

function readJson(name: string): Record<string, unknown> {
  const value: unknown = JSON.parse(readFileSync(new URL(`api/mitre/${name}`, productRoot()), 'utf8'));
  if (!isObject(value)) throw new Error(`${name} holds no object`);
  return value;
}
