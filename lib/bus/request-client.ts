import { BusConnection } from './bus-connection.js';
import { BusError, type BusErrorCode } from './bus-error.js';
import { DEFAULT_DEADLINE_MS, MAX_CALLS_IN_FLIGHT, MAX_CALLS_QUEUED, MAX_MESSAGE_BYTES } from './bus-limits.js';
import type { CallParams, CallResult, Contract, MethodName } from './contract.js';
import { describeIssue } from './describe-issue.js';
import { decodeMessage, encodeMessage } from './message-codec.js';
import { type AnswerMessage, hostClock, readAnswer } from './request-message.js';
import { SilenceWatch } from './silence-watch.js';

export type RequestClientOptions<C extends Contract> = {
  readonly contract: C;
  /** Socket path, `home.socket(daemon)`. */
  readonly path: string;
  /** Words the error of a daemon that cannot be reached, out of what was seen at its socket; default: daemon and reason. */
  readonly describeAbsence?: (reason: string) => string;
  /** Asked of a daemon that says nothing while calls wait; when it is not there they fail with `unresponsive`. Never rejects. */
  readonly isThere?: () => Promise<boolean>;
};

export type CallOptions = {
  /** Milliseconds until the call fails with `timeout`; default `DEFAULT_DEADLINE_MS`. */
  readonly deadlineMs?: number;
  /** Gives the call up: it fails with the signal's reason. The daemon may still carry it out. */
  readonly signal?: AbortSignal;
};

export type RequestClientCounters = {
  /** Calls made. */
  calls: number;
  /** Connections made; more than one means that the daemon was restarted. */
  connections: number;
  /** Answers that nobody waits for any more. */
  late: number;
  /** Frames that are no answer. */
  malformed: number;
};

type SentCall = {
  readonly id: number;
  readonly madeAt: number;
  readonly frame: Buffer;
  /** Set once the frame is on the wire of this connection: it is then lost with it. */
  connection: BusConnection | undefined;
  readonly answer: (answer: AnswerMessage) => void;
  readonly fail: (error: unknown) => void;
};

/** Calls one daemon. Many calls run at once; it connects when first used, and again after the daemon was restarted. */
export class RequestClient<C extends Contract> {
  readonly counters: RequestClientCounters = { calls: 0, connections: 0, late: 0, malformed: 0 };

  readonly #contract: C;
  readonly #path: string;
  readonly #describeAbsence: (reason: string) => string;
  readonly #silence: SilenceWatch | undefined;
  /** Every unsettled call by id, in the order they were made. */
  readonly #calls = new Map<number, SentCall>();
  /** Calls not yet on the wire, by id, in their order. */
  readonly #queue = new Map<number, SentCall>();
  #inFlight = 0;
  #nextId = 0;
  #connection: BusConnection | undefined;
  #connecting = false;
  #closed = false;

  constructor(options: RequestClientOptions<C>) {
    this.#contract = options.contract;
    this.#path = options.path;
    const { daemon } = options.contract;
    this.#describeAbsence = options.describeAbsence ?? ((reason) => `${daemon} is not available: ${reason}`);
    const { isThere } = options;
    if (isThere !== undefined) {
      this.#silence = new SilenceWatch({
        oldest: () => this.#calls.values().next().value?.madeAt,
        isThere,
        onGone: () =>
          this.#failAll('unresponsive', `${daemon} does not answer; whether the call was carried out is not known`),
      });
    }
  }

  /**
   * @throws BusError `unavailable` or `unresponsive` (within 2 s), `timeout`, `bad_params` (the message names the field), `too_large`,
   * `busy`, `internal`, `closed`, or a code of the daemon's own
   */
  async call<K extends MethodName<C>>(
    method: K,
    params: CallParams<C, K>,
    options: CallOptions = {},
  ): Promise<CallResult<C, K>> {
    const { daemon } = this.#contract;
    const contract = Object.hasOwn(this.#contract.methods, method) ? this.#contract.methods[method] : undefined;
    if (contract === undefined) throw new BusError('unknown_method', `${daemon} has no method '${method}'`);
    const answer = await this.#exchange(method, params, options);
    if ('error' in answer) throw new BusError(answer.error.code, answer.error.message);
    const result = contract.result.safeParse(answer.result);
    if (!result.success) {
      const issue = describeIssue('result', result.error);
      throw new BusError('internal', `${daemon} answered '${method}' against its contract: ${issue}`);
    }
    return result.data as CallResult<C, K>;
  }

  /** Closes the socket; calls under way fail with `closed`, and those that were sent may be carried out (`isUnclear`). */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#connection?.close();
    this.#silence?.stop();
    this.#queue.clear();
    const message = `the client of ${this.#contract.daemon} was closed`;
    for (const call of [...this.#calls.values()]) {
      const isUnclear = call.connection !== undefined;
      const known = isUnclear ? '; whether the call was carried out is not known' : '';
      call.fail(new BusError('closed', `${message}${known}`, { isUnclear }));
    }
  }

  #failAll(code: BusErrorCode, message: string): void {
    for (const call of [...this.#calls.values()]) call.fail(new BusError(code, message));
  }

  #exchange(method: string, params: unknown, options: CallOptions): Promise<AnswerMessage> {
    const { daemon } = this.#contract;
    const { deadlineMs = DEFAULT_DEADLINE_MS, signal } = options;
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new BusError('closed', `the client of ${daemon} was closed`);
      signal?.throwIfAborted();
      if (this.#calls.size >= MAX_CALLS_IN_FLIGHT + MAX_CALLS_QUEUED) {
        throw new BusError('busy', `${this.#calls.size} calls to ${daemon} are under way: try again later`);
      }
      const id = this.#nextId++;
      const frame = this.#encode(id, method, params, hostClock() + deadlineMs);
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#calls.delete(id);
        this.#queue.delete(id);
        if (call.connection !== undefined) this.#inFlight -= 1;
        if (this.#queue.size > 0) this.#pump();
      };
      const call: SentCall = {
        id,
        madeAt: performance.now(),
        frame,
        connection: undefined,
        answer: (answer) => {
          settle();
          resolve(answer);
        },
        fail: (error) => {
          settle();
          reject(error instanceof Error ? error : new Error(String(error)));
        },
      };
      const timer = setTimeout(() => {
        call.fail(new BusError('timeout', `${daemon} did not answer '${method}' within ${deadlineMs} ms`));
      }, deadlineMs);
      const onAbort = (): void => {
        call.fail(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.counters.calls += 1;
      this.#calls.set(id, call);
      this.#queue.set(id, call);
      this.#silence?.begin();
      this.#pump();
    });
  }

  #encode(id: number, method: string, params: unknown, deadline: number): Buffer {
    let frame: Buffer;
    try {
      frame = encodeMessage({ id, method, params, deadline });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new BusError('bad_params', `${this.#contract.daemon} ${method}: ${reason}`, { cause: error });
    }
    if (frame.length > MAX_MESSAGE_BYTES) {
      throw new BusError(
        'too_large',
        `${this.#contract.daemon} ${method}: request has ${frame.length} bytes, ${MAX_MESSAGE_BYTES} is the limit`,
      );
    }
    return frame;
  }

  /** Puts waiting calls on the wire as far as the limit allows. */
  #pump(): void {
    if (this.#closed) return;
    const connection = this.#connection;
    if (connection?.open !== true) {
      if (!this.#connecting) void this.#connect();
      return;
    }
    for (const call of this.#queue.values()) {
      if (this.#inFlight >= MAX_CALLS_IN_FLIGHT) return;
      this.#queue.delete(call.id);
      call.connection = connection;
      this.#inFlight += 1;
      void this.#send(connection, call);
    }
  }

  async #send(connection: BusConnection, call: SentCall): Promise<void> {
    if (await connection.send(call.frame)) return;
    if (this.#calls.has(call.id)) {
      call.fail(new BusError('unavailable', `${this.#contract.daemon} does not take requests`));
    }
  }

  async #connect(): Promise<void> {
    this.#connecting = true;
    try {
      const connection = await BusConnection.open(this.#path, {
        onMessage: (frame) => {
          this.#receive(frame);
        },
        onMalformed: () => {
          this.counters.malformed += 1;
        },
        onLost: () => {
          this.#lost(connection);
        },
      });
      if (this.#closed) {
        connection.close();
        return;
      }
      this.counters.connections += 1;
      this.#connection = connection;
    } catch (error) {
      const code = error instanceof BusError ? error.code : 'unavailable';
      const reason = error instanceof Error ? error.message : String(error);
      const waiting = [...this.#queue.values()];
      this.#queue.clear();
      for (const call of waiting) {
        call.fail(new BusError(code, this.#describeAbsence(reason), { cause: error }));
      }
      return;
    } finally {
      this.#connecting = false;
    }
    this.#pump();
  }

  #lost(connection: BusConnection): void {
    if (this.#connection === connection) this.#connection = undefined;
    for (const call of [...this.#calls.values()]) {
      if (call.connection !== connection) continue;
      call.fail(
        new BusError(
          'unavailable',
          `${this.#contract.daemon} went away; whether the call was carried out is not known`,
          { isUnclear: true },
        ),
      );
    }
  }

  #receive(frame: Buffer): void {
    this.#silence?.hear();
    let answer: AnswerMessage | undefined;
    try {
      answer = readAnswer(decodeMessage(frame));
    } catch {
      answer = undefined;
    }
    if (answer === undefined) {
      this.counters.malformed += 1;
      return;
    }
    const call = this.#calls.get(answer.id);
    if (call === undefined) this.counters.late += 1;
    else call.answer(answer);
  }
}
