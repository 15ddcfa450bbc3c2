/** Changes that are taken over in one transaction. */
const MOST = 2000;
/** What one node writes at once comes as single messages: they are waited for so long, milliseconds, unless a commit waits here. */
const GATHER_MS = 8;
/** The same where the server has more that is on its way. */
const COMING_MS = 50;

export type ChangeBatchesParts<M> = {
  /** Takes a batch over. What is thrown ends the batches. */
  readonly take: (batch: readonly M[]) => Promise<void>;
  /** Revision that somebody here waits for; one that was taken over already when nobody does. */
  readonly awaited: () => number;
  readonly failed: (error: unknown) => void;
};

/**
 * Gathers messages that come one by one: each transaction, and all that daemons do for what they are told at once, costs the same for
 * one change and for a hundred.
 */
export class ChangeBatches<M extends { readonly seq: number }> {
  readonly #parts: ChangeBatchesParts<M>;
  #batch: M[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** When it runs out. */
  #due = Infinity;
  #taking: Promise<void> | undefined;
  #ended = false;

  constructor(parts: ChangeBatchesParts<M>) {
    this.#parts = parts;
  }

  /** @param isLast whether no further message waits at the server @returns when there is room for more */
  async add(message: M, isLast: boolean): Promise<void> {
    this.#batch.push(message);
    if (this.#batch.length >= MOST) {
      await this.#flush();
    } else if (isLast && this.#hasAwaited(message.seq)) {
      void this.#flush();
    } else {
      this.#flushWithin(isLast ? GATHER_MS : COMING_MS);
    }
  }

  #hasAwaited(through: number): boolean {
    const awaited = this.#parts.awaited();
    return (this.#batch[0]?.seq ?? Infinity) <= awaited && awaited <= through;
  }

  #flushWithin(ms: number): void {
    const due = performance.now() + ms;
    if (due >= this.#due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => void this.#flush(), ms);
  }

  /** Nothing is taken over any more, but for what is under way. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  /** While a batch is taken over, the next one gathers. */
  async #flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#due = Infinity;
    while (this.#taking !== undefined) await this.#taking;
    const batch = this.#batch;
    if (batch.length === 0 || this.#ended) return;
    this.#batch = [];
    this.#taking = this.#parts
      .take(batch)
      .catch((error: unknown) => {
        this.end();
        this.#parts.failed(error);
      })
      .finally(() => {
        this.#taking = undefined;
      });
    await this.#taking;
  }
}
