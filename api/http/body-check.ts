import type { BodyRule, Schema } from '../../lib/contract/api-contract.js';
import { isObject } from '../../lib/json/is-object.js';
import type { SchemaChecker } from '../contract/schema-checker.js';
import { ProblemError } from './problem-error.js';
import { pythonSet, pythonText } from './python-text.js';

/** Media type of a Content-Type header: lower case, without parameters; undefined when absent. */
export function mediaType(header: string | undefined): string | undefined {
  const type = header?.split(';', 1)[0]?.trim().toLowerCase();
  return type === '' ? undefined : type;
}

/** @throws ProblemError 415 when the type is none the operation takes; no type at all passes here (rest-api.md 1.5) */
export function checkMediaType(rule: BodyRule, type: string | undefined): void {
  if (type === undefined || rule.types.includes(type)) return;
  const detail = `Invalid Content-type (${type}), expected ${pythonText(rule.types)}`;
  throw new ProblemError(415, { title: 'Unsupported Media Type', detail });
}

/**
 * Parses a JSON body and holds it against its schema.
 * @throws ProblemError 400 with the texts of rest-api.md 1.5 and 4.2
 */
export function parseJsonBody(bytes: Buffer | undefined, schema: Schema, checker: SchemaChecker): unknown {
  if (bytes === undefined || bytes.length === 0) throw ProblemError.badRequest('Request body must not be empty');
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw ProblemError.badRequest(error instanceof SyntaxError ? error.message : 'The request body is not UTF-8');
  }
  const violation = checker.check(schema, value);
  if (violation === undefined) return value;
  const path = violation.instancePath.join('.');
  throw ProblemError.badRequest(path === '' ? violation.reason : `${violation.reason} - '${path}'`);
}

/**
 * Fields that no schema of the body names. An object without named members takes any.
 * @throws ProblemError 400 that lists them
 */
export function refuseUnknownFields(value: unknown, schema: Schema): void {
  const unknown = [...new Set(unknownFields(value, schema))];
  if (unknown.length > 0) throw ProblemError.badRequest(`Invalid field found ${pythonSet(unknown)}`);
}

function unknownFields(value: unknown, schema: Schema): string[] {
  const properties = schema['properties'];
  if (!isObject(value) || !isObject(properties)) return [];
  const known = new Map(Object.entries(properties as Record<string, Schema>));
  return Object.entries(value).flatMap(([name, member]) => {
    const memberSchema = known.get(name);
    return memberSchema === undefined ? [name] : unknownFields(member, memberSchema);
  });
}
