/**
 * What tells a row of an agent from an older one. No clocks are compared: a claim rises by one above what is known when the
 * agent connects to another node, a revision with each change that the node makes under it. Nodes that could not hear of each
 * other may make the same claim: the names of the nodes decide then, and the one that has the agent claims it anew with the
 * next keepalive.
 */
export type RowVersion = { readonly claim: number; readonly node: string; readonly revision: number };

/** Above 0 when the left one is newer, 0 for the same. */
export function compareVersions(left: RowVersion, right: RowVersion): number {
  if (left.claim !== right.claim) return left.claim - right.claim;
  if (left.node !== right.node) return left.node > right.node ? 1 : -1;
  return left.revision - right.revision;
}

/** The version of a record; one that no node has claimed is older than all others. */
export function versionOf(record: {
  readonly nodeName: string;
  readonly claim?: number | undefined;
  readonly revision?: number | undefined;
}): RowVersion {
  return { claim: record.claim ?? 0, node: record.nodeName, revision: record.revision ?? 0 };
}
