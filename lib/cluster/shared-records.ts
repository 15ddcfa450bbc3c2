import { setMaxListeners } from 'node:events';
import { pause } from '../async/pause.js';
import { BusError } from '../bus/bus-error.js';
import type { CallParams, CallResult, MethodName } from '../bus/contract.js';
import { type clusterdContract, MAX_RECORDS_WAIT_MS, type RecordKind } from '../bus/contracts/clusterd.js';
import type { CallOptions } from '../bus/request-client.js';
import { describeError } from '../log/describe-error.js';
import type { Logger } from '../log/logger.js';
import type { MANAGER_DAEMONS } from '../product/daemon-names.js';
import { changePieces } from './change-pieces.js';
import { STALE, staleRevision } from './stale-error.js';

/** A record as it is now; null is one that was removed. */
export type SharedRecord = {
  readonly kind: RecordKind;
  readonly key: string;
  readonly revision: number;
  readonly value: unknown;
};

/** A change of a record to be made; null removes it. */
export type RecordChange = { readonly kind: RecordKind; readonly key: string; readonly value: unknown };

/** What a decision about shared records comes to. */
export type Decision<T> = {
  readonly changes: readonly RecordChange[];
  readonly result: T;
  /**
   * Where nothing is to change: whether nobody relies on that. Else it is answered only once it is known that it is so by what
   * all nodes have: a node that has heard nothing for a while would say "it is so already" of what others have changed since.
   */
  readonly isUnbinding?: boolean;
};

/** How svc-clusterd is asked; a `RequestClient` of its contract. */
export interface ClusterdClient {
  call<K extends MethodName<typeof clusterdContract>>(
    method: K,
    params: CallParams<typeof clusterdContract, K>,
    options?: CallOptions,
  ): Promise<CallResult<typeof clusterdContract, K>>;
}

/** A daemon that has shared records in force: it is told in turn, never twice at once. */
export interface RecordsOwner {
  /**
   * What this node has of its own and the records have not, when it has just joined; all records there are.
   * Called again when somebody else changed records meanwhile.
   */
  seed(records: readonly SharedRecord[]): Promise<readonly RecordChange[]> | readonly RecordChange[];
  /** These are all records there are: what the daemon has beside them goes. */
  load(records: readonly SharedRecord[]): Promise<void>;
  /** These have changed since. */
  apply(changes: readonly SharedRecord[]): Promise<void>;
}

export type SharedRecordsParts = {
  readonly client: ClusterdClient;
  readonly daemon: (typeof MANAGER_DAEMONS)[number];
  readonly kinds: readonly RecordKind[];
  /** Those that what is decided depends on, where it is not all: changes of the others overtake no decision. */
  readonly decidesBy?: readonly RecordKind[];
  readonly owner: RecordsOwner;
  /** Daemons that are to have brought theirs first: what is seeded here rests on it. */
  readonly seedsAfter?: readonly (typeof MANAGER_DAEMONS)[number][];
  readonly logger: Logger;
};

/** What became of changes: their last revision, or the one that others were quicker with. Some of them may be made then. */
type Outcome = { readonly revision: number; readonly isStale: boolean };

/** Pauses after failures, milliseconds: the last is repeated. */
const RETRY_MS = [100, 300, 1000, 2000];
/** So long after others were quicker a decision is made when it is this node's turn, milliseconds: it would be overtaken again. */
const CONTENDED_MS = 3000;
/** A turn comes within some ten milliseconds; without it the decision is as good, milliseconds. */
const TURN_MS = 4000;
/** A decision that others overtake so long is given up. */
const DECIDE_MS = 15_000;
/** Answers of svc-clusterd that stand for themselves. */
const REFUSED: ReadonlySet<string> = new Set(['cluster_unavailable', 'too_large', 'bad_record']);
const NOT_KNOWN = '; it is not known what was made';

/**
 * Shared records of a cluster as one daemon sees them: what changes anywhere is told to the owner in the order of revisions,
 * and what the daemon decides is made only if nothing of its kinds has changed meanwhile; else it decides anew on what is
 * in force then. So a decision is as good as if there were one daemon of its kind in all of the cluster.
 */
export class SharedRecords {
  readonly #parts: SharedRecordsParts;
  readonly #stopped = new AbortController();
  readonly #waiting = new Set<{ readonly revision: number; readonly done: () => void }>();
  #applied = 0;
  #loaded = false;
  #problem = 'svc-clusterd was not asked yet';
  #following: Promise<void> | undefined;
  #deciding: Promise<unknown> = Promise.resolve();
  #complaint: string | undefined;
  /** When others were quicker last. */
  #overtakenAt = -Infinity;

  constructor(parts: SharedRecordsParts) {
    this.#parts = parts;
    // Each change that waits listens to it.
    setMaxListeners(0, this.#stopped.signal);
  }

  /** All changes up to here are in force in the daemon. */
  get revision(): number {
    return this.#applied;
  }

  /** Whether the owner has all records: before that nothing can be decided. */
  get loaded(): boolean {
    return this.#loaded;
  }

  /** Begins to follow; what fails is said once and tried again. */
  start(): void {
    this.#following ??= this.#follow();
  }

  async close(): Promise<void> {
    this.#stopped.abort(new BusError('closed', 'shared records are not followed any more', { isUnclear: true }));
    await this.#following;
  }

  /**
   * Decides and has the changes made; answered when they are in force in this daemon. Decisions of a daemon come one after
   * another. Changes are made in their order, and not all at once: a decision that is given up, or decided anew, may have left
   * the first of them, so each beginning of them is to be a state that may last.
   * That nothing is to change is held against what all nodes have as well, unless the decision is not binding.
   * @param decide what is to change, by what the owner has now; called again when others changed something meanwhile
   * @param isWanted whether somebody still waits: else nothing more is decided, so that what was given up does not come true behind
   *   what was asked for later
   * @throws BusError `cluster_unavailable` (nothing was made, or the message says that it is not known), `timeout` (it is made, and not in
   *   force here yet), `too_large`, `bad_record`; what `decide` throws
   */
  change<T>(decide: () => Decision<T> | Promise<Decision<T>>, isWanted: () => boolean = () => true): Promise<T> {
    const turn = this.#deciding.then(() => this.#decide(decide, isWanted));
    this.#deciding = turn.catch(() => {});
    return turn;
  }

  async #decide<T>(decide: () => Decision<T> | Promise<Decision<T>>, isWanted: () => boolean): Promise<T> {
    const deadline = performance.now() + DECIDE_MS;
    let begun = '';
    let hasTurn = false;
    for (;;) {
      if (!isWanted()) throw unavailable(`Nobody waits for the change any more${begun}`);
      if (!this.#loaded) {
        throw unavailable(`Nothing can be changed in the cluster: ${this.#problem}`);
      }
      const basis = this.#applied;
      const { changes, result, isUnbinding = false } = await decide();
      const isNothing = changes.length === 0;
      if (isNothing && isUnbinding) return result;
      // Whoever was overtaken has the next turn.
      if (!hasTurn && performance.now() - this.#overtakenAt < CONTENDED_MS) {
        hasTurn = true;
        await this.#turn();
        continue;
      }
      const made = await this.#commitAll(basis, changes, begun);
      if (!made.isStale) {
        // What it is held against alone is no change of what is followed here.
        if (!isNothing) await this.#inForce(made.revision);
        return result;
      }
      begun = NOT_KNOWN;
      hasTurn = true;
      this.#overtakenAt = performance.now();
      if (performance.now() > deadline) {
        throw unavailable(`Others change the same in the cluster all the time: try again later${begun}`);
      }
      await this.#caughtUp(made.revision);
    }
  }

  /** What fails costs no more than that others may be quicker. */
  async #turn(): Promise<void> {
    const { client, kinds, decidesBy = kinds } = this.#parts;
    try {
      const options = { deadlineMs: TURN_MS, signal: this.#stopped.signal };
      const { revision } = await client.call('records.turn', { kinds: [...decidesBy], withinMs: TURN_MS }, options);
      await this.#inForce(revision);
    } catch (error) {
      this.#parts.logger.debug(`Nobody says whose turn it is in the cluster: ${describeError(error)}`);
    }
  }

  /** @param begun what is said of earlier attempts, of which something may be made */
  async #commitAll(basis: number, changes: readonly RecordChange[], begun = ''): Promise<Outcome> {
    const { client, kinds, decidesBy = kinds } = this.#parts;
    let revision = basis;
    try {
      for (const piece of changes.length === 0 ? [[]] : changePieces(changes)) {
        const answer = await client.call(
          'records.commit',
          { basis: revision, kinds: [...decidesBy], changes: piece },
          { deadlineMs: DECIDE_MS * 2, signal: this.#stopped.signal },
        );
        ({ revision } = answer);
      }
    } catch (error) {
      if (!(error instanceof BusError)) throw error;
      if (error.code === STALE) return { revision: Math.max(basis + 1, staleRevision(error) ?? 0), isStale: true };
      // That svc-clusterd is away is another thing than that the daemon is which was asked.
      if (REFUSED.has(error.code) && revision === basis && begun === '') throw error;
      const isUnclear = error.isUnclear || revision > basis || begun !== '';
      const isSaid = error.message.includes('is not known');
      throw unavailable(`${error.message}${isUnclear && !isSaid ? NOT_KNOWN : ''}`, error);
    }
    return { revision, isStale: false };
  }

  /** @throws BusError `cluster_unavailable` */
  async #caughtUp(revision: number): Promise<void> {
    try {
      await this.#inForce(revision);
    } catch (error) {
      throw unavailable(`${describeError(error)}${NOT_KNOWN}`, error);
    }
  }

  /** Waits until the owner has applied a revision. @throws BusError `timeout`: it is made, and not in force here yet */
  #inForce(revision: number): Promise<void> {
    if (this.#applied >= revision) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const { signal } = this.#stopped;
      const end = (then: () => void) => (): void => {
        clearTimeout(timer);
        this.#waiting.delete(waiter);
        signal.removeEventListener('abort', aborted);
        then();
      };
      const timer = setTimeout(
        end(() => {
          reject(
            new BusError('timeout', `Revision ${revision} of the cluster is not in force here yet: ${this.#problem}`),
          );
        }),
        DECIDE_MS,
      );
      const waiter = { revision, done: end(resolve) };
      const aborted = end(() => {
        reject(
          new BusError(
            'timeout',
            `Revision ${revision} of the cluster does not come into force here: the daemon stops`,
          ),
        );
      });
      signal.addEventListener('abort', aborted, { once: true });
      this.#waiting.add(waiter);
    });
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopped;
    let failures = 0;
    while (!signal.aborted) {
      try {
        if (!this.#loaded) await this.#load();
        else await this.#next();
        failures = 0;
        this.#mended();
      } catch (error) {
        if (signal.aborted) return;
        this.#complain(error);
        const wait = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 0;
        failures += 1;
        await pause(wait, signal);
      }
    }
  }

  async #load(): Promise<void> {
    const { client, daemon, owner, seedsAfter = [] } = this.#parts;
    const { seeded } = await client.call('records.seeded', {});
    const missing = seedsAfter.find((other) => !seeded.includes(other));
    if (missing !== undefined) throw new BusError('cluster_unavailable', `${missing} has not brought what it has yet`);
    for (;;) {
      const { records, through } = await this.#all();
      if (!seeded.includes(daemon)) {
        const own = await owner.seed(records);
        const isStale = own.length > 0 && (await this.#commitAll(through, own)).isStale;
        if (!isStale) {
          await client.call('records.seeded', { mark: daemon });
          seeded.push(daemon);
        }
        continue;
      }
      await owner.load(records);
      this.#loaded = true;
      this.#appliedThrough(through);
      return;
    }
  }

  async #all(): Promise<{ records: SharedRecord[]; through: number }> {
    const latest = new Map<string, SharedRecord>();
    let through = 0;
    for (;;) {
      const page = await this.#page(through, 0);
      for (const record of page.changes) latest.set(`${record.kind} ${record.key}`, record);
      through = page.through;
      if (!page.more) break;
    }
    return { records: [...latest.values()].filter(({ value }) => value !== null), through };
  }

  async #next(): Promise<void> {
    const { changes, through } = await this.#page(this.#applied, MAX_RECORDS_WAIT_MS);
    if (changes.length > 0) await this.#parts.owner.apply(changes);
    this.#appliedThrough(through);
  }

  #page(after: number, waitMs: number): Promise<CallResult<typeof clusterdContract, 'records.changes'>> {
    const { client, kinds } = this.#parts;
    const deadlineMs = waitMs + 10_000;
    return client.call(
      'records.changes',
      { kinds: [...kinds], after, waitMs },
      { deadlineMs, signal: this.#stopped.signal },
    );
  }

  #appliedThrough(revision: number): void {
    this.#applied = revision;
    for (const { revision: wanted, done } of [...this.#waiting]) if (wanted <= revision) done();
  }

  #complain(error: unknown): void {
    const text = describeError(error);
    this.#problem = text;
    if (this.#complaint === text) return;
    this.#complaint = text;
    this.#parts.logger.warn(`What the cluster has in common is not followed: ${text}`);
  }

  #mended(): void {
    if (this.#complaint === undefined) return;
    this.#complaint = undefined;
    this.#parts.logger.info('What the cluster has in common is followed again.');
  }
}

function unavailable(message: string, cause?: unknown): BusError {
  return new BusError('cluster_unavailable', message, cause === undefined ? undefined : { cause });
}
