import { AdmissionError } from '../admission-error.js';
import type { AgentChange, AgentDecision, KeyView, NewKey } from '../agent-keys.js';
import type { KeyDraft } from './key-draft.js';

/** What `AgentKeys.decide` was asked, until it is answered. */
export interface Pending {
  /** The agent that would come by the last attempt, if any. */
  readonly proposed: NewKey | undefined;
  /** Ids of agents that would leave no line. */
  readonly purged: readonly string[];
  /** Decides, once more if need be, on what is in force and what was decided before it. */
  attempt(draft: KeyDraft): void;
  /** The last attempt is made. */
  settle(): void;
  fail(error: unknown): void;
}

/** A decision that waits for the commit which makes it and others. */
export class PendingDecision<T> implements Pending {
  readonly settled: Promise<T>;
  readonly #isWanted: () => boolean;
  readonly #decide: (keys: KeyView) => AgentDecision<T>;
  #outcome: { readonly result: T } | { readonly error: unknown } | undefined;
  #proposed: NewKey | undefined;
  #purged: readonly string[] = [];
  #resolve: (result: T) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  /** @param isWanted whether somebody still waits for it */
  constructor(decide: (keys: KeyView) => AgentDecision<T>, isWanted: () => boolean = () => true) {
    this.#decide = decide;
    this.#isWanted = isWanted;
    this.settled = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get proposed(): NewKey | undefined {
    return this.#proposed;
  }

  get purged(): readonly string[] {
    return this.#purged;
  }

  attempt(draft: KeyDraft): void {
    // The beginning of a commit may have been made before others were quicker: what it was to bring about is there then.
    const last = this.#proposed?.agent;
    if (last !== undefined && draft.byId(last.id)?.equals(last) === true) return;
    this.#proposed = undefined;
    this.#purged = [];
    try {
      if (!this.#isWanted()) throw new AdmissionError('cluster_unavailable', 'Nobody waits for the change any more');
      const { change, result } = this.#decide(draft);
      if (change !== undefined) this.#make(change, draft);
      this.#outcome = { result };
    } catch (error) {
      this.#outcome = { error };
    }
  }

  #make(change: AgentChange, draft: KeyDraft): void {
    const { add, remove, purge } = change;
    // One that is there already, with this key, is no proposal: it must not be taken back.
    if (add !== undefined && draft.byId(add.agent.id)?.equals(add.agent) !== true) this.#proposed = add;
    this.#purged = purge ? remove.map(({ id }) => id) : [];
    draft.make(change);
  }

  settle(): void {
    if (this.#outcome === undefined) throw new TypeError('nothing was decided');
    if ('error' in this.#outcome) this.#reject(this.#outcome.error);
    else this.#resolve(this.#outcome.result);
  }

  fail(error: unknown): void {
    this.#reject(error);
  }
}
