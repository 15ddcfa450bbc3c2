/** An order that an agent got, over which of its connections. */
export type Receipt = { readonly token: string; readonly connection: number };

/** Times are those of `performance.now()`. */
type Connection = { readonly begun: number; provenUntil: number };

/** What an agent got, and how long it was connected to what. */
export class AgentRecord {
  readonly id: string;
  readonly #receipts: Receipt[] = [];
  readonly #connections: Connection[] = [];

  constructor(id: string) {
    this.id = id;
  }

  /** In the order in which they came. */
  get receipts(): readonly Receipt[] {
    return this.#receipts;
  }

  /** Of the latest connection. */
  get connection(): number {
    return this.#connections.length - 1;
  }

  /** A manager has answered on a new connection. @param now milliseconds, rising */
  connected(now: number): void {
    this.#connections.push({ begun: now, provenUntil: now });
  }

  /** The manager has answered on the latest connection what was sent at that time: what it had sent before has come. */
  proven(sentAt: number): void {
    const last = this.#connections.at(-1);
    if (last !== undefined) last.provenUntil = sentAt;
  }

  /** Whether a manager has answered what was sent after this time. */
  answeredSince(time: number): boolean {
    return (this.#connections.at(-1)?.provenUntil ?? -Infinity) > time;
  }

  received(token: string): void {
    this.#receipts.push({ token, connection: this.connection });
  }

  /**
   * Whether one and the same connection stood from before the first time to behind the second: what was sent in between is there, and
   * else may have been on its way over one that broke.
   */
  stood(from: number, to: number): boolean {
    return this.#connections.some(({ begun, provenUntil }) => begun <= from && provenUntil >= to);
  }
}
