/** A peer that says nothing for so long, while it owes something, is asked whether it is there; milliseconds. */
export const SILENCE_MS = 700;

/** What of a peer's debts is known to those who watch it. */
export type SilenceWatchParts = {
  /** When the oldest thing that the peer owes was asked for, as `performance.now` says it; undefined when it owes nothing. */
  readonly oldest: () => number | undefined;
  /** Whether the peer is there; never rejects. */
  readonly isThere: () => Promise<boolean>;
  /** The peer is not there, and whatever it owes will not come in time. */
  readonly onGone: () => void;
};

/**
 * Notices that a peer which is connected does nothing any more: one that is stopped or stuck keeps its connections, and
 * without this its callers wait out their deadlines. A peer that takes long for one thing still says that it is there.
 */
export class SilenceWatch {
  #heard = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #asking = false;

  constructor(private readonly parts: SilenceWatchParts) {}

  /** The peer owes something. */
  begin(): void {
    if (this.#timer === undefined && !this.#asking) this.#lookIn(SILENCE_MS);
  }

  /** The peer has said something. */
  hear(): void {
    this.#heard = performance.now();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #lookIn(milliseconds: number): void {
    this.#timer = setTimeout(() => void this.#look(), milliseconds).unref();
  }

  async #look(): Promise<void> {
    this.#timer = undefined;
    const oldest = this.parts.oldest();
    if (oldest === undefined) return;
    const silent = performance.now() - Math.max(oldest, this.#heard);
    if (silent < SILENCE_MS) {
      this.#lookIn(SILENCE_MS - silent);
      return;
    }
    const asked = performance.now();
    this.#asking = true;
    const isThere = await this.parts.isThere();
    this.#asking = false;
    if (isThere) this.hear();
    else if (this.#heard < asked) this.parts.onGone();
    if (this.parts.oldest() !== undefined) this.begin();
  }
}
