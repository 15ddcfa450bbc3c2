/** Longest log kept for comparison, in bytes (rules-and-alerts.md 6.3). */
export const MAX_DIFF_BYTES = 65536;
/** All logs kept by one store; the longest unused go first. */
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;

/** Last log of each host and rule with `check_diff`. Behind it may stand files or only memory. */
export interface DiffStore {
  /** What was stored last for the host (as rules see it) and rule, or undefined. */
  last(hostname: string, ruleId: number): string | undefined;
  store(hostname: string, ruleId: number, log: string): void;
}

export type DiffSnapshot = readonly (readonly [string, string])[];

/** Keeps the logs in memory; when they grow beyond 64 MiB those not stored for longest are forgotten. */
export class MemoryDiffStore implements DiffStore {
  /** In the order of the last `store`. */
  readonly #logs = new Map<string, string>();
  #bytes = 0;
  #evicted = 0;

  /** How many logs were forgotten to stay within the bound. */
  get evicted(): number {
    return this.#evicted;
  }

  last(hostname: string, ruleId: number): string | undefined {
    return this.#logs.get(keyOf(hostname, ruleId));
  }

  store(hostname: string, ruleId: number, log: string): void {
    this.#put(keyOf(hostname, ruleId), log);
  }

  snapshot(): DiffSnapshot {
    return [...this.#logs];
  }

  restore(snapshot: DiffSnapshot): void {
    this.#logs.clear();
    this.#bytes = 0;
    for (const [key, log] of snapshot) this.#put(key, log);
  }

  #put(key: string, log: string): void {
    const before = this.#logs.get(key);
    if (before !== undefined) {
      this.#bytes -= before.length;
      this.#logs.delete(key);
    }
    this.#logs.set(key, log);
    this.#bytes += log.length;
    for (const [oldest, oldLog] of this.#logs) {
      if (this.#bytes <= MAX_TOTAL_BYTES) break;
      this.#logs.delete(oldest);
      this.#bytes -= oldLog.length;
      this.#evicted += 1;
    }
  }
}

function keyOf(hostname: string, ruleId: number): string {
  return `${String(ruleId)} ${hostname}`;
}
