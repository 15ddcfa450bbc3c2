import type { Change, Undo } from '../../lib/store/commit-queue.js';
import { type ResponseStore, type StoredActive, storedKey } from './response-store.js';

const SECOND_MS = 1000;
const MINUTE_S = 60;
/** Offenders that are remembered; whoever was heard of last stays. */
const MAX_OFFENDERS = 10_000;
/** Responses in force at once: each is a message of up to 64 KiB on disk. */
export const MAX_ACTIVE = 50_000;

/** Clocks: the one on the wall, which survives restarts, and one that nobody sets. Milliseconds. */
export type Clocks = { readonly wall: () => number; readonly monotonic: () => number };

/** A response in force, without its message. */
export type ActiveEntry = {
  readonly id: string;
  readonly key: string;
  readonly program: string;
  readonly timeout: number;
  /** When it is undone, by the clock that nobody sets. */
  readonly dueAt: number;
  /** Its time is over and its script is about to undo it. */
  readonly undoing: boolean;
};

/** Something to be brought to disk, and what takes memory back when that fails. */
export type PlannedChange = { readonly changes: readonly Change[]; readonly undo: Undo };

/** What another message for a key comes to. */
export type OffenderHit = {
  /** How long it is in force now. */
  readonly seconds: number;
  readonly repeated: boolean;
  readonly plan: PlannedChange;
};

/**
 * Responses in force, with the time at which each is to be undone, and who came back how often (daemons-and-config.md 5.3).
 * Both are on disk: memory has what is looked through every second.
 */
export class ActiveResponses {
  readonly #store: ResponseStore;
  readonly #clocks: Clocks;
  readonly #entries = new Map<string, ActiveEntry>();
  /** Hits by stored key, those heard of last at the end. */
  readonly #offenders = new Map<string, number>();

  constructor(store: ResponseStore, clocks: Clocks) {
    this.#store = store;
    this.#clocks = clocks;
    for (const [id, { key, program, timeout, due }] of store.active.entries()) {
      // Whatever the clock was set to meanwhile, nothing is in force for longer than it was to be.
      const left = Math.min(Math.max(0, due - clocks.wall()), timeout * SECOND_MS);
      this.#entries.set(id, { id, key, program, timeout, dueAt: clocks.monotonic() + left, undoing: false });
    }
    const offenders = [...store.offenders.entries()].sort(([, one], [, other]) => one.at - other.at);
    for (const [id, { hits }] of offenders) this.#offenders.set(id, hits);
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): ActiveEntry | undefined {
    return this.#entries.get(storedKey(key));
  }

  /** What is to be undone by now. */
  due(): readonly ActiveEntry[] {
    const now = this.#clocks.monotonic();
    return [...this.#entries.values()].filter(({ dueAt, undoing }) => !undoing && dueAt <= now);
  }

  /** From now on it is being undone: what comes for its key waits for that. */
  undoing(entry: ActiveEntry): ActiveEntry {
    const undoing = { ...entry, undoing: true };
    this.#entries.set(entry.id, undoing);
    return undoing;
  }

  /** The message it was asked for with. @throws StoreError `damaged` */
  message({ id }: ActiveEntry): string | undefined {
    return this.#store.active.get(id)?.message;
  }

  /** Another message for a key: how long it is in force now, as one more hit of an offender. @param minutes of the n-th hit */
  hit(key: string, timeout: number, minutes: readonly number[]): OffenderHit {
    const id = storedKey(key);
    const before = this.#offenders.get(id);
    if (minutes.length === 0) return { seconds: timeout, repeated: false, plan: { changes: [], undo: () => {} } };
    const hits = before === undefined ? 0 : before + 1;
    const step = minutes[Math.min(hits, minutes.length) - 1];
    const changes = [this.#store.offenders.put(id, { key, hits, at: this.#clocks.wall() })];
    this.#offenders.delete(id);
    this.#offenders.set(id, hits);
    if (this.#offenders.size > MAX_OFFENDERS) {
      const [oldest] = this.#offenders.keys();
      if (oldest !== undefined) {
        this.#offenders.delete(oldest);
        changes.push(this.#store.offenders.remove(oldest));
      }
    }
    const undo = (): void => {
      if (before === undefined) this.#offenders.delete(id);
      else this.#offenders.set(id, before);
    };
    return { seconds: step === undefined ? timeout : step * MINUTE_S, repeated: hits > 0, plan: { changes, undo } };
  }

  /** Puts a response in force, from now on. */
  begin(entry: Omit<StoredActive, 'due'>): PlannedChange {
    const { key, program, timeout } = entry;
    const id = storedKey(key);
    const before = this.#entries.get(id);
    const dueAt = this.#clocks.monotonic() + timeout * SECOND_MS;
    this.#entries.set(id, { id, key, program, timeout, dueAt, undoing: false });
    const undo = (): void => {
      if (before === undefined) this.#entries.delete(id);
      else this.#entries.set(id, before);
    };
    const due = this.#clocks.wall() + timeout * SECOND_MS;
    return { changes: [this.#store.active.put(id, { ...entry, due })], undo };
  }

  /** Has a response in force begin its time again. @throws StoreError `damaged` */
  prolong(entry: ActiveEntry, timeout: number): PlannedChange {
    const message = this.message(entry) ?? '';
    return this.begin({ key: entry.key, program: entry.program, message, timeout });
  }

  /** Takes a response out once it is undone. */
  end(entry: ActiveEntry): PlannedChange {
    this.#entries.delete(entry.id);
    const undo = (): void => {
      this.#entries.set(entry.id, entry);
    };
    return { changes: [this.#store.active.remove(entry.id)], undo };
  }

  /** Tries again to undo it. @param afterMs milliseconds */
  postpone(entry: ActiveEntry, afterMs: number): void {
    if (!this.#entries.has(entry.id)) return;
    this.#entries.set(entry.id, { ...entry, undoing: false, dueAt: this.#clocks.monotonic() + afterMs });
  }
}
