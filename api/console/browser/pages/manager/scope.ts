import type { Parameters } from '../../client/api-client.js';
import { useParams } from '../../router/use-place.js';

/** The manager that a page is about: the one that answers, or a node of its cluster that is named. */
export type Scope = {
  readonly node: string | undefined;
  /** Path of an operation on it, such as `status`. */
  readonly path: (operation: string) => string;
  /** Path and parameters of an operation that takes several nodes in a cluster, such as `restart`. */
  readonly some: (operation: string) => readonly [path: string, params: Parameters];
  /** The action that it takes: a node of a cluster has actions of its own. */
  readonly action: (deed: string) => string;
};

/** @param node undefined: the manager that answers */
export function scopeOf(node: string | undefined): Scope {
  if (node === undefined) {
    return {
      node,
      path: (operation) => `/manager/${operation}`,
      some: (operation) => [`/manager/${operation}`, {}],
      action: (deed) => `manager:${deed}`,
    };
  }
  return {
    node,
    path: (operation) => `/cluster/${encodeURIComponent(node)}/${operation}`,
    some: (operation) => [`/cluster/${operation}`, { nodes_list: node }],
    action: (deed) => `cluster:${deed}`,
  };
}

/** The node that the URL names. */
export function useScope(): Scope {
  const [params] = useParams();
  const node = params.get('node') ?? '';
  return scopeOf(node === '' ? undefined : node);
}
