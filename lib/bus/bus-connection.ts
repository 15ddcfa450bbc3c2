import { setImmediate as setImmediatePromise, setTimeout as setTimeoutPromise } from 'node:timers/promises';
import { Dealer } from 'zeromq';
import { BusError } from './bus-error.js';
import {
  CONNECT_TIMEOUT_MS,
  RECEIVE_HIGH_WATER_MARK,
  SEND_HIGH_WATER_MARK,
  SOCKET_MESSAGE_BYTES,
} from './bus-limits.js';
import { probeSocket } from './probe-socket.js';
import { checkSocketPath } from './socket-path.js';

/** A connection whose peer hung up is closed when nothing was read from it for this long. */
const LAST_WORDS_MS = 20;

/**
 * Pause before libzmq reconnects: it is closed long before. To switch reconnecting off (-1) would throw away what the
 * peer sent and nobody has read yet.
 */
const NEVER_MS = 3_600_000;

export type ConnectionHandlers = {
  /** A message of one frame; anything else is `onMalformed`. */
  readonly onMessage: (frame: Buffer) => void;
  readonly onMalformed: () => void;
  /** The peer hung up. Not called after `close`. */
  readonly onLost: () => void;
};

/**
 * One connection to one run of a peer. It never reconnects: libzmq would keep what was queued for the old peer and give
 * it to the next one, long after its callers had gone. Whoever needs a peer again opens a new connection.
 */
export class BusConnection {
  #open = true;
  /** The peer hung up: what it sent may still be read, nothing more goes to it. */
  #hungUp = false;
  #received = 0;

  private constructor(
    private readonly socket: Dealer,
    private readonly handlers: ConnectionHandlers,
  ) {}

  /**
   * Connects and shakes hands.
   * @throws BusError `unavailable` within `CONNECT_TIMEOUT_MS`, the message says why; `bad_path`
   */
  static async open(path: string, handlers: ConnectionHandlers): Promise<BusConnection> {
    checkSocketPath(path);
    const started = performance.now();
    const probe = await probeSocket(path, CONNECT_TIMEOUT_MS);
    if (!probe.listening) throw new BusError('unavailable', probe.reason);
    const socket = new Dealer({
      linger: 0,
      maxMessageSize: SOCKET_MESSAGE_BYTES,
      sendHighWaterMark: SEND_HIGH_WATER_MARK,
      receiveHighWaterMark: RECEIVE_HIGH_WATER_MARK,
      sendTimeout: 0,
      reconnectInterval: NEVER_MS,
    });
    const connection = new BusConnection(socket, handlers);
    await connection.#shakeHands(path, CONNECT_TIMEOUT_MS - (performance.now() - started));
    void connection.#receive();
    return connection;
  }

  #shakeHands(path: string, timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (reason: string): void => {
        clearTimeout(timer);
        this.close();
        reject(new BusError('unavailable', reason));
      };
      const timer = setTimeout(
        () => {
          fail(`the process that holds '${path}' does not answer`);
        },
        Math.max(timeoutMs, 100),
      );
      let shaken = false;
      const events = this.socket.events;
      events.on('handshake', () => {
        shaken = true;
        clearTimeout(timer);
        resolve();
      });
      const lost = (): void => {
        if (!this.#open || this.#hungUp) return;
        this.#hungUp = true;
        if (!shaken) {
          fail(`the connection to '${path}' broke while it was made`);
          return;
        }
        void this.#hearLastWords();
      };
      events.on('disconnect', lost);
      events.on('close', lost);
      events.on('handshake:error:protocol', lost);
      events.on('handshake:error:other', lost);
      try {
        this.socket.connect(`ipc://${path}`);
      } catch (error) {
        fail(`'${path}' cannot be reached: ${error instanceof Error ? error.message : String(error)}`);
      }
    });
  }

  /**
   * What the peer sent before it hung up is in memory already, only not handed over. A time alone is no measure of
   * that: a process that was held up runs its timers before it reads. So it reads, turn by turn, until all is quiet.
   */
  async #hearLastWords(): Promise<void> {
    let heard: number;
    do {
      heard = this.#received;
      await setTimeoutPromise(LAST_WORDS_MS);
      for (let turn = 0; turn < 3; turn += 1) await setImmediatePromise();
    } while (this.#received !== heard);
    if (!this.#open) return;
    this.close();
    this.handlers.onLost();
  }

  async #receive(): Promise<void> {
    try {
      for await (const frames of this.socket) {
        if (!this.#open) return;
        this.#received += 1;
        const frame = frames[0];
        if (frame === undefined || frames.length !== 1) this.handlers.onMalformed();
        else this.handlers.onMessage(frame);
      }
    } catch {
      // The socket was closed under the receive; whoever closed it has told those who wait.
    }
  }

  /**
   * Hands one frame to libzmq. It never waits, so sends cannot run into each other: a second `send` during one that
   * waits would throw.
   * @returns false when the peer does not read (its queue is full) or the connection is gone: the frame was not taken
   */
  async send(frame: Buffer): Promise<boolean> {
    if (!this.open) return false;
    try {
      await this.socket.send(frame);
      return true;
    } catch {
      return false;
    }
  }

  /** Whether sends can reach the peer. */
  get open(): boolean {
    return this.#open && !this.#hungUp;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.socket.close();
  }
}
