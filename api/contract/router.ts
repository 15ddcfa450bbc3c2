import type { Operation } from '../../lib/contract/api-contract.js';

/** What a path and method lead to. */
export type RouteMatch =
  | { readonly kind: 'operation'; readonly operation: Operation; readonly path: ReadonlyMap<string, string> }
  | { readonly kind: 'wrong-method' }
  | { readonly kind: 'not-found' };

type PathTemplate = {
  readonly segments: readonly string[];
  readonly fixedSegments: number;
  readonly methods: Map<string, Operation>;
};

/** Finds the operation of a request path; a template with more fixed segments goes before one with fewer. */
export class Router {
  readonly #byLength = new Map<number, PathTemplate[]>();

  constructor(operations: readonly Operation[]) {
    const templates = new Map<string, PathTemplate>();
    for (const operation of operations) {
      let template = templates.get(operation.path);
      if (template === undefined) {
        const segments = operation.path.split('/');
        const fixedSegments = segments.filter((segment) => !isPlace(segment)).length;
        template = { segments, fixedSegments, methods: new Map() };
        templates.set(operation.path, template);
        const sameLength = this.#byLength.get(segments.length) ?? [];
        sameLength.push(template);
        sameLength.sort((a, b) => b.fixedSegments - a.fixedSegments);
        this.#byLength.set(segments.length, sameLength);
      }
      template.methods.set(operation.method, operation);
    }
  }

  /**
   * @param method HTTP method; HEAD is answered as GET (rest-api.md 1.1)
   * @param path decoded request path without query; an encoded slash counts as a slash
   */
  find(method: string, path: string): RouteMatch {
    const segments = path.split('/');
    let known = false;
    for (const template of this.#byLength.get(segments.length) ?? []) {
      const values = match(template, segments);
      if (values === undefined) continue;
      known = true;
      const operation = template.methods.get(method === 'HEAD' ? 'GET' : method);
      if (operation !== undefined) return { kind: 'operation', operation, path: values };
    }
    return known ? { kind: 'wrong-method' } : { kind: 'not-found' };
  }
}

function isPlace(segment: string): boolean {
  return segment.startsWith('{');
}

function match(template: PathTemplate, segments: readonly string[]): Map<string, string> | undefined {
  const values = new Map<string, string>();
  for (const [index, expected] of template.segments.entries()) {
    const actual = segments[index] ?? '';
    if (isPlace(expected)) {
      if (actual === '') return undefined;
      values.set(expected.slice(1, -1), actual);
    } else if (actual !== expected) {
      return undefined;
    }
  }
  return values;
}
