import { createHash } from 'node:crypto';
import type { Change } from '../../../lib/store/commit-queue.js';
import { StoreError } from '../../../lib/store/store-error.js';
import type { Batch } from '../rows/batch-writer.js';
import { STATE_KEY } from '../rows/component-store.js';
import { slotRange } from '../rows/row-keys.js';
import {
  type CheckDefinition,
  type CheckRow,
  decodeCheck,
  digestOfDefinition,
  encodeCheck,
  type EncodedDefinition,
  encodeDefinition,
} from './check-row.js';
import { OverlayTable } from './overlay-table.js';
import { decodePolicy, encodePolicy, policyKey, policyOfKey, type PolicyRecord } from './policy-record.js';
import { checkKey, decodeUse, definitionKey, encodeUse } from './sca-keys.js';
import {
  CHECKS_PER_TURN,
  MAX_CHECK_BYTES,
  MAX_CHECKS,
  MAX_CHECKS_BYTES,
  MAX_POLICIES,
  MAX_POLICY_BYTES,
} from './sca-limits.js';
import type { ScaState, ScaTables } from './sca-store.js';

/** What of the store is in memory, as it was last committed. */
export type ScaMemory = { state: ScaState };

/** A policy of an agent that is being changed. */
export type OpenPolicy = { readonly agent: string; readonly id: string; readonly record: PolicyRecord };

/**
 * One transaction: what its tasks change, on top of what is committed, or of the transaction that is on its way to the disk.
 * Each task sees what those before it have changed; nobody else does until it is committed.
 */
export class ScaBatch implements Batch {
  readonly #tables: ScaTables;
  readonly #memory: ScaMemory;
  #state: ScaState;
  readonly #policies: OverlayTable;
  readonly #checks: OverlayTable;
  readonly #definitions: OverlayTable;
  readonly #digests: OverlayTable;
  readonly #overlays: readonly OverlayTable[];
  readonly #garbage: Change[] = [];

  /** @param before is on its way to the disk: when it fails, this one must not be written */
  constructor(tables: ScaTables, memory: ScaMemory, before?: ScaBatch) {
    this.#tables = tables;
    this.#memory = memory;
    this.#state = before === undefined ? memory.state : before.#state;
    const { policies, checks, definitions, digests } = tables;
    const [first, second, third, fourth] = before === undefined ? [] : before.#overlays;
    this.#policies = new OverlayTable(policies, first);
    this.#checks = new OverlayTable(checks, second);
    this.#definitions = new OverlayTable(definitions, third);
    this.#digests = new OverlayTable(digests, fourth);
    this.#overlays = [this.#policies, this.#checks, this.#definitions, this.#digests];
  }

  /** How many changes there are. */
  get size(): number {
    return this.#overlays.reduce((size, table) => size + table.size, this.#garbage.length);
  }

  get state(): ScaState {
    return this.#state;
  }

  /** Notes how far a journal is stored. */
  moveTo(journal: string, position: number, applied: number): void {
    this.#state = { ...this.#state, journal, position, applied };
  }

  /** Everything that goes to disk. */
  changes(): Change[] {
    const changes = [...this.#overlays.flatMap((table) => [...table.changes()]), ...this.#garbage];
    if (this.#state !== this.#memory.state) changes.push(this.#tables.state.put(STATE_KEY, this.#state));
    return changes;
  }

  /** It is committed: memory follows. */
  done(): void {
    this.#memory.state = this.#state;
    for (const table of this.#overlays) table.done();
  }

  /** A policy of an agent; undefined when nothing is stored of it. */
  policy(agent: string, id: string): OpenPolicy | undefined {
    const bytes = this.#policies.get(policyKey(agent, id));
    return bytes === undefined ? undefined : { agent, id, record: decodePolicy(bytes) };
  }

  /** All policies of an agent. */
  policyIds(agent: string): string[] {
    return this.#policies.entries(Number(agent)).map(({ key }) => policyOfKey(key));
  }

  /** A policy that is not stored yet: it is when it is put. */
  newPolicy(agent: string, id: string): OpenPolicy | 'too_many_policies' {
    if (this.policyIds(agent).length >= MAX_POLICIES) return 'too_many_policies';
    return { agent, id, record: { slot: this.#newSlot(), checks: 0, bytes: 0, results: '', repeated: 0 } };
  }

  /** Stores what is known of a policy as a whole. */
  putPolicy({ agent, id, record }: OpenPolicy): 'policy_too_large' | undefined {
    const encoded = encodePolicy(record);
    if (encoded.length > MAX_POLICY_BYTES) return 'policy_too_large';
    const key = policyKey(agent, id);
    if (this.#policies.get(key) === undefined) this.#count({ policies: 1 });
    this.#policies.put(key, encoded);
    return undefined;
  }

  /** Takes a policy away with its checks. */
  dropPolicy({ agent, id, record }: OpenPolicy): void {
    this.#policies.remove(policyKey(agent, id));
    this.#discard(record);
    this.#count({ policies: -1 });
  }

  /** The policy without its checks, to be put. */
  dropChecks(policy: OpenPolicy): OpenPolicy {
    // Another slot has to be emptied later, and there are not endlessly many: an agent may name another file in each summary.
    if (policy.record.checks <= CHECKS_PER_TURN) return this.#without(policy, () => true);
    this.#discard(policy.record);
    return { ...policy, record: { ...policy.record, slot: this.#newSlot(), checks: 0, bytes: 0, results: '' } };
  }

  /**
   * Stores a check of a policy.
   * @returns the policy with it, to be put
   */
  putCheck(
    policy: OpenPolicy,
    id: number,
    check: Omit<CheckRow, 'definition'>,
    definition: CheckDefinition,
  ): OpenPolicy | 'too_many_checks' | 'check_too_large' {
    const { record } = policy;
    const key = checkKey(record.slot, id);
    const encoded = encodeDefinition(definition);
    const before = this.#checkAt(key);
    const replaced = before === undefined ? undefined : this.#definition(before.definition);
    if (encoded.bytes.length > MAX_CHECK_BYTES) return 'check_too_large';
    if (before === undefined && record.checks >= MAX_CHECKS) return 'too_many_checks';
    const bytes = record.bytes + encoded.bytes.length - (replaced?.length ?? 0);
    if (bytes > MAX_CHECKS_BYTES) return 'too_many_checks';
    const isSame = replaced !== undefined && digestOfDefinition(replaced).equals(encoded.digest);
    const number = before !== undefined && isSame ? before.definition : this.#use(encoded);
    if (before !== undefined && !isSame) this.#release(before.definition);
    this.#checks.put(key, encodeCheck({ ...check, definition: number }));
    if (before === undefined) this.#count({ checks: 1 });
    const checks = record.checks + (before === undefined ? 1 : 0);
    const results = before?.result === check.result ? record.results : '';
    return { ...policy, record: { ...record, checks, bytes, results } };
  }

  /** Whether a policy has a check. */
  hasCheck({ record }: OpenPolicy, id: number): boolean {
    return this.#checks.get(checkKey(record.slot, id)) !== undefined;
  }

  /** The policy without the checks that this scan did not tell, to be put. */
  keepScan(policy: OpenPolicy, scanId: number): OpenPolicy {
    return this.#without(policy, (row) => row.scanId !== scanId);
  }

  /** The policy with the digest of its results (integrity-and-inventory.md 10.4), which is empty when there are none; to be put. */
  summedUp(policy: OpenPolicy): OpenPolicy {
    if (policy.record.results !== '' || policy.record.checks === 0) return policy;
    const results = this.#checks
      .entries(policy.record.slot)
      .map(({ value }) => decodeCheck(value).result)
      .map((result) => (result === 'not applicable' ? '' : result));
    const digest = createHash('sha256').update(results.join(':')).digest('hex');
    return { ...policy, record: { ...policy.record, results: digest } };
  }

  /**
   * Removes some checks of a slot that was dropped in a transaction that is committed.
   * @returns whether that were all
   */
  emptySlot(slot: number, most: number): boolean {
    const found = [...this.#tables.checks.entries({ ...slotRange(slot), limit: most })];
    for (const { key, value } of found) {
      this.#checks.remove(key);
      this.#release(decodeCheck(value).definition);
    }
    const isEmpty = found.length < most;
    if (isEmpty) this.#garbage.push(this.#tables.garbage.remove(slot));
    return isEmpty;
  }

  /** The policy without some checks, to be put. */
  #without(policy: OpenPolicy, isGone: (row: CheckRow) => boolean): OpenPolicy {
    let { checks, bytes, results } = policy.record;
    for (const { key, value } of this.#checks.entries(policy.record.slot)) {
      const row = decodeCheck(value);
      if (!isGone(row)) continue;
      bytes -= this.#definition(row.definition).length;
      checks -= 1;
      results = '';
      this.#checks.remove(key);
      this.#release(row.definition);
      this.#count({ checks: -1 });
    }
    return { ...policy, record: { ...policy.record, checks, bytes, results } };
  }

  #checkAt(key: Buffer): CheckRow | undefined {
    const bytes = this.#checks.get(key);
    return bytes === undefined ? undefined : decodeCheck(bytes);
  }

  #newSlot(): number {
    const slot = this.#state.nextSlot;
    this.#state = { ...this.#state, nextSlot: slot + 1 };
    return slot;
  }

  #discard({ slot, checks }: PolicyRecord): void {
    if (checks === 0) return;
    this.#garbage.push(this.#tables.garbage.put(slot, true));
    this.#count({ checks: -checks });
  }

  #count({ policies = 0, checks = 0 }: { readonly policies?: number; readonly checks?: number }): void {
    const { state } = this;
    this.#state = { ...state, policies: state.policies + policies, checks: state.checks + checks };
  }

  /** @throws StoreError `damaged` */
  #definition(number: number): Buffer {
    const bytes = this.#definitions.get(definitionKey(number));
    if (bytes === undefined) throw new StoreError('damaged', 'queue/db/sca: texts of a check are gone');
    return bytes;
  }

  #use({ digest, bytes }: EncodedDefinition): number {
    const known = this.#digests.get(digest);
    if (known !== undefined) {
      const { number, uses } = decodeUse(known);
      this.#digests.put(digest, encodeUse({ number, uses: uses + 1 }));
      return number;
    }
    const number = this.#state.nextNumber;
    this.#state = { ...this.#state, nextNumber: number + 1 };
    this.#definitions.put(definitionKey(number), bytes);
    this.#digests.put(digest, encodeUse({ number, uses: 1 }));
    return number;
  }

  /** A check does not use a definition any more. */
  #release(number: number): void {
    const digest = digestOfDefinition(this.#definition(number));
    const stored = this.#digests.get(digest);
    const uses = stored === undefined ? 0 : decodeUse(stored).uses;
    if (uses > 1) {
      this.#digests.put(digest, encodeUse({ number, uses: uses - 1 }));
      return;
    }
    this.#digests.remove(digest);
    this.#definitions.remove(definitionKey(number));
  }
}
