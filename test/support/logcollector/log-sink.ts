import type { FollowerEvents } from '../../../daemons/logcollector/follower-parts.js';
import type { BusEvent } from '../../../lib/bus/bus-event.js';
import type { EventStream } from '../../../lib/bus/event-stream.js';

type Taken = { readonly stream: string; readonly sequence: number; readonly event: BusEvent };

/** The other end of the event bus in one object: what it acknowledged outlives the producer, as with a real sink. */
export class LogSink {
  readonly taken: Taken[] = [];
  /** Events that no stream carried. */
  readonly own: BusEvent[] = [];
  readonly #positions = new Map<string, number>();
  /** Most events that are not acknowledged; acknowledging is at once unless `held`. */
  window = Number.MAX_SAFE_INTEGER;
  held = false;
  #pending: Taken[] = [];
  #roomWaiters: (() => void)[] = [];

  /** Messages in the order in which they were acknowledged. */
  get texts(): string[] {
    return this.taken.map(({ event }) => event.message.toString('utf8'));
  }

  /** Messages of one location. */
  from(location: string): string[] {
    return this.taken
      .filter(({ event }) => event.location === location)
      .map(({ event }) => event.message.toString('utf8'));
  }

  /** How many events are not acknowledged. */
  get pending(): number {
    return this.#pending.length;
  }

  /** How often it is waited for room. */
  get waiting(): number {
    return this.#roomWaiters.length;
  }

  /** Acknowledges what is pending, and everything from now on unless `held` is set again. */
  release(): void {
    this.held = false;
    for (const taken of this.#pending.splice(0)) this.#acknowledge(taken);
    for (const resolve of this.#roomWaiters.splice(0)) resolve();
  }

  /** A power cut of the sink: of every stream it has only the events up to the `count`th of all. */
  forgetFrom(count: number): void {
    this.taken.length = count;
    for (const stream of this.#positions.keys()) {
      this.#positions.set(stream, this.taken.findLast((taken) => taken.stream === stream)?.sequence ?? 0);
    }
  }

  /** A producer that was killed: what it had not got acknowledged is lost. */
  forgetPending(): void {
    this.#pending = [];
    this.#roomWaiters = [];
  }

  /** A fresh connection, as a daemon that starts has one. */
  connect(): FollowerEvents {
    return {
      openStream: (name, from, options) => this.#open(name, from, options?.rewind === true),
      trySend: (event) => {
        this.own.push(event);
        return true;
      },
      ready: () =>
        this.#pending.length < this.window
          ? Promise.resolve()
          : new Promise((resolve) => this.#roomWaiters.push(resolve)),
    };
  }

  #open(name: string, from: number, rewind: boolean): EventStream {
    const mine = this.#positions.get(name);
    const known = rewind && mine !== undefined ? mine : Math.max(from, mine ?? 0);
    let last = known;
    const positions = this.#positions;
    positions.set(name, known);
    return {
      name,
      position: () => Promise.resolve(known),
      get acknowledged() {
        return positions.get(name) ?? known;
      },
      trySend: (event, sequence) => {
        if (sequence <= last) throw new RangeError(`sequence ${sequence} of '${name}' does not follow ${last}`);
        if (this.#pending.length >= this.window) return false;
        last = sequence;
        const taken = { stream: name, sequence, event };
        if (this.held) this.#pending.push(taken);
        else this.#acknowledge(taken);
        return true;
      },
      send: () => Promise.reject(new Error('not used')),
      close: () => undefined,
    };
  }

  #acknowledge(taken: Taken): void {
    this.taken.push(taken);
    this.#positions.set(taken.stream, taken.sequence);
  }
}
