import { realpathSync } from 'node:fs';
import { isAbsolute, resolve, sep } from 'node:path';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { Schema } from '../../lib/contract/api-contract.js';
import { pythonText } from '../http/python-text.js';

/** Why a value does not meet its schema, in the words of rest-api.md 4.2. */
export type SchemaViolation = {
  readonly keyword: string;
  readonly reason: string;
  /** Steps from the value to the bad part: member names and array indexes. */
  readonly instancePath: readonly string[];
  /** The bad part and the schema it was held against. */
  readonly instance: unknown;
  readonly schema: Schema;
};

const PATH_FORMATS = new Set(['path', 'wpk_path', 'active_response_command', 'get_dirnames_path']);
const MAX_INT32 = 2 ** 31 - 1;
const TRAVERSAL = /\.\.[/\\]|[/\\]\.\./;

/** Checks values against schemas of the contract; schemas are compiled at their first use. */
export class SchemaChecker {
  readonly #ajv: Ajv;
  readonly #compiled = new WeakMap<Schema, ValidateFunction>();

  /** @param root installation directory: values of path formats must stay inside it, symbolic links followed */
  constructor(root: string) {
    // That the contract's schemas are such is tested; to hold them against the schema of schemas costs a tenth of a start.
    const trusting = { meta: false, validateSchema: false } as const;
    this.#ajv = new Ajv({ strict: false, verbose: true, allErrors: false, ownProperties: true, ...trusting });
    this.#ajv.addFormat('date', isDate);
    this.#ajv.addFormat('int32', { type: 'number', validate: (value: number) => Math.abs(value) <= MAX_INT32 });
    this.#ajv.addFormat('int64', { type: 'number', validate: Number.isSafeInteger });
    for (const name of ['password', 'binary', 'date-time']) this.#ajv.addFormat(name, true);
    this.#ajv.addKeyword({
      keyword: 'x-format',
      type: 'string',
      schemaType: 'string',
      validate: (format: string, value: string) => !PATH_FORMATS.has(format) || staysInside(root, value),
    });
  }

  /** @returns the first violation, or undefined when the value is valid */
  check(schema: Schema, value: unknown): SchemaViolation | undefined {
    let validate = this.#compiled.get(schema);
    if (validate === undefined) {
      validate = this.#ajv.compile(schema);
      this.#compiled.set(schema, validate);
    }
    if (validate(value)) return undefined;
    const error = validate.errors?.[0];
    return error === undefined ? undefined : violationOf(error);
  }
}

function violationOf(error: ErrorObject): SchemaViolation {
  const schema = (error.parentSchema ?? {}) as Schema;
  const format = schema['x-format'] ?? schema['format'];
  const isFormat = ['pattern', 'format', 'x-format'].includes(error.keyword) && typeof format === 'string';
  const keyword = isFormat ? 'format' : error.keyword;
  return {
    keyword,
    reason: reasonOf(keyword, error, typeof format === 'string' ? format : ''),
    instancePath: error.instancePath
      .split('/')
      .slice(1)
      .map((step) => step.replace(/~1/g, '/').replace(/~0/g, '~')),
    instance: error.data,
    schema,
  };
}

function reasonOf(keyword: string, error: ErrorObject, format: string): string {
  const value = pythonText(error.data);
  switch (keyword) {
    case 'type':
      return `${value} is not of type ${pythonText(error.schema)}`;
    case 'format':
      return `${value} is not a ${pythonText(format)}`;
    case 'pattern':
      return `${value} does not match ${pythonText(error.schema)}`;
    case 'enum':
      return `${value} is not one of ${pythonText(error.schema)}`;
    case 'minimum':
      return `${value} is less than the minimum of ${String(error.schema)}`;
    case 'maximum':
      return `${value} is greater than the maximum of ${String(error.schema)}`;
    case 'minLength':
    case 'minItems':
      return `${value} is too short`;
    case 'maxLength':
    case 'maxItems':
      return `${value} is too long`;
    case 'minProperties':
      return `${value} does not have enough properties`;
    case 'required':
      return `${pythonText((error.params as { missingProperty?: string }).missingProperty)} is a required property`;
    default:
      return `${value} is not valid under any of the given schemas`;
  }
}

/** YYYY-MM-DD with month 01-12 and day 01-31 (rest-api.md 4.3). */
function isDate(value: string): boolean {
  return /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/.test(value);
}

/** Path formats refuse steps upwards and whatever resolves outside the installation (rest-api.md 4.3). */
function staysInside(root: string, value: string): boolean {
  const path = value.replace(/^!/, '');
  if (TRAVERSAL.test(path) || path === '..') return false;
  if (isAbsolute(path) && path !== root && !path.startsWith(root + sep)) return false;
  const target = resolve(root, path);
  try {
    const real = realpathSync(target);
    const realRoot = realpathSync(root);
    return real === realRoot || real.startsWith(realRoot + sep);
  } catch {
    // What does not exist cannot lead outside; whoever opens it later answers for itself.
    return true;
  }
}
