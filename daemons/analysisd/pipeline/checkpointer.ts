import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CheckpointStore } from '../../../lib/journal/checkpoint-store.js';
import type { StateLogFile } from '../../../lib/journal/state-log-file.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';

/** What a checkpoint is made of. */
export type CheckpointSource = {
  /** The record at hand, or the one that comes next. */
  readonly position: number;
  /** What of the log of the state belongs to it; undefined when that has not got everything. Never rejects. */
  readonly log: Promise<readonly StateLogFile[] | undefined>;
  /** Puts the data together: everything the analysis has remembered and where its files end. */
  readonly data: (log: readonly StateLogFile[]) => Promise<unknown>;
  /** Content hash of the ruleset in force. */
  readonly ruleset: string;
  /** Brings what the data counts as written to the disk itself. */
  readonly sync: () => Promise<void>;
  /**
   * Told when the checkpoint is safe; the next one waits for it.
   * @throws Error of the file system, which is only logged
   */
  readonly onSafe: () => void | Promise<void>;
};

export type CheckpointerParts = {
  readonly store: CheckpointStore;
  readonly logger: Logger;
  /** Takes everything down as it is at one moment; undefined when that cannot be done just now. */
  readonly capture: () => Promise<CheckpointSource | undefined>;
  /**
   * The two newest checkpoints are these, the older one first; what is from before them is needed no more. Both are told,
   * as the older one takes the place of the newer when that turns out to be damaged.
   */
  readonly onKept: (older: StoredCheckpoint, newer: StoredCheckpoint) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** Content hash of a ruleset, and where in the journal it is needed. */
export type RecordedRuleset = { readonly position: number; readonly ruleset: string };

/** A checkpoint on the disk. */
export type StoredCheckpoint = RecordedRuleset & {
  /** Files of the log of the state that it needs. */
  readonly log: readonly StateLogFile[];
};

/** Writes checkpoints, one at a time. A failure is logged once a minute; the one before stays good. */
export class Checkpointer {
  readonly #parts: CheckpointerParts;
  readonly #failureLog: LimitedLogger;
  #last: StoredCheckpoint | undefined;
  #savedAt: number | undefined;
  #running: Promise<boolean> | undefined;
  /** What the last checkpoint made possible is being done. */
  #telling: Promise<void> = Promise.resolve();
  #failure: string | undefined;

  /** @param last the checkpoint the start was made from */
  constructor(parts: CheckpointerParts, last: StoredCheckpoint | undefined) {
    this.#parts = parts;
    this.#last = last;
    this.#failureLog = parts.logger.limited();
  }

  /** Position of the newest checkpoint; undefined when there is none. */
  get position(): number | undefined {
    return this.#last?.position;
  }

  /** When it was made, epoch milliseconds; undefined when that was before the start. */
  get savedAt(): number | undefined {
    return this.#savedAt;
  }

  /** Why the last attempt failed; undefined when it did not. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Makes a checkpoint of what is now; after the one that is being made, if any. @returns whether it is safe */
  async make(): Promise<boolean> {
    while (this.#running !== undefined) await this.#running;
    this.#running = this.#make();
    try {
      return await this.#running;
    } finally {
      this.#running = undefined;
    }
  }

  /** Makes one unless one is being made. */
  async makeUnlessRunning(): Promise<void> {
    if (this.#running === undefined) await this.make();
  }

  async #make(): Promise<boolean> {
    const { store, capture, now, onKept, logger } = this.#parts;
    try {
      await this.#telling;
      let captured = await capture();
      if (captured === undefined) {
        // The analysis may just be between two steps of a change; a change that a full disk stops takes longer.
        await nextTurn();
        captured = await capture();
      }
      if (captured === undefined) return false;
      const { position, ruleset } = captured;
      const log = await captured.log;
      if (log === undefined) throw new Error("the log of the engine's state has not got everything yet");
      await captured.sync();
      await store.save(position, await captured.data(log));
      this.#savedAt = now();
      const kept = { position, ruleset, log };
      onKept(this.#last ?? kept, kept);
      this.#last = kept;
      if (this.#failure !== undefined) logger.info('Checkpoints are written again.');
      this.#failure = undefined;
      this.#telling = this.#tell(captured);
      return true;
    } catch (error) {
      const reason = `checkpoint could not be written: ${describeError(error)}`;
      this.#failure = `a ${reason}`;
      this.#failureLog.error(`A ${reason}`);
      return false;
    }
  }

  /** Never rejects. */
  async #tell({ onSafe }: CheckpointSource): Promise<void> {
    try {
      await onSafe();
    } catch (error) {
      this.#failureLog.error(
        `What a checkpoint made possible could not be done, the next one does it: ${describeError(error)}`,
      );
    }
  }
}
