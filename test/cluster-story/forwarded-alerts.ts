/** Most alerts of a message of the stream: so many may come twice when the node that hands them on ends (docs/guide/outputs.md). */
const MOST_AGAIN = 200;

/** What a receiver got of the alerts of all nodes. */
export type ForwardedCounts = {
  /** Different ones. */
  readonly alerts: number;
  /** Those of them that came again. */
  readonly again: number;
  /** Connections whose alerts came again over another one: deliveries that were repeated. */
  readonly repeated: number;
};

/** What came over each connection, in order. */
export type Connections = readonly (readonly string[])[];

/** Whether a receiver has each alert that was written, and no more often than deliveries may have been repeated. */
export class ForwardedAlerts {
  readonly #connections: Connections;
  /** The last connection that an alert came over. */
  readonly #newest = new Map<string, number>();

  constructor(connections: Connections) {
    this.#connections = connections;
    for (const [at, lines] of connections.entries()) {
      for (const line of lines) this.#newest.set(line, at);
    }
  }

  counts(): ForwardedCounts {
    const all = this.#connections.reduce((sum, { length }) => sum + length, 0);
    return { alerts: this.#newest.size, again: all - this.#newest.size, repeated: this.#repeated().length };
  }

  /**
   * @param wanted lines that are to be there
   * @param known all lines that may be there
   * @param ends of processes that hand on, and stops for longer than a turn
   */
  breaches(wanted: readonly string[], known: ReadonlySet<string>, ends: number): string[] {
    return [...this.#breaches(wanted, known, ends)];
  }

  *#breaches(wanted: readonly string[], known: ReadonlySet<string>, ends: number): Generator<string> {
    for (const line of wanted) {
      if (!this.#newest.has(line)) yield `an alert was not handed on: ${shown(line)}`;
    }
    for (const line of this.#newest.keys()) {
      if (!known.has(line)) yield `an alert was handed on that nobody wrote: ${shown(line)}`;
    }
    for (const lines of this.#connections) {
      if (new Set(lines).size < lines.length) yield `one delivery has an alert twice: ${shown(lines[0] ?? '')}`;
    }
    const repeated = this.#repeated();
    if (repeated.length > ends) yield `${repeated.length} deliveries came again, with ${ends} ends of who hands on`;
    for (const lines of repeated) {
      if (lines.length > MOST_AGAIN) yield `${lines.length} alerts of one delivery came again`;
    }
  }

  /** Of each delivery that was repeated, what came again. */
  #repeated(): Connections {
    return this.#connections
      .map((lines, at) => lines.filter((line) => this.#newest.get(line) !== at))
      .filter(({ length }) => length > 0);
  }
}

const MAX_SHOWN = 240;

function shown(line: string): string {
  return line.slice(0, MAX_SHOWN);
}
