import { isIP } from 'node:net';
import { isObject } from '../../../lib/json/is-object.js';

/** A field of a mapping. */
export type FieldMapping = { type?: string; format?: string; properties?: Record<string, FieldMapping> };

/** What a search engine says of a document that it refuses. */
export class RefusedDocument extends Error {
  constructor(
    readonly type: string,
    reason: string,
  ) {
    super(reason);
  }
}

const MAX_DEPTH = 20;
const MAX_FIELDS = 10_000;
const MAX_KEYWORD = 32_766;
const ISO_DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?$/;

/**
 * A mapping that judges documents as OpenSearch 2 does with the template of alerts: strings become keywords, other values what
 * they look like, and what does not fit is refused with the server's type of error.
 */
export class StrictMapping {
  properties: Record<string, FieldMapping>;
  #fields: number;

  constructor(properties: Record<string, FieldMapping>) {
    this.properties = structuredClone(properties);
    this.#fields = countFields(this.properties);
  }

  /** @throws RefusedDocument; nothing of the mapping has changed then */
  take(document: Record<string, unknown>): void {
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
        properties[name] ??= this.#dynamic(one);
        this.#value(one, properties[name], at, depth);
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
    if (type === 'keyword' && Buffer.byteLength(String(value)) > MAX_KEYWORD) {
      throw new RefusedDocument(
        'illegal_argument_exception',
        `Document contains at least one immense term in field="${path}"`,
      );
    }
  }
}

function fits(value: unknown, { type, format }: FieldMapping): boolean {
  switch (type) {
    case 'long':
    case 'integer':
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

function countFields(properties: Record<string, FieldMapping>): number {
  return Object.values(properties).reduce(
    (sum, { properties: inner }) => sum + 1 + (inner ? countFields(inner) : 0),
    0,
  );
}
