import { randomBytes } from 'node:crypto';
import { isRequestAck } from '../../../lib/agentlink/request-text.js';

/** Times and numbers of requests (agents-and-groups.md 4.5, 11); milliseconds. */
export type RequestLimits = {
  /** `remoted.request_pool`: requests at a time; more are refused. */
  readonly most: number;
  /** `remoted.request_rto_sec`: over UDP, until the request is sent again. */
  readonly ackTimeout: number;
  /** `remoted.max_attempts`: over UDP. */
  readonly attempts: number;
  /** `remoted.response_timeout` */
  readonly responseTimeout: number;
};

const REQUEST_LIMITS: RequestLimits = { most: 1024, ackTimeout: 1000, attempts: 4, responseTimeout: 60_000 };

/** Timers, real or of a test. */
export type RequestTimers = {
  /** Calls `work` after some milliseconds; the function returned calls it off. */
  after(milliseconds: number, work: () => void): () => void;
};

/** One request. */
export type RequestCall = {
  readonly agentId: string;
  /** Sends the request with this counter. @returns whether it could be sent */
  readonly send: (counter: string) => boolean;
  /** Whether the way to the agent may lose it (UDP): it is then sent again until the agent says that it has come. */
  readonly lossy: boolean;
};

/** Too many requests wait for answers. */
export class RequestPoolError extends Error {
  override readonly name = 'RequestPoolError';
}

type PendingRequest = {
  readonly call: RequestCall;
  readonly settle: (answer: Buffer) => void;
  attempts: number;
  /** Whether it is known to have come: sent no more, and no further word to that effect gives more time. */
  arrived: boolean;
  stop: () => void;
};

const CANNOT_SEND = Buffer.from('err Cannot send request');
const NO_ACK = Buffer.from('err Maximum attempts exceeded');
const NO_ANSWER = Buffer.from('err Response timeout');

const REAL_TIMERS: RequestTimers = {
  after(milliseconds, work) {
    const timer = setTimeout(work, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Requests to agents that wait for an answer, each under a random counter of its own (agents-and-groups.md 4.5). */
export class RequestTable {
  readonly #limits: RequestLimits;
  readonly #timers: RequestTimers;
  readonly #pending = new Map<string, PendingRequest>();

  constructor(limits: RequestLimits = REQUEST_LIMITS, timers: RequestTimers = REAL_TIMERS) {
    this.#limits = limits;
    this.#timers = timers;
  }

  get size(): number {
    return this.#pending.size;
  }

  /**
   * Sends a request and waits for its answer. A failure is an answer, too: `err Cannot send request`,
   * `err Maximum attempts exceeded`, `err Response timeout`, as local clients know them.
   * @throws RequestPoolError when too many wait
   */
  async request(call: RequestCall): Promise<Buffer> {
    if (this.#pending.size >= this.#limits.most) throw new RequestPoolError('too many requests to agents');
    return new Promise((settle) => {
      const counter = this.#freeCounter();
      const pending: PendingRequest = { call, settle, attempts: 0, arrived: !call.lossy, stop: () => {} };
      this.#pending.set(counter, pending);
      this.#send(counter, pending);
    });
  }

  /**
   * Takes what an agent has answered.
   * @returns whether somebody waited for it: an answer under the counter of another agent's request counts for nothing
   */
  answer(agentId: string, counter: string, payload: Buffer): boolean {
    const key = counter.toLowerCase();
    const pending = this.#pending.get(key);
    if (pending?.call.agentId !== agentId) return false;
    if (!isRequestAck(payload)) {
      this.#finish(key, pending, payload);
    } else if (!pending.arrived) {
      pending.arrived = true;
      pending.stop();
      this.#awaitAnswer(key, pending);
    }
    return true;
  }

  /** Ends all requests to an agent that is gone, or all there are. */
  cancel(agentId?: string): void {
    for (const [counter, pending] of this.#pending) {
      if (agentId === undefined || pending.call.agentId === agentId) this.#finish(counter, pending, CANNOT_SEND);
    }
  }

  #send(counter: string, pending: PendingRequest): void {
    if (pending.attempts >= this.#limits.attempts) return this.#finish(counter, pending, NO_ACK);
    pending.attempts += 1;
    if (!pending.call.send(counter)) return this.#finish(counter, pending, CANNOT_SEND);
    if (pending.call.lossy) {
      pending.stop = this.#timers.after(this.#limits.ackTimeout, () => this.#send(counter, pending));
    } else {
      this.#awaitAnswer(counter, pending);
    }
  }

  #awaitAnswer(counter: string, pending: PendingRequest): void {
    pending.stop = this.#timers.after(this.#limits.responseTimeout, () => this.#finish(counter, pending, NO_ANSWER));
  }

  #finish(counter: string, pending: PendingRequest, answer: Buffer): void {
    pending.stop();
    this.#pending.delete(counter);
    pending.settle(answer);
  }

  /** Eight hex digits: an agent cannot guess under which counter another one is asked. */
  #freeCounter(): string {
    for (;;) {
      const counter = randomBytes(4).toString('hex');
      if (!this.#pending.has(counter)) return counter;
    }
  }
}
