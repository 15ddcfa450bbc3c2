/** An event that is to reach the sink of the home. */
export type OutEvent = {
  /** Queue id: integrity, rootcheck, notices (integrity-and-inventory.md 1.1). */
  readonly queue: '8' | '9' | '1';
  /** Byte string. */
  readonly location: string;
  /** At most `MAX_FIM_MESSAGE_BYTES`. */
  readonly message: Buffer;
};

/** Where events go that must not be lost: they are kept on disk until the sink has acknowledged them, and go in order. */
export interface EventOutbox {
  /** Resolves when they are on disk, all or none; waits while too much is on its way. */
  put(events: readonly OutEvent[]): Promise<void>;
}
