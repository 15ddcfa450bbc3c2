import { StoreError } from './store-error.js';

/** One entry to be written, or removed when `value` is undefined; made by a `StoreTable` or a `BinaryTable`. */
export type Change = {
  readonly table: string;
  readonly key: number | string | Buffer;
  readonly value: Buffer | undefined;
};

/** Takes a group of changes to disk as one transaction; it has happened, durably, when the promise resolves. */
export type WriteGroup = (changes: readonly Change[]) => Promise<void>;

/** What a caller does when its changes did not happen: takes its memory back to the state before them. */
export type Undo = () => void;

type WaitingCommit = {
  readonly changes: readonly Change[];
  readonly undo: Undo | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

/** Changes of one transaction at most, except for a single commit that has more: bounds the space to be set aside. */
const MAX_GROUP_CHANGES = 20_000;

/**
 * Brings commits to disk in order, one transaction at a time: those that arrive while one is being written wait and
 * share the next. A commit is in one transaction whole. When one fails, all that wait fail with it, since they were made
 * on top of it, and are undone last first.
 */
export class CommitQueue {
  readonly #write: WriteGroup;
  #waiting: WaitingCommit[] = [];
  #running: Promise<void> | undefined;

  constructor(write: WriteGroup) {
    this.#write = write;
  }

  /** @param undo called when the changes did not happen, before the promise rejects */
  commit(changes: readonly Change[], undo?: Undo): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ changes, undo, resolve, reject });
      // The rest of this turn's commits join the first transaction.
      this.#running ??= Promise.resolve().then(() => this.#run());
    });
  }

  /** Resolves when nothing waits or is being written. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#takeGroup();
      try {
        await this.#write(group.flatMap(({ changes }) => changes));
        for (const { resolve } of group) resolve();
      } catch (error) {
        this.#failAll([...group, ...this.#waiting.splice(0)], error);
      }
    }
    this.#running = undefined;
  }

  #takeGroup(): WaitingCommit[] {
    let changes = 0;
    let count = 0;
    for (const pending of this.#waiting) {
      changes += pending.changes.length;
      if (count > 0 && changes > MAX_GROUP_CHANGES) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  #failAll(group: readonly WaitingCommit[], error: unknown): void {
    const reason = error instanceof StoreError ? error : new StoreError('failed', String(error), { cause: error });
    for (const { undo } of group.toReversed()) undo?.();
    for (const { reject } of group) reject(reason);
  }
}
