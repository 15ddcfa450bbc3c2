import type { FollowedFile } from './followed-file.js';

/** What a turn of a file ended with. */
export type TurnResult =
  | 'idle'
  /** It wants another turn. */
  | 'more'
  /** The sink has no room. */
  | 'blocked';

export type ReadQueueParts = {
  /** Gives a file its turn; must not throw. */
  readonly turn: (file: FollowedFile) => Promise<TurnResult>;
  /** Resolves when the sink has room again. */
  readonly room: () => Promise<void>;
};

/**
 * Files that may have something to read. They have their turns one after the other, so that one that grows without end
 * holds up nobody; those that lost their name go first, because what they hold is older.
 */
export class ReadQueue {
  readonly #parts: ReadQueueParts;
  readonly #urgent = new Set<FollowedFile>();
  readonly #waiting = new Set<FollowedFile>();
  #running: Promise<void> | undefined;
  #stopped = false;
  readonly #stopping: Promise<void>;
  #endWaiting: () => void = () => undefined;

  constructor(parts: ReadQueueParts) {
    this.#parts = parts;
    this.#stopping = new Promise((resolve) => {
      this.#endWaiting = resolve;
    });
  }

  /** Gives a file a turn soon. */
  add(file: FollowedFile): void {
    (file.rotatedAt === undefined ? this.#waiting : this.#urgent).add(file);
    this.#wake();
  }

  /** Resolves when the turn that runs is over; no other begins. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#endWaiting();
    await this.#running;
  }

  #wake(): void {
    if (this.#running !== undefined || this.#stopped || this.#urgent.size + this.#waiting.size === 0) {
      return;
    }
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      // Something may have come between the last look and now.
      this.#wake();
    });
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const queue = this.#urgent.size > 0 ? this.#urgent : this.#waiting;
      const [file] = queue;
      if (file === undefined) {
        return;
      }
      queue.delete(file);
      const result = await this.#parts.turn(file);
      if (result === 'idle') {
        continue;
      }
      (file.rotatedAt === undefined ? this.#waiting : this.#urgent).add(file);
      if (result === 'blocked') {
        await Promise.race([this.#parts.room(), this.#stopping]);
      }
    }
  }
}
