/**
 * Says whether something has been done in this turn of the event loop. Within a turn nothing comes in: what several requests
 * of it, or one several times, want to know of a file needs one look.
 */
export class OnceATurn {
  #done = false;

  /** True for the first who asks in a turn. */
  due(): boolean {
    if (this.#done) return false;
    this.#done = true;
    setImmediate(() => (this.#done = false));
    return true;
  }

  /** Whoever asks next is the first: for what this process has changed itself. */
  forget(): void {
    this.#done = false;
  }
}
