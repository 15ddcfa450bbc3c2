import type { Socket } from 'node:net';
import type { WaitingSource } from '../event-gate.js';
import { ReadAhead } from '../read-ahead.js';
import { SyslogFramer, SyslogFramingError } from './syslog-framer.js';

/** What a connection tells. */
export interface SyslogConnectionOwner {
  /** A whole message came. @returns false when the connection has to stand still until `resume` */
  message(connection: SyslogConnection, message: Buffer): boolean;
  received(connection: SyslogConnection, bytes: number): void;
  /** Only the head of a message was taken. */
  tooLong(connection: SyslogConnection): void;
  /** What came is no syslog; the connection is being closed. */
  malformed(connection: SyslogConnection, error: SyslogFramingError): void;
  closed(connection: SyslogConnection): void;
}

/** A sender's TCP connection. Nothing is ever written to it. */
export class SyslogConnection implements WaitingSource {
  readonly ahead = new ReadAhead();
  /** When something came last, and since when a message has been on its way in parts; milliseconds of the owner's clock. */
  activeAt = 0;
  unfinishedSince: number | undefined;
  readonly #framer: SyslogFramer;
  #held = false;
  /** The other end says nothing more: what is left without an end is a message, too. */
  #over = false;
  /** What came is no syslog: nothing of it is read any more. */
  #broken = false;
  #ended = false;

  /** @param source as `normalizeAddress` gives it */
  constructor(
    private readonly socket: Socket,
    private readonly owner: SyslogConnectionOwner,
    readonly source: string,
  ) {
    this.#framer = new SyslogFramer(() => {
      owner.tooLong(this);
    });
    socket.on('data', (chunk: Buffer) => {
      owner.received(this, chunk.length);
      this.#framer.push(chunk);
      this.#work();
    });
    socket.on('end', () => {
      this.#over = true;
      this.#work();
    });
    // 'close' follows.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#over = true;
      this.#work();
      // One that stands still goes on with what it has read; it is of no more interest than that.
      owner.closed(this);
    });
  }

  /** Whether a message is on its way in parts, and is not held up by us. */
  get unfinished(): boolean {
    return !this.#held && !this.#over && this.#framer.unfinished;
  }

  get held(): boolean {
    return this.#held;
  }

  resume(): boolean {
    this.#held = false;
    this.#work();
    return !this.held;
  }

  read(): void {
    if (!this.#ended) this.socket.resume();
  }

  /** Ends our side, so that the sender ends its own and connects again, and reads on what it has sent until then. */
  finish(): void {
    if (!this.#ended) this.socket.end();
  }

  /** Ends it, with what has come of a message in parts. */
  close(): void {
    if (this.#ended) return;
    this.#over = true;
    this.#work();
    this.#end();
  }

  #end(): void {
    this.#ended = true;
    this.socket.destroy();
  }

  #work(): void {
    if (this.#held || this.#broken) return;
    try {
      for (let message = this.#next(); message !== undefined; message = this.#next()) {
        if (!this.owner.message(this, message)) {
          this.#held = true;
          this.socket.pause();
          return;
        }
      }
    } catch (error) {
      if (!(error instanceof SyslogFramingError)) throw error;
      this.#broken = true;
      this.owner.malformed(this, error);
      this.#end();
    }
  }

  #next(): Buffer | undefined {
    return this.#framer.next() ?? (this.#over ? this.#framer.rest() : undefined);
  }
}
