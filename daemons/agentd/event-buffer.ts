/** How full the buffer is, in the states of agents-and-groups.md 5.3. */
export type BufferLevel = 'normal' | 'warning' | 'full' | 'flood';

/** When levels change. */
export type BufferLimits = {
  /** Events it holds, until `resize`. */
  readonly size: number;
  /** Percent of `size`: `agent.warn_level` and `agent.normal_level`. */
  readonly warn: number;
  readonly normal: number;
  /** Milliseconds it must stay full to count as flooded: `agent.tolerance`. */
  readonly tolerance: number;
};

/** Bytes it holds at most: 100,000 events of the largest size would be six gigabytes. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Taken places at the front before they are given back. */
const COMPACT_AT = 1024;

/**
 * The ring between what the host's daemons send and what goes to the manager (5.3): when it is full, the new event is
 * dropped and counted.
 */
export class EventBuffer {
  level: BufferLevel = 'normal';
  dropped = 0;
  readonly #limits: BufferLimits;
  #size: number;
  readonly #changed: (level: BufferLevel) => void;
  #events: Buffer[] = [];
  #front = 0;
  #bytes = 0;
  #fullSince = 0;

  /** @param changed told of a new level; not of the way down from full to warning, which is no news */
  constructor(limits: BufferLimits, changed: (level: BufferLevel) => void) {
    this.#limits = limits;
    this.#size = limits.size;
    this.#changed = changed;
  }

  /** Events that wait. */
  get length(): number {
    return this.#events.length - this.#front;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Holds another number of events from now on. What does not fit any more is dropped, the newest first.
   * @returns how many were dropped
   */
  resize(size: number): number {
    this.#size = size;
    const left = this.#events.splice(this.#front + size);
    for (const { length } of left) this.#bytes -= length;
    this.dropped += left.length;
    this.#rise();
    this.#fall();
    return left.length;
  }

  /** The oldest event; it stays until `shift`. */
  first(): Buffer | undefined {
    return this.#events[this.#front];
  }

  /** @param now milliseconds of a clock that is not set @returns false when it was dropped */
  append(event: Buffer, now: number): boolean {
    if (this.length >= this.#size || (this.length > 0 && this.#bytes + event.length > MAX_BYTES)) {
      this.dropped += 1;
      if (this.level === 'full') {
        if (now - this.#fullSince >= this.#limits.tolerance) this.#enter('flood');
      } else if (this.level !== 'flood') {
        this.#fullSince = now;
        this.#enter('full');
      }
      return false;
    }
    this.#events.push(event);
    this.#bytes += event.length;
    this.#rise();
    return true;
  }

  /** Takes the oldest event away, once it is sent. */
  shift(): void {
    const event = this.first();
    if (event === undefined) return;
    this.#bytes -= event.length;
    this.#front += 1;
    if (this.#front >= COMPACT_AT && this.#front * 2 >= this.#events.length) {
      this.#events = this.#events.slice(this.#front);
      this.#front = 0;
    }
    this.#fall();
  }

  #rise(): void {
    if (this.level === 'normal' && this.#fill() >= this.#limits.warn) this.#enter('warning');
  }

  #fall(): void {
    if (this.level === 'normal') return;
    const fill = this.#fill();
    if (fill <= this.#limits.normal) this.#enter('normal');
    else if (this.level !== 'warning' && fill <= this.#limits.warn) this.level = 'warning';
  }

  /** Percent, of events or of bytes. */
  #fill(): number {
    return 100 * Math.max(this.length / this.#size, this.#bytes / MAX_BYTES);
  }

  #enter(level: BufferLevel): void {
    this.level = level;
    this.#changed(level);
  }
}
