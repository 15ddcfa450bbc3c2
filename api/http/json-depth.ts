/**
 * Deepest JSON a request may send. Stops bodies made to exhaust the stack of whoever walks them (rest-api.md 1.5); no
 * operation needs more than a handful of levels.
 */
export const MAX_JSON_DEPTH = 500;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** Measures the nesting of a JSON text as its bytes arrive, without keeping them. */
export class JsonDepth {
  #depth = 0;
  #deepest = 0;
  #inString = false;
  #escaped = false;

  get tooDeep(): boolean {
    return this.#deepest > MAX_JSON_DEPTH;
  }

  add(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
      } else if (byte === QUOTE) {
        this.#inString = true;
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        this.#depth += 1;
        if (this.#depth > this.#deepest) this.#deepest = this.#depth;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        this.#depth -= 1;
      }
    }
  }
}
