/** Keeps what was used last, up to a number of bytes; one that is larger than all of it is not kept. */
export class ContentCache {
  readonly #held = new Map<string, Buffer>();
  #bytes = 0;

  constructor(private readonly mostBytes: number) {}

  /** @param md5 of the content */
  get(md5: string): Buffer | undefined {
    const content = this.#held.get(md5);
    if (content === undefined) return undefined;
    this.#held.delete(md5);
    this.#held.set(md5, content);
    return content;
  }

  set(md5: string, content: Buffer): void {
    if (this.#held.has(md5) || content.length > this.mostBytes) return;
    this.#held.set(md5, content);
    this.#bytes += content.length;
    for (const [oldest, held] of this.#held) {
      if (this.#bytes <= this.mostBytes) break;
      this.#held.delete(oldest);
      this.#bytes -= held.length;
    }
  }

  get bytes(): number {
    return this.#bytes;
  }
}
