import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { isObject } from '../../lib/json/is-object.js';
import { productRoot } from '../../lib/product/product-root.js';
import { didYouMean } from './closest-name.js';
import { ApiUsageError } from './usage-error.js';

const rule = z.object({
  type: z.string().optional(),
  enum: z.array(z.union([z.string(), z.number(), z.boolean()])).optional(),
  pattern: z.string().optional(),
  'x-format': z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
});

const parameterDefinition = z.object({
  name: z.string(),
  in: z.enum(['query', 'path', 'header']),
  required: z.boolean().default(false),
  description: z.string().default(''),
  schema: rule.extend({ items: rule.optional() }),
});

const operationDefinition = z.object({
  summary: z.string(),
  parameters: z.array(z.unknown()).default([]),
  requestBody: z.unknown().optional(),
});

const bodyDefinition = z.object({
  content: z.record(z.string(), z.unknown()),
  required: z.boolean().default(false),
});

const contract = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });

/** A parameter of the contract, as far as a client needs it. */
export type ApiParameter = {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required: boolean;
  readonly description: string;
  /** Whether values are listed with commas. */
  readonly list: boolean;
  /** What each value is held against. */
  readonly rule: z.infer<typeof rule>;
};

export type ApiMethod = 'GET' | 'PUT' | 'POST' | 'DELETE';

/** An operation of the contract, as far as a client needs it. */
export type ApiOperation = {
  readonly method: ApiMethod;
  /** With places: `/agents/{agent_id}/key`. */
  readonly path: string;
  readonly summary: string;
  readonly parameters: readonly ApiParameter[];
  /** Media types of the body; none: there is no body. */
  readonly bodyTypes: readonly string[];
  readonly bodyRequired: boolean;
};

/** Methods of the API. */
export const API_METHODS: readonly ApiMethod[] = ['GET', 'PUT', 'POST', 'DELETE'];

/**
 * The operations of the contract (api/openapi.yaml), as the build left it in JSON.
 * @throws Error when it is not there: a build that was broken off
 */
export function loadOperations(file = new URL('dist/openapi.json', productRoot())): readonly ApiOperation[] {
  const document: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const { paths } = contract.parse(document);
  return Object.entries(paths).flatMap(([path, methods]) =>
    API_METHODS.flatMap((method) => {
      const definition = methods[method.toLowerCase()];
      return definition === undefined ? [] : [readOperation(document, method, path, definition)];
    }),
  );
}

function readOperation(document: unknown, method: ApiMethod, path: string, definition: unknown): ApiOperation {
  const { summary, parameters, requestBody } = operationDefinition.parse(definition);
  const body = requestBody === undefined ? undefined : bodyDefinition.parse(resolve(document, requestBody));
  return {
    method,
    path,
    summary,
    parameters: parameters.map((item) => {
      const { schema, ...rest } = parameterDefinition.parse(resolve(document, item));
      return { ...rest, list: schema.items !== undefined, rule: schema.items ?? schema };
    }),
    bodyTypes: Object.keys(body?.content ?? {}),
    bodyRequired: body?.required === true,
  };
}

/** What an item stands for: itself, or the target of its `$ref`. */
function resolve(document: unknown, item: unknown): unknown {
  const reference = isObject(item) ? item['$ref'] : undefined;
  if (typeof reference !== 'string') return item;
  const names = reference.replace(/^#\//, '').split('/');
  return names.reduce<unknown>((target, name) => (isObject(target) ? target[name] : undefined), document);
}

/**
 * The operation that a method and a path lead to; one with more fixed segments goes first.
 * @param path without query
 * @throws ApiUsageError that says what there is
 */
export function findOperation(operations: readonly ApiOperation[], method: ApiMethod, path: string): ApiOperation {
  const there = operations.filter((one) => fits(one.path, path)).sort((a, b) => places(a.path) - places(b.path));
  const found = there.find((one) => one.method === method);
  if (found !== undefined) return found;
  if (there.length > 0) {
    const methods = [...new Set(there.map((one) => one.method))].join(', ');
    throw new ApiUsageError(`${path} has no ${method}: there is ${methods}`);
  }
  const paths = new Set(operations.filter((one) => one.method === method).map((one) => one.path));
  const guess = didYouMean(path, paths);
  const below = guess === '' ? nearby(path, paths) : '';
  throw new ApiUsageError(`the API has no ${path}${guess}${below}`);
}

function fits(template: string, path: string): boolean {
  const expected = template.split('/');
  const segments = path.split('/');
  return (
    expected.length === segments.length &&
    expected.every((name, index) => (name.startsWith('{') ? segments[index] !== '' : name === segments[index]))
  );
}

function places(template: string): number {
  return template.split('{').length;
}

/** Paths that begin as this one does, some of them. */
function nearby(path: string, paths: ReadonlySet<string>): string {
  const [, first = ''] = path.split('/');
  const firsts = new Set([...paths].map((one) => one.split('/')[1] ?? '').filter((name) => name !== ''));
  if (!firsts.has(first)) {
    return `${didYouMean(first, firsts)}; paths begin with ${[...firsts].sort().join(', ')}`;
  }
  const below = [...paths].filter((one) => one === `/${first}` || one.startsWith(`/${first}/`));
  return `; there is\n  ${below.sort().join('\n  ')}`;
}
