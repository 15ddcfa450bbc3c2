import { didYouMean } from './closest-name.js';
import { type ApiMethod, type ApiOperation, type ApiParameter, findOperation } from './operations.js';
import { ApiUsageError } from './usage-error.js';

/** Parameters that are of no use to somebody who types: answers are shown in a form of our own. */
const HIDDEN = new Set(['pretty']);
const INTEGER = /^-?\d{1,15}$/;

/** What is asked for. */
export type ApiRequest = {
  readonly operation: ApiOperation;
  /** Path as it is sent, without query. */
  readonly path: string;
  readonly query: ReadonlyMap<string, string>;
};

/** Parameters of the query that an operation takes. */
export function queryParameters(operation: ApiOperation): readonly ApiParameter[] {
  return operation.parameters.filter(({ in: where, name }) => where === 'query' && !HIDDEN.has(name));
}

/**
 * Reads a request as it is typed and holds it against the contract.
 * @param target path, with or without a query: `/agents?limit=5`
 * @param pairs further parameters as `name=value`
 * @throws ApiUsageError that says what there is
 */
export function parseRequest(
  operations: readonly ApiOperation[],
  method: ApiMethod,
  target: string,
  pairs: readonly string[] = [],
): ApiRequest {
  if (!target.startsWith('/')) throw new ApiUsageError(`a path begins with a slash: /${target}`);
  const [rawPath = '', ...rest] = target.split('?');
  const path = rawPath.length > 1 ? rawPath.replace(/\/+$/, '') : rawPath;
  const operation = findOperation(operations, method, decoded(path));
  const query = new Map<string, string>();
  const typed = rest
    .join('?')
    .split('&')
    .filter((part) => part !== '')
    .map((part) => pairOf(part).map((text) => decoded(text.replaceAll('+', ' '))));
  for (const [name = '', value = ''] of [...typed, ...pairs.map(pairOf)]) query.set(name, value);
  checkPlaces(operation, decoded(path));
  checkQuery(operation, query);
  return { operation, path: decoded(path).split('/').map(encodeURIComponent).join('/'), query };
}

function pairOf(text: string): [string, string] {
  const end = text.indexOf('=');
  if (end <= 0) throw new ApiUsageError(`'${text}' is no parameter: NAME=VALUE`);
  return [text.slice(0, end), text.slice(end + 1)];
}

/** What stands there for something that cannot be typed; a lone percent sign stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function checkPlaces(operation: ApiOperation, path: string): void {
  const segments = path.split('/');
  for (const [index, place] of operation.path.split('/').entries()) {
    if (!place.startsWith('{')) continue;
    const found = operation.parameters.find(({ in: where, name }) => where === 'path' && `{${name}}` === place);
    const value = segments[index] ?? '';
    if (value === place) throw new ApiUsageError(`${place} stands for ${lowerFirst(found?.description ?? 'a value')}`);
    if (value === '.' || value === '..') throw new ApiUsageError(`'${value}' is no ${place}`);
    if (found !== undefined) checkValue(found, value);
  }
}

/** @throws ApiUsageError for a name that the operation does not take, a bad value, or one that is missing */
export function checkQuery(operation: ApiOperation, query: ReadonlyMap<string, string>): void {
  const known = queryParameters(operation);
  for (const [name, value] of query) {
    const found = known.find((one) => one.name === name);
    if (found !== undefined) {
      checkValue(found, value);
    } else if (!HIDDEN.has(name)) {
      const names = known.map((one) => one.name);
      const there = names.length === 0 ? 'it takes none' : `it takes ${names.sort().join(', ')}`;
      throw new ApiUsageError(
        `${operation.method} ${operation.path} has no parameter '${name}'${didYouMean(name, names)}; ${there}`,
      );
    }
  }
  for (const { name, required, description } of known) {
    if (required && !query.has(name)) {
      throw new ApiUsageError(`${operation.method} ${operation.path} needs ${name}=...: ${lowerFirst(description)}`);
    }
  }
}

function checkValue(parameter: ApiParameter, text: string): void {
  for (const value of parameter.list ? text.split(',') : [text]) {
    const problem = problemOf(parameter, value);
    if (problem !== undefined) throw new ApiUsageError(`${parameter.name}: '${value}' ${problem}`);
  }
}

/** What is wrong with a value, to be read after it. */
function problemOf({ rule, description }: ApiParameter, value: string): string | undefined {
  const { enum: choices, pattern, minimum = -Infinity, maximum = Infinity, minLength = 0, maxLength = Infinity } = rule;
  if (choices !== undefined && !choices.map(String).includes(value)) {
    const names = choices.map(String);
    return `is none of ${names.join(', ')}${didYouMean(value, names)}`;
  }
  if (rule.type === 'boolean' && value !== 'true' && value !== 'false') return 'is neither true nor false';
  if (rule.type === 'integer' || rule.type === 'number') {
    const number = Number(value);
    if (rule.type === 'integer' && !INTEGER.test(value)) return 'is no whole number';
    if (value.trim() === '' || !Number.isFinite(number)) return 'is no number';
    if (number < minimum) return `is less than ${minimum}`;
    if (number > maximum) return `is more than ${maximum}`;
    return undefined;
  }
  if (value.length < minLength) return `is shorter than ${minLength} characters`;
  if (value.length > maxLength) return `is longer than ${maxLength} characters`;
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) {
    return `cannot be (${rule['x-format'] ?? pattern}): ${lowerFirst(description)}`;
  }
  return undefined;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
