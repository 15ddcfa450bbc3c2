import { BusError } from '../../lib/bus/bus-error.js';
import type { ClusterView } from '../../lib/bus/contracts/clusterd.js';
import type { ClusterdClient } from '../../lib/cluster/shared-records.js';
import { clusterUnavailable } from '../daemons/cluster-failure.js';
import type { NodeIdentity } from '../manager/manager-configuration.js';

/** How long svc-clusterd may take to say who is there, milliseconds: it has it in memory. */
const ANSWER_MS = 2000;

/** Who is in the cluster, as svc-clusterd of this node sees it. */
export class ClusterMembers {
  readonly #clusterd: ClusterdClient;
  readonly #node: () => NodeIdentity;

  constructor(clusterd: ClusterdClient, node: () => NodeIdentity) {
    this.#clusterd = clusterd;
    this.#node = node;
  }

  /** Name of this node. */
  get self(): string {
    return this.#node().name;
  }

  get enabled(): boolean {
    return this.#node().clusterEnabled;
  }

  /** @throws ApiError 3012 when svc-clusterd does not answer */
  async view(signal?: AbortSignal): Promise<ClusterView> {
    try {
      return await this.#clusterd.call(
        'cluster.view',
        {},
        { deadlineMs: ANSWER_MS, ...(signal === undefined ? {} : { signal }) },
      );
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof BusError ? clusterUnavailable(error.message) : error;
    }
  }

  /** The same; undefined where svc-clusterd does not answer: this node goes on alone then. */
  async viewIfThere(signal?: AbortSignal): Promise<ClusterView | undefined> {
    return this.view(signal).catch(() => undefined);
  }
}
