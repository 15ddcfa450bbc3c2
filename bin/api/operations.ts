import * as z from 'zod';
import { type HttpMethod, loadContract, type Parameter } from '../../lib/contract/api-contract.js';
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

/** A parameter of the contract, as far as a client needs it. */
export type ApiParameter = Omit<Parameter, 'schema'> & {
  /** Whether values are listed with commas. */
  readonly list: boolean;
  /** What each value is held against. */
  readonly rule: z.infer<typeof rule>;
};

export type ApiMethod = HttpMethod;

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
export function loadOperations(): readonly ApiOperation[] {
  return loadContract().operations.map(({ method, path, summary, parameters, body }) => ({
    method,
    path,
    summary,
    parameters: parameters.map(({ schema, ...rest }) => {
      const { items } = schema;
      return { ...rest, list: items !== undefined, rule: rule.parse(items ?? schema) };
    }),
    bodyTypes: body?.types ?? [],
    bodyRequired: body?.required === true,
  }));
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
