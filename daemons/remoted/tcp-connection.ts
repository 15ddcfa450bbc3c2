import type { Socket } from 'node:net';
import { FrameDecoder, FrameSizeError } from '../../lib/agentlink/frame-decoder.js';
import { normalizeAddress } from '../../lib/network/agent-address.js';
import type { Agent, Route } from './agent-link.js';
import type { WaitingSource } from './event-gate.js';
import type { LateConnection } from './late-keys.js';
import { ReadAhead } from './read-ahead.js';

/** What is done with a message: go on, stand still until `resume`, or end the connection. */
export type MessageDisposition = 'next' | 'held' | 'close';

/** What a connection tells. */
export interface ConnectionOwner {
  /** A whole message came. It shares memory with others and is to be used at once. */
  message(connection: TcpConnection, message: Buffer): MessageDisposition;
  /** A frame announced a length that no message has; the connection is being closed. */
  tooLong(connection: TcpConnection, error: FrameSizeError): void;
  /** Bytes came, or were sent. */
  bytes(received: number, sent: number): void;
  /** Whether a frame is on its way in parts has changed. */
  unfinished(connection: TcpConnection, unfinished: boolean): void;
  /** It is gone. */
  closed(connection: TcpConnection): void;
}

/** The connection of one agent, or of a peer that has not yet shown that it is one. */
export class TcpConnection implements Route, WaitingSource, LateConnection {
  readonly lossy = false;
  readonly source: string;
  lastReceivedAt = 0;
  readonly ahead = new ReadAhead();
  /** Whose messages came last; undefined before the first that could be opened. */
  agent: Agent | undefined;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #sendBuffer: number;
  readonly #decoder = new FrameDecoder();
  #held = false;
  #unfinished = false;
  /** The socket is gone. */
  #gone = false;
  /** We have ended it: what it still holds does not count. */
  #ended = false;
  /** We send nothing more; what the peer has sent still counts. */
  #finishing = false;

  /** @param sendBuffer bytes that may wait to be sent (`remoted.send_buffer_size`) */
  constructor(socket: Socket, owner: ConnectionOwner, sendBuffer: number) {
    this.#socket = socket;
    this.#owner = owner;
    this.#sendBuffer = sendBuffer;
    this.source = normalizeAddress(socket.remoteAddress ?? '');
    socket.on('data', (chunk: Buffer) => {
      this.#owner.bytes(chunk.length, 0);
      this.#decoder.push(chunk);
      this.#work();
    });
    // Both are followed by 'close', some turns later: by then an agent that starts anew may have connected again, and must
    // not be told that its key is in use.
    socket.on('end', () => {
      this.#gone = true;
    });
    socket.on('error', () => {
      this.#gone = true;
    });
    socket.on('close', () => {
      this.#gone = true;
      this.#setUnfinished(false);
      this.#owner.closed(this);
    });
  }

  get open(): boolean {
    return !this.#gone && !this.#ended && !this.#finishing;
  }

  send(frame: Buffer, flushed?: () => void): boolean {
    // A peer that does not read keeps its answers waiting here, up to the limit.
    if (!this.open || this.#socket.writableLength + frame.length > this.#sendBuffer) return false;
    if (flushed === undefined) this.#socket.write(frame);
    else this.#socket.write(frame, () => flushed());
    this.#owner.bytes(0, frame.length);
    return true;
  }

  resume(): boolean {
    this.#held = false;
    this.#work();
    return !this.#isHeld();
  }

  again(message: Buffer): void {
    if (this.#ended) return;
    this.#held = false;
    if (!this.#take(message)) return;
    this.#work();
    if (!this.#isHeld()) this.read();
  }

  read(): void {
    if (!this.#ended) this.#socket.resume();
  }

  /** Ends our side, so that the peer ends its own, and reads on what it has sent until then. */
  finish(): void {
    if (!this.open) return;
    this.#finishing = true;
    this.#socket.end();
  }

  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#socket.destroy();
  }

  // A method, as what `#work` has changed is not seen by the compiler.
  #isHeld(): boolean {
    return this.#held;
  }

  #work(): void {
    if (this.#held || this.#ended) return;
    try {
      for (let message = this.#decoder.next(); message !== undefined; message = this.#decoder.next()) {
        if (!this.#take(message)) return;
      }
    } catch (error) {
      if (!(error instanceof FrameSizeError)) throw error;
      this.#owner.tooLong(this, error);
      return this.close();
    }
    this.#setUnfinished(!this.#gone && this.#decoder.unfinished);
  }

  /** @returns false when nothing follows for now */
  #take(message: Buffer): boolean {
    const taken = this.#owner.message(this, message);
    if (taken === 'held') {
      this.#held = true;
      this.#socket.pause();
      this.#setUnfinished(false);
    } else if (taken === 'close') {
      this.close();
    }
    return taken === 'next';
  }

  #setUnfinished(unfinished: boolean): void {
    if (unfinished === this.#unfinished) return;
    this.#unfinished = unfinished;
    this.#owner.unfinished(this, unfinished);
  }
}
