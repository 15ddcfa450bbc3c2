import { lstatSync, rmSync, unlinkSync } from 'node:fs';
import { Router } from 'zeromq';
import { bindForGroup } from '../process/bind-for-group.js';
import { LockHeldError, ProcessLock } from '../process/process-lock.js';
import { BusError } from './bus-error.js';
import { LINGER_MS, RECEIVE_HIGH_WATER_MARK, SEND_HIGH_WATER_MARK, SOCKET_MESSAGE_BYTES } from './bus-limits.js';
import { probeSocket } from './probe-socket.js';
import { checkSocketPath } from './socket-path.js';

/** How long to look for a listener that holds the path without our lock. */
const PROBE_MS = 500;

export type ListenerHandlers = {
  /** A message of one frame from a peer, named by the routing id libzmq gave it. */
  readonly onMessage: (peer: Buffer, frame: Buffer) => void;
  /** A message of any other shape. */
  readonly onMalformed: () => void;
};

/** A bound ROUTER socket, with the guards libzmq lacks (architecture.md 4 "ZeroMQ traps"). */
export class BusListener {
  readonly #socket: Router;
  #lock: ProcessLock | undefined;
  #bound = false;
  #open = true;

  constructor(
    private readonly path: string,
    private readonly group: number | undefined,
    private readonly handlers: ListenerHandlers,
  ) {
    this.#socket = new Router({
      // A default ROUTER drops what it cannot route without a word.
      mandatory: true,
      // With no time-out a send to a peer that does not read would never settle. Zero: it fails at once, so that one
      // such peer costs the others nothing, and sends never overlap (a second one during the first would throw).
      sendTimeout: 0,
      linger: LINGER_MS,
      maxMessageSize: SOCKET_MESSAGE_BYTES,
      sendHighWaterMark: SEND_HIGH_WATER_MARK,
      receiveHighWaterMark: RECEIVE_HIGH_WATER_MARK,
    });
  }

  /**
   * Binds; user and group may connect, nobody else.
   * @throws BusError `in_use` when another process serves the path, `bad_path` when no socket can be there
   */
  async start(): Promise<void> {
    try {
      checkSocketPath(this.path);
      this.#lock = this.#takeLock();
      await this.#clearPath();
      this.#bind();
    } catch (error) {
      this.close();
      throw error;
    }
    void this.#receive();
  }

  /** libzmq takes a path over from a living listener without an error, so a lock beside it decides who may bind. */
  #takeLock(): ProcessLock {
    try {
      return ProcessLock.acquire(`${this.path}.lock`);
    } catch (error) {
      if (error instanceof LockHeldError) {
        throw new BusError('in_use', `socket '${this.path}' is in use by process ${error.holder.pid}`, {
          cause: error,
        });
      }
      throw cannotBind(this.path, error);
    }
  }

  /** Removes a socket a killed process left; refuses to touch what is no socket, which libzmq would delete. */
  async #clearPath(): Promise<void> {
    const found = lstatSync(this.path, { throwIfNoEntry: false });
    if (found === undefined) return;
    if (!found.isSocket()) throw new BusError('bad_path', `'${this.path}' exists and is not a socket`);
    const probe = await probeSocket(this.path, PROBE_MS);
    // A listener without our lock: of another version, or of another pid namespace that shares this home.
    if (probe.listening) throw new BusError('in_use', `socket '${this.path}' is in use by another process`);
    unlinkSync(this.path);
  }

  #bind(): void {
    try {
      bindForGroup(() => this.#socket.bindSync(`ipc://${this.path}`), this.group);
      this.#bound = true;
    } catch (error) {
      throw cannotBind(this.path, error);
    }
  }

  async #receive(): Promise<void> {
    try {
      for await (const frames of this.#socket) {
        if (!this.#open) return;
        const [peer, frame] = frames;
        if (peer === undefined || frame === undefined || frames.length !== 2) this.handlers.onMalformed();
        else this.handlers.onMessage(peer, frame);
      }
    } catch {
      // Closed under the receive.
    }
  }

  /** @returns false when the peer has gone, or has `SEND_HIGH_WATER_MARK` messages it does not read */
  async send(peer: Buffer, frame: Buffer): Promise<boolean> {
    if (!this.#open) return false;
    try {
      await this.#socket.send([peer, frame]);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Gives the path free and hangs up on every peer. What was sent is still delivered for `LINGER_MS`. (An `unbind`
   * before would hang up at once: libzmq ends the connections of a listener with it.)
   */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    // libzmq leaves the file. It goes while the lock is held, so that it cannot be that of the next process.
    if (this.#bound) rmSync(this.path, { force: true });
    this.#socket.close();
    this.#lock?.release();
  }
}

function cannotBind(path: string, error: unknown): BusError {
  const reason = error instanceof Error ? error.message : String(error);
  return new BusError('bad_path', `socket '${path}' cannot be bound: ${reason}`, { cause: error });
}
