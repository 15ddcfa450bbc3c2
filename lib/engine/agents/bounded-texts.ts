/** Texts by their keys, which are texts as well, the one that was set longest ago first; bounded in number and in bytes. */
export class BoundedTexts {
  readonly #most: number;
  readonly #mostBytes: number;
  readonly #texts = new Map<string, string>();
  #bytes = 0;

  /** @param mostBytes of keys and texts together */
  constructor(most: number, mostBytes: number) {
    this.#most = most;
    this.#mostBytes = mostBytes;
  }

  get size(): number {
    return this.#texts.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  has(key: string): boolean {
    return this.#texts.has(key);
  }

  get(key: string): string | undefined {
    return this.#texts.get(key);
  }

  /** Sets a text, which is the newest then. What there is no room for is forgotten, the oldest first. */
  set(key: string, text: string): void {
    this.delete(key);
    this.#texts.set(key, text);
    this.#bytes += key.length + text.length;
    while (this.#texts.size > this.#most || this.#bytes > this.#mostBytes) {
      const oldest = this.#texts.keys().next();
      if (oldest.done === true) return;
      this.delete(oldest.value);
    }
  }

  delete(key: string): void {
    const text = this.#texts.get(key);
    if (text === undefined) return;
    this.#texts.delete(key);
    this.#bytes -= key.length + text.length;
  }

  clear(): void {
    this.#texts.clear();
    this.#bytes = 0;
  }

  keys(): IterableIterator<string> {
    return this.#texts.keys();
  }

  /** From the oldest to the newest. */
  entries(): [string, string][] {
    return [...this.#texts];
  }
}
