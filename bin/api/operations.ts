import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { productRoot } from '../../lib/product/product-root.js';
import { didYouMean } from './closest-name.js';
import { ApiUsageError } from './usage-error.js';

const parameter = z.object({
  name: z.string(),
  in: z.enum(['query', 'path', 'header']),
  required: z.boolean(),
  description: z.string(),
  /** Whether values are listed with commas. */
  list: z.boolean(),
  /** What each value is held against. */
  rule: z.object({
    type: z.string().optional(),
    enum: z.array(z.union([z.string(), z.number(), z.boolean()])).optional(),
    pattern: z.string().optional(),
    'x-format': z.string().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
  }),
});

const operation = z.object({
  method: z.enum(['GET', 'PUT', 'POST', 'DELETE']),
  /** With places: `/agents/{agent_id}/key`. */
  path: z.string(),
  summary: z.string(),
  parameters: z.array(parameter),
  /** Media types of the body; none: there is no body. */
  bodyTypes: z.array(z.string()),
  bodyRequired: z.boolean(),
});

const catalogue = z.object({ operations: z.array(operation) });

/** A parameter of the contract, as far as a client needs it. */
export type ApiParameter = z.infer<typeof parameter>;
/** An operation of the contract, as far as a client needs it. */
export type ApiOperation = z.infer<typeof operation>;
export type ApiMethod = ApiOperation['method'];

/** Methods of the API. */
export const API_METHODS: readonly ApiMethod[] = ['GET', 'PUT', 'POST', 'DELETE'];

/**
 * The operations of the contract (api/openapi.yaml), as the build wrote them down.
 * @throws Error when they are not there: a build that was broken off
 */
export function loadOperations(file = new URL('dist/operations.json', productRoot())): readonly ApiOperation[] {
  return catalogue.parse(JSON.parse(readFileSync(file, 'utf8'))).operations;
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
