/**
 * Streams at once, of all users together: each holds a connection and has svc-db look for it whenever there are new alerts. Stops clients
 * that open streams and forget them from using up the API's connections, of which it has 1024.
 */
const MAX_STREAMS = 64;
/** Streams of one user: windows of a browser. Stops one user, or one script that opens streams in a loop, from taking all places. */
const MAX_STREAMS_PER_USER = 8;

export type StreamLimits = { readonly total: number; readonly perUser: number };

/** A place that was taken; giving it back twice does no harm. */
export type StreamPlace = { release(): void };

/** Counts streams that are open. */
export class StreamPlaces {
  readonly #limits: StreamLimits;
  readonly #byUser = new Map<number, number>();
  #total = 0;

  constructor(limits: StreamLimits = { total: MAX_STREAMS, perUser: MAX_STREAMS_PER_USER }) {
    this.#limits = limits;
  }

  /** Streams that are open. */
  get open(): number {
    return this.#total;
  }

  /** @param user id @returns which limit keeps the user from another stream, in words; a place otherwise */
  take(user: number): StreamPlace | string {
    const own = this.#byUser.get(user) ?? 0;
    if (own >= this.#limits.perUser) return `a user may have ${this.#limits.perUser}`;
    if (this.#total >= this.#limits.total) return `all users together may have ${this.#limits.total}`;
    this.#total += 1;
    this.#byUser.set(user, own + 1);
    let isTaken = true;
    return {
      release: () => {
        if (!isTaken) return;
        isTaken = false;
        this.#total -= 1;
        const left = (this.#byUser.get(user) ?? 1) - 1;
        if (left === 0) this.#byUser.delete(user);
        else this.#byUser.set(user, left);
      },
    };
  }
}
