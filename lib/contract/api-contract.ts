import { readFileSync } from 'node:fs';
import { isObject } from '../json/is-object.js';
import { productRoot } from '../product/product-root.js';
import { readSpread, type Spread } from './spread.js';

/** A schema of the contract: OpenAPI 3.0 keywords plus `x-format`, the format name that error texts show. */
export type Schema = Readonly<Record<string, unknown>>;

export type Parameter = {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required: boolean;
  /** For people; empty where there is none. */
  readonly description: string;
  readonly schema: Schema;
  /** Kinds of resources whose ids it has (rest-api.md 5.3); the action of the operation says which of them is meant. */
  readonly resources: readonly string[];
};

export type BodyRule = {
  /** Accepted media types, as the 415 text lists them. */
  readonly types: readonly string[];
  /** Schema of a JSON body; absent for files. */
  readonly json: Schema | undefined;
  readonly required: boolean;
};

export type HttpMethod = 'GET' | 'PUT' | 'POST' | 'DELETE';

/** One operation of the contract. */
export type Operation = {
  readonly id: string;
  readonly method: HttpMethod;
  /** Path template, for example `/agents/{agent_id}/key`. */
  readonly path: string;
  /** For people. */
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly body: BodyRule | undefined;
  /** Actions the caller needs (rest-api.md 5.4), on the resources that the parameters name. */
  readonly actions: readonly string[];
  /** Action without which secrets are masked; undefined where there are none. */
  readonly secrets: string | undefined;
  /** Actions that have to be allowed on all resources for something that not everybody who may call it is answered. */
  readonly whole: readonly string[];
  readonly deprecated: boolean;
  /** Whether it answers only while `experimental_features` is on (rest-api.md 6.18). */
  readonly experimental: boolean;
  /** What this version has not built that the operation needs; undefined where that is nothing, or where it is not said. */
  readonly missing: string | undefined;
  /** Which nodes of a cluster answer it. */
  readonly spread: Spread;
  /** How the caller proves who it is: name and password, or a token. */
  readonly credentials: 'basic' | 'token';
};

/** The contract of the API: the document as published and the operations it holds. */
export type ApiContract = { readonly document: Record<string, unknown>; readonly operations: readonly Operation[] };

/**
 * Reads `api/openapi.yaml` of the product, as the build left it in JSON.
 * @throws Error when the document is not what this program expects: a broken installation
 */
export function loadContract(file = new URL('dist/openapi.json', productRoot())): ApiContract {
  const document = record(JSON.parse(readFileSync(file, 'utf8')), 'document');
  const operations: Operation[] = [];
  for (const [path, methods] of Object.entries(record(document['paths'], 'paths'))) {
    for (const [method, definition] of Object.entries(record(methods, path))) {
      operations.push(readOperation(document, path, method, record(definition, `${method} ${path}`)));
    }
  }
  return { document, operations };
}

function readOperation(
  document: Record<string, unknown>,
  path: string,
  method: string,
  definition: Record<string, unknown>,
): Operation {
  const security = definition['security'];
  const parameters = list(definition['parameters']).map((item) => readParameter(resolve(document, item)));
  return {
    id: text(definition['operationId'], `${method} ${path}`),
    method: method.toUpperCase() as HttpMethod,
    path,
    summary: text(definition['summary'], path),
    parameters,
    body: definition['requestBody'] === undefined ? undefined : readBody(resolve(document, definition['requestBody'])),
    actions: list(definition['x-rbac-actions']).map((action) => text(action, path)),
    secrets: definition['x-rbac-secrets'] === undefined ? undefined : text(definition['x-rbac-secrets'], path),
    whole: list(definition['x-rbac-whole']).map((action) => text(action, path)),
    deprecated: definition['deprecated'] === true,
    experimental: definition['x-experimental'] === true,
    missing: definition['x-missing'] === undefined ? undefined : text(definition['x-missing'], path),
    spread: readSpread(definition['x-cluster'], parameters, `${method} ${path}`),
    credentials: list(security).some((item) => 'basicAuth' in record(item, path)) ? 'basic' : 'token',
  };
}

function readParameter(definition: Record<string, unknown>): Parameter {
  const name = text(definition['name'], 'parameter');
  const where = text(definition['in'], name);
  if (where !== 'query' && where !== 'path' && where !== 'header') throw new Error(`contract: parameter ${name}`);
  return {
    name,
    in: where,
    required: definition['required'] === true,
    description: definition['description'] === undefined ? '' : text(definition['description'], name),
    schema: record(definition['schema'], name),
    resources: list(definition['x-rbac-resources']).map((kind) => text(kind, name)),
  };
}

function readBody(definition: Record<string, unknown>): BodyRule {
  const content = record(definition['content'], 'requestBody');
  const json = content['application/json'];
  return {
    types: Object.keys(content),
    json: json === undefined ? undefined : record(record(json, 'requestBody')['schema'], 'requestBody'),
    required: definition['required'] === true,
  };
}

function resolve(document: Record<string, unknown>, item: unknown): Record<string, unknown> {
  const definition = record(item, 'reference');
  const reference = definition['$ref'];
  if (typeof reference !== 'string') return definition;
  let target: unknown = document;
  for (const name of reference.replace(/^#\//, '').split('/')) target = record(target, reference)[name];
  return record(target, reference);
}

function record(value: unknown, where: string): Record<string, unknown> {
  if (!isObject(value)) throw new Error(`contract: ${where}`);
  return value;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown, where: string): string {
  if (typeof value !== 'string') throw new Error(`contract: ${where}`);
  return value;
}
