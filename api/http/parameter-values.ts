import type { Operation, Parameter } from '../../lib/contract/api-contract.js';
import { isObject } from '../../lib/json/is-object.js';
import type { SchemaChecker, SchemaViolation } from '../contract/schema-checker.js';
import { ProblemError } from './problem-error.js';
import { pythonText } from './python-text.js';

/** These are lower-cased before validation, in queries and in paths (rest-api.md 4.1). */
const CASELESS = new Set([
  'component',
  'configuration',
  'hash',
  'requirement',
  'status',
  'type',
  'section',
  'tag',
  'level',
  'resource',
]);

/** Values that name daemons: the reference's spelling stands for ours (rest-api.md 8.2). */
const DAEMON_NAMES = new Set(['daemons_list', 'component', 'tag']);
const REFERENCE_PREFIX = /^wazuh-/;

type ParameterValue = string | number | boolean | readonly (string | number)[];

/** The checked parameters of one request by name, with the defaults of the contract filled in: see `Operations`. */
export type ParameterValues = Readonly<Record<string, unknown>>;

export type RawParameters = {
  readonly query: URLSearchParams;
  readonly path: ReadonlyMap<string, string>;
  header(name: string): string | undefined;
};

/**
 * Checks names, then query values, then path values (rest-api.md 1.2 step 7), and converts them.
 * @throws ProblemError 400 with the texts of rest-api.md 4.2
 */
export function readParameters(operation: Operation, raw: RawParameters, checker: SchemaChecker): ParameterValues {
  refuseUnknownNames(operation, raw.query);
  const values: Record<string, unknown> = {};
  for (const where of ['query', 'path', 'header'] as const) {
    for (const parameter of operation.parameters) {
      if (parameter.in !== where) continue;
      const given = rawValues(parameter, raw);
      if (given.length === 0) {
        if (parameter.required) throw ProblemError.badRequest(`Missing ${where} parameter '${parameter.name}'`);
        if (parameter.schema['default'] !== undefined) values[parameter.name] = parameter.schema['default'];
        continue;
      }
      const value = convert(parameter, given);
      const violation = checker.check(parameter.schema, value);
      if (violation !== undefined) throw ProblemError.badRequest(describe(violation));
      values[parameter.name] = value;
    }
  }
  return values;
}

function refuseUnknownNames(operation: Operation, query: URLSearchParams): void {
  const known = new Set(operation.parameters.filter(({ in: where }) => where === 'query').map(({ name }) => name));
  const unknown = [...new Set(query.keys())].filter((name) => !known.has(name));
  if (unknown.length > 0) throw ProblemError.badRequest(`Extra query parameter(s) ${unknown.join(',')} not in spec`);
}

function rawValues(parameter: Parameter, raw: RawParameters): readonly string[] {
  if (parameter.in === 'query') return raw.query.getAll(parameter.name);
  const value = parameter.in === 'path' ? raw.path.get(parameter.name) : raw.header(parameter.name);
  return value === undefined ? [] : [value];
}

/** Of a repeated scalar the last one counts, repeated lists are joined (rest-api.md 4.1). */
function convert(parameter: Parameter, given: readonly string[]): ParameterValue {
  const texts = CASELESS.has(parameter.name) ? given.map((text) => text.toLowerCase()) : given;
  const { schema } = parameter;
  if (schema['type'] === 'array') {
    const items = schema['items'];
    const type = isObject(items) ? items['type'] : 'string';
    const split = texts.flatMap((text) => text.split(','));
    const parts = DAEMON_NAMES.has(parameter.name) ? split.map(daemonName) : split;
    return type === 'integer' ? parts.map(toInteger) : parts;
  }
  const last = texts.at(-1) ?? '';
  if (schema['type'] === 'integer') return toInteger(last);
  if (schema['type'] === 'boolean') return toBoolean(last);
  return DAEMON_NAMES.has(parameter.name) ? daemonName(last) : last;
}

function daemonName(text: string): string {
  return text.replace(REFERENCE_PREFIX, 'svc-');
}

/** What is no integer stays a text, which the schema then refuses by its type. */
function toInteger(text: string): number | string {
  const value = /^\s*[+-]?\d{1,16}\s*$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : text;
}

function toBoolean(text: string): boolean | string {
  const lower = text.toLowerCase();
  return lower === 'true' ? true : lower === 'false' ? false : text;
}

function describe(violation: SchemaViolation): string {
  const index = violation.instancePath[0];
  const schemaPath = index === undefined ? '' : "['items']";
  const instancePath = index === undefined ? '' : `[${index}]`;
  return (
    `${violation.reason}. Failed validating '${violation.keyword}' in schema${schemaPath}: ` +
    `${schemaText(violation.schema)}. On instance${instancePath}: ${pythonText(violation.instance)}`
  );
}

/** The schema with its format name in place of the pattern behind it. */
function schemaText(schema: Record<string, unknown>): string {
  const shown: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'x-format') shown['format'] = value;
    else if (key !== 'pattern' && !key.startsWith('x-')) shown[key] = value;
  }
  return pythonText(shown);
}
