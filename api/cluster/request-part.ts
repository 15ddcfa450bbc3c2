/**
 * What of a request is for one node to answer. Without members it is all of it: there is no cluster, or the operation is
 * one node's alone.
 */
export type RequestPart = {
  /** Agents, of those that the request is about, that are this node's to answer for. */
  readonly agents?: readonly string[];
  /**
   * That rows are merged with those of other nodes: a page is given as svc-db cuts it, with what each row is sorted by;
   * `keys` asks for that alone.
   */
  readonly rows?: 'whole' | 'keys';
  /** Items of the other nodes, for an operation that makes one list of all. */
  readonly elsewhere?: readonly unknown[];
};

/** A request that is answered whole. */
export const WHOLE_REQUEST: RequestPart = {};
