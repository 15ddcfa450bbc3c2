import type { LimitedLogger, Logger } from '../log/logger.js';
import { BusError } from './bus-error.js';
import { MAX_CALLS_RUNNING, MAX_CALLS_WAITING, MAX_MESSAGE_BYTES } from './bus-limits.js';
import { BusListener } from './bus-listener.js';
import type { Contract, Handlers, MethodContract, ServedCall } from './contract.js';
import { describeIssue } from './describe-issue.js';
import { decodeMessage, encodeMessage } from './message-codec.js';
import { type AnswerMessage, hostClock, messageId, readRequest, type RequestMessage } from './request-message.js';

export type RequestServerOptions<C extends Contract> = {
  readonly contract: C;
  readonly handlers: Handlers<C>;
  /** Socket path, `home.socket(daemon)`. */
  readonly path: string;
  readonly logger: Logger;
  /** Group id the socket gets; without it the group stays that of the process. */
  readonly group?: number;
};

export type RequestServerCounters = {
  /** Frames received. */
  received: number;
  /** Calls answered with a result. */
  answered: number;
  /** Calls answered with an error. */
  failed: number;
  /** Frames that are no request and have no id to answer to. */
  malformed: number;
  /** Calls refused because too many were running and waiting. */
  refused: number;
  /** Calls not carried out because their caller's deadline had passed. */
  expired: number;
  /** Answers given up because the peer went away or does not read. */
  undelivered: number;
};

type ServedMethod = MethodContract & { readonly handle: (params: unknown, call: ServedCall) => unknown };
type ReceivedCall = { readonly peer: Buffer; readonly request: RequestMessage; readonly method: ServedMethod };

/** Default of `stop`: below the 5 s in which a daemon must have stopped. */
const DRAIN_MS = 2000;

/** Answers the requests to a daemon (architecture.md 4 "Requests"). */
export class RequestServer<C extends Contract> {
  readonly counters: RequestServerCounters = {
    received: 0,
    answered: 0,
    failed: 0,
    malformed: 0,
    refused: 0,
    expired: 0,
    undelivered: 0,
  };

  readonly #daemon: string;
  readonly #methods = new Map<string, ServedMethod>();
  readonly #listener: BusListener;
  readonly #logger: Logger;
  readonly #malformedLog: LimitedLogger;
  readonly #waiting: ReceivedCall[] = [];
  #running = 0;
  #stopping = false;
  #drained: (() => void) | undefined;

  constructor(options: RequestServerOptions<C>) {
    this.#daemon = options.contract.daemon;
    this.#logger = options.logger;
    this.#malformedLog = options.logger.limited();
    const handlers: Readonly<Record<string, ((params: never, call: ServedCall) => unknown) | undefined>> =
      options.handlers;
    for (const [name, contract] of Object.entries(options.contract.methods)) {
      const handle = handlers[name];
      if (handle === undefined) throw new TypeError(`${this.#daemon}: method '${name}' has no handler`);
      // Handlers are typed per method; here their parameters have just passed that method's schema.
      this.#methods.set(name, { ...contract, handle: (params, call) => handle(params as never, call) });
    }
    this.#listener = new BusListener(options.path, options.group, {
      onMessage: (peer, frame) => {
        this.#receive(peer, frame);
      },
      onMalformed: () => {
        this.counters.received += 1;
        this.#malformed('it has more than one frame');
      },
    });
  }

  /** Binds the socket. @throws BusError `in_use` or `bad_path` */
  start(): Promise<void> {
    return this.#listener.start();
  }

  /** Refuses new calls, lets running ones answer for at most `drainMs`, then gives the socket up. */
  async stop(drainMs = DRAIN_MS): Promise<void> {
    this.#stopping = true;
    for (const call of this.#waiting.splice(0)) this.#fail(call.peer, call.request.id, this.#stoppingError());
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, drainMs);
        this.#drained = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#listener.close();
  }

  #receive(peer: Buffer, frame: Buffer): void {
    this.counters.received += 1;
    let value: unknown;
    try {
      value = decodeMessage(frame);
    } catch (error) {
      this.#malformed(error instanceof Error ? error.message : String(error));
      return;
    }
    const id = messageId(value);
    if (id === undefined) {
      this.#malformed(`it has no member 'id'`);
      return;
    }
    try {
      this.#admit(peer, frame, readRequest(id, value));
    } catch (error) {
      this.#fail(peer, id, error);
    }
  }

  #admit(peer: Buffer, frame: Buffer, request: RequestMessage): void {
    if (frame.length > MAX_MESSAGE_BYTES) {
      throw new BusError('too_large', `request has ${frame.length} bytes, ${MAX_MESSAGE_BYTES} is the limit`);
    }
    const method = this.#methods.get(request.method);
    if (method === undefined) {
      throw new BusError('unknown_method', `${this.#daemon} has no method '${request.method}'`);
    }
    if (this.#stopping) throw this.#stoppingError();
    const call = { peer, request, method };
    // Who asks whether it is alive does not wait for those who wait for something else.
    if (this.#running < MAX_CALLS_RUNNING || request.method === 'ping') {
      void this.#run(call);
    } else if (this.#waiting.length < MAX_CALLS_WAITING) {
      this.#waiting.push(call);
    } else {
      this.counters.refused += 1;
      throw new BusError('busy', `${this.#daemon} has ${MAX_CALLS_WAITING} calls waiting: try again later`);
    }
  }

  async #run(call: ReceivedCall): Promise<void> {
    this.#running += 1;
    try {
      if (isWanted(call.request)) await this.#answer(call);
      else this.counters.expired += 1;
    } finally {
      this.#running -= 1;
      const next = this.#waiting.shift();
      if (next !== undefined) void this.#run(next);
      else if (this.#running === 0) this.#drained?.();
    }
  }

  async #answer({ peer, request, method }: ReceivedCall): Promise<void> {
    try {
      const parsed = method.params.safeParse(request.params);
      if (!parsed.success) {
        throw new BusError('bad_params', `${this.#daemon} ${request.method}: ${describeIssue('params', parsed.error)}`);
      }
      const served = { isWanted: () => isWanted(request) };
      const frame = encodeMessage({ id: request.id, result: await method.handle(parsed.data, served) });
      if (frame.length > MAX_MESSAGE_BYTES) {
        throw new BusError(
          'too_large',
          `${this.#daemon} ${request.method}: answer has ${frame.length} bytes, ${MAX_MESSAGE_BYTES} is the limit: ask for less`,
        );
      }
      this.counters.answered += 1;
      await this.#send(peer, frame);
    } catch (error) {
      this.#fail(peer, request.id, this.#toBusError(request.method, error));
    }
  }

  /** What is not meant for callers goes to the log; they learn where to look. */
  #toBusError(method: string, error: unknown): BusError {
    if (error instanceof BusError) return error;
    const reason = error instanceof Error ? error.message : String(error);
    this.#logger.error(`Method '${method}' failed: ${reason}`, {
      stack: error instanceof Error ? error.stack : undefined,
    });
    return new BusError('internal', `${this.#daemon} failed in '${method}': see its log`, { cause: error });
  }

  #fail(peer: Buffer, id: number, error: unknown): void {
    const { code, message } = error instanceof BusError ? error : new BusError('internal', String(error));
    const answer: AnswerMessage = { id, error: { code, message } };
    this.counters.failed += 1;
    void this.#send(peer, encodeMessage(answer));
  }

  async #send(peer: Buffer, frame: Buffer): Promise<void> {
    if (!(await this.#listener.send(peer, frame))) this.counters.undelivered += 1;
  }

  #malformed(reason: string): void {
    this.counters.malformed += 1;
    this.#malformedLog.warn(`Request socket: message dropped: ${reason}`);
  }

  #stoppingError(): BusError {
    return new BusError('unavailable', `${this.#daemon} is stopping`);
  }
}

/** Whether the caller still waits. */
function isWanted({ deadline }: RequestMessage): boolean {
  return deadline === undefined || deadline >= hostClock();
}
