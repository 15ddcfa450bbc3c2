import { isIP } from 'node:net';
import { isObject } from '../../../lib/json/is-object.js';

/** A field of a mapping. */
export type FieldMapping = {
  type?: string;
  format?: string;
  ignore_above?: number;
  scaling_factor?: number;
  properties?: Record<string, FieldMapping>;
};

/** What a search engine says of a document that it refuses. */
export class RefusedDocument extends Error {
  constructor(
    readonly type: string,
    reason: string,
  ) {
    super(reason);
  }
}

/** A document of a request. @throws RefusedDocument */
export function parseSource(source: string): Record<string, unknown> {
  try {
    const document: unknown = JSON.parse(source);
    if (isObject(document)) return document;
  } catch {
    // Told below.
  }
  throw new RefusedDocument('mapper_parsing_exception', 'failed to parse');
}

const MAX_DEPTH = 20;
const MAX_FIELDS = 10_000;
const MAX_KEYWORD = 32_766;
/** Whole numbers that the types take. */
const RANGES: Readonly<Record<string, readonly [bigint, bigint]>> = {
  short: [-(2n ** 15n), 2n ** 15n - 1n],
  integer: [-(2n ** 31n), 2n ** 31n - 1n],
  long: [-(2n ** 63n), 2n ** 63n - 1n],
  unsigned_long: [0n, 2n ** 64n - 1n],
};
const ISO_DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?$/;

/**
 * A mapping that judges documents as OpenSearch 2 does with the template of alerts: strings become keywords, other values what
 * they look like, and what does not fit is refused with the server's type of error.
 */
export class StrictMapping {
  properties: Record<string, FieldMapping>;
  readonly #isStrict: boolean;
  #fields: number;

  /** @param isStrict fields that are not in the mapping are refused (`dynamic: strict`) */
  constructor(properties: Record<string, FieldMapping>, isStrict = false) {
    this.properties = structuredClone(properties);
    this.#isStrict = isStrict;
    this.#fields = countFields(this.properties);
  }

  /** @throws RefusedDocument; nothing of the mapping has changed then */
  take(document: Record<string, unknown>): void {
    if (this.#isStrict) {
      this.#object(document, this.properties, '', 0);
      return;
    }
    const before = structuredClone(this.properties);
    const fields = this.#fields;
    try {
      this.#object(document, this.properties, '', 0);
    } catch (error) {
      this.properties = before;
      this.#fields = fields;
      throw error;
    }
  }

  #object(
    object: Record<string, unknown>,
    properties: Record<string, FieldMapping>,
    path: string,
    depth: number,
  ): void {
    if (depth >= MAX_DEPTH) {
      throw new RefusedDocument('mapper_parsing_exception', `Limit of mapping depth [${MAX_DEPTH}] has been exceeded`);
    }
    for (const [name, value] of Object.entries(object)) {
      if (name === '' || name.startsWith('.') || name.endsWith('.') || name.includes('..')) {
        throw new RefusedDocument(
          'mapper_parsing_exception',
          `field name cannot be an empty string or have such dots [${name}]`,
        );
      }
      const at = path === '' ? name : `${path}.${name}`;
      for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
        if (one === null || one === undefined) continue;
        const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
        if (field === undefined && this.#isStrict) {
          const reason = `mapping set to strict, dynamic introduction of [${at}] is not allowed`;
          throw new RefusedDocument('strict_dynamic_mapping_exception', reason);
        }
        this.#value(one, field ?? (properties[name] = this.#dynamic(one)), at, depth);
      }
    }
  }

  #dynamic(value: unknown): FieldMapping {
    this.#fields += 1;
    if (this.#fields > MAX_FIELDS) {
      throw new RefusedDocument(
        'illegal_argument_exception',
        `Limit of total fields [${MAX_FIELDS}] has been exceeded`,
      );
    }
    if (isObject(value)) return { properties: {} };
    if (typeof value === 'number') return { type: Number.isInteger(value) ? 'long' : 'float' };
    return { type: typeof value === 'boolean' ? 'boolean' : 'keyword' };
  }

  #value(value: unknown, field: FieldMapping, path: string, depth: number): void {
    if (field.properties !== undefined) {
      if (isObject(value)) return this.#object(value, field.properties, path, depth + 1);
      throw new RefusedDocument(
        'mapper_parsing_exception',
        `object mapping for [${path}] tried to parse field [${path}] as object, but found a concrete value`,
      );
    }
    const { type = '' } = field;
    if (Array.isArray(value)) {
      for (const one of value as unknown[]) if (one !== null) this.#value(one, field, path, depth);
      return;
    }
    if (isObject(value) ? type !== 'geo_point' : !fits(value, field)) {
      throw new RefusedDocument('mapper_parsing_exception', `failed to parse field [${path}] of type [${type}]`);
    }
    const isSearched = type === 'keyword' && String(value).length <= (field.ignore_above ?? Infinity);
    if (isSearched && Buffer.byteLength(String(value)) > MAX_KEYWORD) {
      throw new RefusedDocument(
        'illegal_argument_exception',
        `Document contains at least one immense term in field="${path}"`,
      );
    }
  }
}

function fits(value: unknown, { type, format }: FieldMapping): boolean {
  const range = RANGES[type ?? ''];
  if (range !== undefined && !isWithin(value, range)) return false;
  switch (type) {
    case 'short':
    case 'long':
    case 'integer':
    case 'unsigned_long':
    case 'scaled_float':
    case 'double':
    case 'float':
      return typeof value === 'number' || (typeof value === 'string' && value !== '' && !Number.isNaN(Number(value)));
    case 'boolean':
      return typeof value === 'boolean' || value === 'true' || value === 'false' || value === '';
    case 'ip':
      return typeof value === 'string' && isIP(value) !== 0;
    case 'date':
      if (typeof value === 'number') return format === undefined || format.includes('epoch_millis');
      return (
        typeof value === 'string' && (ISO_DATE.test(value) || (format !== 'date_optional_time' && /^\d+$/.test(value)))
      );
    case 'geo_point':
      return typeof value === 'string' && /^-?[\d.]+,-?[\d.]+$/.test(value);
    default:
      return true;
  }
}

function isWithin(value: unknown, [least, most]: readonly [bigint, bigint]): boolean {
  const number = Number(value);
  if (!Number.isFinite(number)) return false;
  const whole = typeof value === 'string' && /^-?\d+$/.test(value) ? BigInt(value) : BigInt(Math.trunc(number));
  return whole >= least && whole <= most;
}

function countFields(properties: Record<string, FieldMapping>): number {
  return Object.values(properties).reduce(
    (sum, { properties: inner }) => sum + 1 + (inner ? countFields(inner) : 0),
    0,
  );
}
