/** Entries of a list file beyond this are refused, so that a list cannot take all memory. */
const MAX_LIST_BYTES = 512 * 1024 * 1024;
const DOT = 0x2e;

/**
 * A CDB list held in memory (rules-and-alerts.md 6.1). Keys and values are byte strings; look-ups are byte-exact.
 * Made from the text form; the compiled `.cdb` file of the reference is not needed.
 */
export class CdbList {
  readonly #entries: ReadonlyMap<string, string>;
  /** Lengths of the keys that end with a dot, the longest first: no other prefix of an address can be a key. */
  readonly #networkLengths: readonly number[];
  /** Configured path of the text file, without `.cdb`. */
  readonly path: string;

  constructor(path: string, entries: ReadonlyMap<string, string>) {
    this.path = path;
    this.#entries = entries;
    const lengths = new Set<number>();
    for (const key of entries.keys()) if (key.endsWith('.')) lengths.add(key.length);
    this.#networkLengths = [...lengths].sort((a, b) => b - a);
  }

  /**
   * Reads the text form: `key:value` or `key:` a line, key and value optionally in double quotes. Lines without `:` or
   * with an unclosed quote are ignored; of equal keys the first wins.
   * @param text the file as a byte string
   * @throws RangeError when the file is larger than 512 MiB
   */
  static parse(path: string, text: string): CdbList {
    if (text.length > MAX_LIST_BYTES) throw new RangeError(`list '${path}' is larger than 512 MiB`);
    const entries = new Map<string, string>();
    for (let start = 0; start < text.length;) {
      let end = text.indexOf('\n', start);
      if (end < 0) end = text.length;
      const line = text.slice(start, text.charCodeAt(end - 1) === 13 && end > start ? end - 1 : end);
      start = end + 1;
      const entry = parseLine(line);
      if (entry !== undefined && !entries.has(entry[0])) entries.set(entry[0], entry[1]);
    }
    return new CdbList(path, entries);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Value of the key, or undefined. */
  find(key: string): string | undefined {
    return this.#entries.get(key);
  }

  /** Value of the key or of its longest prefix that ends in a dot: `10.1.2.3`, `10.1.2.`, `10.1.`, `10.`. */
  findAddress(key: string): string | undefined {
    const whole = this.#entries.get(key);
    if (whole !== undefined) return whole;
    for (const length of this.#networkLengths) {
      if (length > key.length || key.charCodeAt(length - 1) !== DOT) continue;
      const value = this.#entries.get(key.slice(0, length));
      if (value !== undefined) return value;
    }
    return undefined;
  }
}

function parseLine(line: string): [string, string] | undefined {
  let key: string;
  let rest: string;
  if (line.startsWith('"')) {
    const close = line.indexOf('"', 1);
    if (close < 0) return undefined;
    key = line.slice(1, close);
    const colon = line.indexOf(':', close + 1);
    if (colon < 0) return undefined;
    rest = line.slice(colon + 1);
  } else {
    const colon = line.indexOf(':');
    if (colon < 0) return undefined;
    key = line.slice(0, colon);
    rest = line.slice(colon + 1);
  }
  if (rest.startsWith('"')) {
    const close = rest.indexOf('"', 1);
    if (close < 0) return undefined;
    return [key, rest.slice(1, close)];
  }
  return [key, rest];
}
