import type { ScaResult } from '../../../lib/sca/evaluate.js';
import type { PolicyScan } from './sca-messages.js';

/** A check as it was told, or would be. */
export type StoredCheck = { readonly result: ScaResult; readonly message: string };

/** The last scan of a policy. */
export type StoredScan = {
  readonly scan: PolicyScan;
  /** By id, rising. */
  readonly checks: ReadonlyMap<number, StoredCheck>;
};

/**
 * What the last scans of this process gave. A start begins with nothing: its first scan tells the sum of all results, and the
 * manager asks for what differs from what it has (integrity-and-inventory.md 10.4).
 */
export class ScaResults {
  readonly #scans = new Map<string, StoredScan>();

  get(policyId: string): StoredScan | undefined {
    return this.#scans.get(policyId);
  }

  set(stored: StoredScan): void {
    this.#scans.set(stored.scan.policy.id, stored);
  }

  /** Forgets policies that are not there any more. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#scans.keys()) if (!ids.has(id)) this.#scans.delete(id);
  }

  /** Checks of all policies, by result. */
  counts(): { readonly policies: number; readonly passed: number; readonly failed: number; readonly invalid: number } {
    const results = [...this.#scans.values()].flatMap(({ scan }) => scan.results);
    const count = (result: ScaResult): number => results.filter((each) => each === result).length;
    return { policies: this.#scans.size, passed: count('passed'), failed: count('failed'), invalid: count('na') };
  }
}
