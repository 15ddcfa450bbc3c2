/** Shortest run of printable characters that counts. */
const SHORTEST = 4;
/** Longest string handed on; a longer run is handed on in pieces. */
const LONGEST = 4096;

/** Finds the printable strings of a file that is read in pieces, as strings(1) does. Texts are byte strings. */
export class PrintableStrings {
  #rest = '';

  /** @param chunk may be written over afterwards */
  *add(chunk: Buffer): Generator<string> {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      const printable = (byte >= 0x20 && byte < 0x7f) || byte === 0x09;
      if (printable && at - start + this.#rest.length < LONGEST) continue;
      yield* this.#take(chunk.toString('latin1', start, at));
      start = printable ? at : at + 1;
    }
    this.#rest += chunk.toString('latin1', start);
  }

  /** The last one. */
  *end(): Generator<string> {
    yield* this.#take('');
  }

  *#take(last: string): Generator<string> {
    const text = this.#rest + last;
    this.#rest = '';
    if (text.length >= SHORTEST) yield text;
  }
}
