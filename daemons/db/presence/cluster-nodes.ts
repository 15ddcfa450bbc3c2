import type { ClusterView } from '../../../lib/bus/contracts/clusterd.js';
import type { ClusterdClient } from '../../../lib/cluster/shared-records.js';

/** Looks come each second; one that is so late tells that the process stood still, or its clock. */
const STOOD_STILL_MS = 4000;
/** Longest wait for svc-clusterd of this node. */
const ASK_MS = 2000;

export type ClusterNodesParts = {
  readonly client: Pick<ClusterdClient, 'call'>;
  /** This node. */
  readonly node: string;
  /** Milliseconds of a clock that is not set. */
  readonly monotonic: () => number;
  /** Epoch milliseconds: a machine that was suspended has its other clock stand still, too. */
  readonly now: () => number;
};

/**
 * Which nodes are heard, and since when others are not: by this node's own clock, and only as long as it has been part of the
 * cluster itself without a break.
 */
export class ClusterNodes {
  readonly #parts: ClusterNodesParts;
  #present: ReadonlySet<string> = new Set();
  /** Since when nodes that the cluster knows are not heard. */
  readonly #awaySince = new Map<string, number>();
  #connectedSince: number | undefined;
  #lastLook: { readonly monotonic: number; readonly now: number };

  constructor(parts: ClusterNodesParts) {
    this.#parts = parts;
    this.#lastLook = { monotonic: parts.monotonic(), now: parts.now() };
  }

  /** Other nodes that are heard; none while this one is cut off. */
  get present(): ReadonlySet<string> {
    return this.#present;
  }

  get connected(): boolean {
    return this.#connectedSince !== undefined;
  }

  /** For how long this node is part of the cluster without a break, milliseconds. */
  get connectedMs(): number {
    return this.#connectedSince === undefined ? 0 : this.#parts.monotonic() - this.#connectedSince;
  }

  /** Whether this process has not stood still since it looked last. */
  get isFresh(): boolean {
    const { monotonic, now } = this.#parts;
    const last = this.#lastLook;
    return Math.max(monotonic() - last.monotonic, Math.abs(now() - last.now)) < STOOD_STILL_MS;
  }

  /** For how long a node is not heard, milliseconds: 0 for one that is, and while this one is cut off. */
  awayMs(name: string): number {
    if (this.#connectedSince === undefined || name === this.#parts.node || this.#present.has(name)) return 0;
    return this.#parts.monotonic() - (this.#awaySince.get(name) ?? this.#connectedSince);
  }

  /**
   * Looks who is there.
   * @returns whether something may have been missed: it was cut off, or stood still
   */
  async look(): Promise<boolean> {
    const { client, monotonic, now } = this.#parts;
    const stoodStill = !this.isFresh;
    const wasConnected = this.connected;
    let view: ClusterView | undefined;
    try {
      view = await client.call('cluster.view', {}, { deadlineMs: ASK_MS });
    } catch {
      // svc-clusterd is away: as good as cut off.
    }
    this.#lastLook = { monotonic: monotonic(), now: now() };
    if (stoodStill) this.#cutOff();
    if (view?.connected !== true) {
      this.#cutOff();
      return false;
    }
    this.#follow(view);
    return !wasConnected || stoodStill;
  }

  #cutOff(): void {
    this.#connectedSince = undefined;
    this.#present = new Set();
    this.#awaySince.clear();
  }

  #follow(view: ClusterView): void {
    const at = this.#lastLook.monotonic;
    this.#connectedSince ??= at;
    const others = view.nodes.filter(({ name }) => name !== this.#parts.node);
    this.#present = new Set(others.filter(({ present }) => present).map(({ name }) => name));
    for (const { name, present } of others) {
      if (present) this.#awaySince.delete(name);
      else if (!this.#awaySince.has(name)) this.#awaySince.set(name, at);
    }
  }
}
