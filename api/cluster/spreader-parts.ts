import type { DbClient } from '../daemons/db-client.js';
import type { ClusterMembers } from './cluster-members.js';
import type { NodeCalls } from './node-calls.js';

/** Who is asked when a request is answered by several nodes. */
export type SpreaderParts = {
  readonly members: ClusterMembers;
  readonly calls: NodeCalls;
  readonly db: DbClient;
  /** Epoch milliseconds. */
  readonly now: () => number;
};
