import fc from 'fast-check';
import { SchemaDocument } from '../../../../api/docs/schema-document.js';
import type { ApiContract, Operation, Parameter, Schema } from '../../../../lib/contract/api-contract.js';
import { bodyArbitrary, type FuzzBody } from './body-arbitrary.js';
import { hostileText } from './hostile-texts.js';
import { goodValue } from './parameter-arbitrary.js';

/** How a request says who it comes from; `good` is a token, or a password where the operation takes that. */
export type FuzzCredentials = 'good' | 'none' | 'hostile';

/** A request that is valid, or nearly. */
export type FuzzRequest = {
  readonly operation: Operation;
  readonly method: string;
  readonly target: string;
  readonly credentials: FuzzCredentials;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: FuzzBody;
};

/** Levels of members below an item of a list that queries may name. */
const MAX_FIELD_DEPTH = 3;
const OTHER_FIELDS = ['id', 'name', 'nothing', 'a.b.c', '__proto__', 'constructor.name', 'id.id', ''];
const HEADERS: readonly Readonly<Record<string, string>>[] = [
  { accept: 'text/html' },
  { accept: '*/*;q=0' },
  { 'accept-encoding': 'gzip, br' },
  { 'content-encoding': 'gzip' },
  { 'x-forwarded-for': '127.0.0.1' },
  { 'x-http-method-override': 'DELETE' },
  { cookie: 'a=b; '.repeat(100) },
  { origin: 'https://example.org' },
  { 'idempotency-key': 'one' },
  { 'idempotency-key': 'x'.repeat(65) },
  { range: 'bytes=0-1' },
  { 'if-none-match': '*' },
  { 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
];

/** Requests of all operations, each as often as any other. @param leaveOut ids of operations that are not to be tried */
export function requestArbitrary(contract: ApiContract, leaveOut: readonly string[] = []): fc.Arbitrary<FuzzRequest> {
  const schemas = new SchemaDocument(contract.document);
  const chosen = contract.operations.filter(({ id }) => !leaveOut.includes(id));
  return fc.oneof(...chosen.map((operation) => requestOf(operation, fieldsOf(schemas, contract, operation))));
}

function requestOf(operation: Operation, fields: readonly string[]): fc.Arbitrary<FuzzRequest> {
  const { parameters } = operation;
  const inPath = parameters.filter(({ in: where }) => where === 'path');
  const path = fc
    .tuple(...inPath.map((parameter) => valueOf(parameter, fields, 12).map(encoded)))
    .map((values) =>
      inPath.reduce((text, { name }, at) => text.replace(`{${name}}`, () => values[at] ?? ''), operation.path),
    );
  const known = parameters.filter(({ in: where }) => where === 'query');
  const target = fc
    .tuple(path, queryOf(known, fields), fc.constantFrom('', '', '', '', '', '', '', '', '', '', '', '/'))
    .map(([place, query, end]) => place + end + (query === '' ? '' : `?${query}`));
  return fc.record({
    operation: fc.constant(operation),
    method: fc.oneof(
      { weight: 40, arbitrary: fc.constant<string>(operation.method) },
      fc.constantFrom('HEAD', 'OPTIONS', 'PATCH', 'GET', 'DELETE'),
    ),
    target,
    credentials: fc.oneof(
      { weight: 25, arbitrary: fc.constant<FuzzCredentials>('good') },
      fc.constantFrom<FuzzCredentials>('none', 'hostile'),
    ),
    headers: fc.oneof({ weight: 8, arbitrary: fc.constant({}) }, fc.constantFrom(...HEADERS)),
    body: bodyArbitrary(operation),
  });
}

/** Those that are required for the most part, some others, a repeated one, and one that nobody knows. */
function queryOf(known: readonly Parameter[], fields: readonly string[]): fc.Arbitrary<string> {
  const pairOf = (parameter: Parameter) => valueOf(parameter, fields, 8).map((value) => pair(parameter.name, value));
  const required = known.filter((parameter) => parameter.required).map(pairOf);
  const optional = known.filter((parameter) => !parameter.required).map(pairOf);
  const some = optional.length === 0 ? fc.constant<string[]>([]) : fc.array(fc.oneof(...optional), { maxLength: 4 });
  const unknown = fc
    .tuple(
      fc.oneof(fc.constantFrom('__proto__', 'constructor', 'limit', 'LIMIT', 'q[]', 'q.a', ''), hostileText),
      hostileText,
    )
    .map(([name, value]) => [pair(name, value)]);
  const strange = fc.oneof({ weight: 20, arbitrary: fc.constant<string[]>([]) }, unknown);
  const whole = fc.tuple(fc.tuple(...required), some, strange).map((parts) => parts.flat());
  return fc
    .tuple(whole, fc.oneof({ weight: 20, arbitrary: fc.constant(1) }, fc.constantFrom(0, 2, 40)))
    .map(([pairs, times]) =>
      (times === 0 ? pairs.slice(1) : Array.from({ length: times }, () => pairs).flat()).join('&'),
    );
}

function valueOf(parameter: Parameter, fields: readonly string[], goodWeight: number): fc.Arbitrary<string> {
  return fc.oneof({ weight: goodWeight, arbitrary: goodValue(parameter, fields) }, hostileText);
}

function pair(name: string, value: string): string {
  return `${encoded(name)}=${encoded(value)}`;
}

function encoded(text: string): string {
  return encodeURIComponent(text);
}

/** What items of the answer have, with dots, as queries name it. */
function fieldsOf(schemas: SchemaDocument, { document }: ApiContract, { path, method }: Operation): string[] {
  const found: string[] = [];
  const walk = (schema: Schema, prefix: string, depth: number): void => {
    const whole = schemas.resolve(schema);
    if (whole['type'] === 'array') walk((whole['items'] ?? {}) as Schema, prefix, depth);
    if (depth > MAX_FIELD_DEPTH) return;
    for (const [name, member] of schemas.properties(whole)) {
      found.push(`${prefix}${name}`);
      walk(member, `${prefix}${name}.`, depth + 1);
    }
  };
  const paths = document['paths'] as Record<string, Record<string, { responses?: Record<string, Schema> }>>;
  const response = paths[path]?.[method.toLowerCase()]?.responses?.['200'];
  const content =
    response === undefined ? undefined : (schemas.resolve(response)['content'] as Record<string, { schema: Schema }>);
  const answer = content?.['application/json']?.schema;
  const data = answer === undefined ? undefined : schemas.properties(answer).get('data');
  const items = data === undefined ? undefined : schemas.properties(data).get('affected_items');
  if (items !== undefined) walk(items, '', 0);
  return [...found, ...OTHER_FIELDS];
}
