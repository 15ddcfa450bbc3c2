/**
 * What was read of segments and may be asked for again: the things used last, up to so many bytes. One that alone has more is
 * not kept.
 */
export class SegmentCache {
  readonly #most: number;
  readonly #kept = new Map<string, { readonly value: unknown; readonly bytes: number }>();
  #bytes = 0;

  /** @param mostBytes about so many */
  constructor(mostBytes: number) {
    this.#most = mostBytes;
  }

  /** @param make the value, with what it takes in memory */
  get<T>(key: string, make: () => { readonly value: T; readonly bytes: number }): T {
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return kept.value as T;
    }
    const made = make();
    if (made.bytes > this.#most) return made.value;
    this.#kept.set(key, made);
    this.#bytes += made.bytes;
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#bytes <= this.#most) break;
      this.#kept.delete(oldest);
      this.#bytes -= bytes;
    }
    return made.value;
  }
}
