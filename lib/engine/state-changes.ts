/** Estimated bytes of changes that are handed over together: encoding them takes a millisecond or two. */
const BYTES_PER_PART = 64 * 1024;
/** What a change costs beside its texts, in bytes. */
const CHANGE_BYTES = 24;

/** Changes of a state in the order in which they were made, as plain data. */
export type ChangesPart = { readonly changes: readonly unknown[]; readonly bytes: number };

/**
 * A part of the engine's state that is kept in a log of its changes: what is restored is what the log says, from a moment
 * at which it begins to say everything.
 */
export interface LoggedState {
  /** Changes are noted from now on. */
  noteChanges(): void;
  /** What was noted since the last call, to be kept in this order. Nothing of it changes any more. */
  takeChanges(): readonly ChangesPart[];
  /** Estimated bytes of what was noted and not taken. */
  readonly notedBytes: number;
  /** From here on everything is noted once more, whatever it was noted before: what follows is enough to restore. */
  startRewriting(): void;
  /**
   * Notes so many bytes more, or somewhat more than that, of what there was at `startRewriting`.
   * @returns whether all of it is noted
   */
  rewrite(bytes: number): boolean;
  /** Makes changes that a state of this kind noted, into an empty one, or one that has those before. Nothing is noted. */
  applyChanges(changes: readonly unknown[]): void;
  /** To be called when all changes were made again. */
  endChanges(): void;
}

/** Changes that wait to be taken. */
export class ChangeNotes<Change> {
  #parts: ChangesPart[] = [];
  #changes: Change[] = [];
  #partBytes = 0;
  #bytes = 0;

  /** Estimated. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @param bytes of the texts in it */
  add(change: Change, bytes: number): void {
    this.#changes.push(change);
    this.#partBytes += bytes + CHANGE_BYTES;
    this.#bytes += bytes + CHANGE_BYTES;
    if (this.#partBytes >= BYTES_PER_PART) this.#endPart();
  }

  take(): readonly ChangesPart[] {
    this.#endPart();
    const parts = this.#parts;
    this.#parts = [];
    this.#bytes = 0;
    return parts;
  }

  #endPart(): void {
    if (this.#changes.length === 0) return;
    this.#parts.push({ changes: this.#changes, bytes: this.#partBytes });
    this.#changes = [];
    this.#partBytes = 0;
  }
}
