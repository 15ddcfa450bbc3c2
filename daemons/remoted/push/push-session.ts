import type { AgentKey } from '../../../lib/agentlink/agent-key.js';
import { ACK_MESSAGE } from '../../../lib/agentlink/control-text.js';
import { UDP_PUSH_PAUSE } from '../../../lib/agentlink/file-push.js';
import type { MessageForm } from '../../../lib/agentlink/message-form.js';
import type { SenderCounter } from '../../../lib/agentlink/sender-counter.js';
import { type Agent, linkOf, type Route } from '../agent-link.js';
import type { RemotedCounters } from '../remoted-counters.js';
import { type PushContent, SharedPayload } from './push-content.js';
import { BATCHES_PER_ACK, MESSAGES_PER_BATCH, ROOM_RETRY_MS } from './push-limits.js';
import { type PushSeal, PushSealer } from './push-sealer.js';

/** Time, real or of a test. Milliseconds. */
export type PushClock = {
  /** Of a clock that is not set. */
  now(): number;
  /** Calls `work` later; the function returned calls it off. */
  after(milliseconds: number, work: () => void): () => void;
  /** Calls `work` when what has come from the network meanwhile has been looked at. */
  soon(work: () => void): void;
};

export type SessionParts = {
  readonly sealer: PushSealer;
  readonly counter: Pick<SenderCounter, 'next'>;
  readonly counters: RemotedCounters;
  readonly clock: PushClock;
};

/** `more`: it can go on at once; `waiting`: it says when; `lost`: there is no way to the agent any more. */
export type PushStep = 'more' | 'waiting' | 'done' | 'lost';

/** Agents go on with an open file after it (4.4). */
const ACK = new SharedPayload(Buffer.from(ACK_MESSAGE));

/** One push to one agent (agents-and-groups.md 4.4), done step by step. */
export class PushSession {
  readonly #parts: SessionParts;
  readonly #agent: Agent;
  readonly #content: PushContent;
  readonly #route: Route;
  readonly #wake: () => void;
  #seal: PushSeal | undefined;
  #key: AgentKey | undefined;
  #form: MessageForm | undefined;
  #next = 0;
  #waiting = false;
  #callOff: (() => void) | undefined;

  /** @param wake told when it can go on */
  constructor(parts: SessionParts, agent: Agent, route: Route, content: PushContent, wake: () => void) {
    this.#parts = parts;
    this.#agent = agent;
    this.#route = route;
    this.#content = content;
    this.#wake = wake;
  }

  get md5(): string {
    return this.#content.md5;
  }

  /** Whether the agent is still reached the way on which the push began. */
  get reachable(): boolean {
    return this.#way() !== undefined;
  }

  /** Sends as much as goes at once. */
  step(): PushStep {
    const way = this.#way();
    if (way === undefined) return 'lost';
    if (this.#waiting) return 'waiting';
    if (this.#next >= this.#content.length) return 'done';
    return way.lossy ? this.#sendDatagrams(way) : this.#sendBatch(way);
  }

  /** Sends nothing more. */
  cancel(): void {
    this.#callOff?.();
    this.#next = this.#content.length;
    this.#waiting = true;
  }

  /** The way to the agent. Over UDP every datagram of the agent brings a new one; over TCP another one is another file. */
  #way(): Route | undefined {
    const route = this.#agent.state?.route;
    if (route?.open !== true || this.#agent.removed) return undefined;
    return route === this.#route || (route.lossy && this.#route.lossy) ? route : undefined;
  }

  #sendBatch(way: Route): PushStep {
    const first = this.#next;
    const end = Math.min(first + MESSAGES_PER_BATCH, this.#content.length);
    const hasAck = first % (MESSAGES_PER_BATCH * BATCHES_PER_ACK) === 0 && first > 0;
    let room = hasAck ? PushSealer.room(ACK) : 0;
    for (let index = first; index < end; index += 1) room += PushSealer.room(this.#content.at(index));
    const wire = Buffer.allocUnsafe(room);
    let length = hasAck ? this.#write(wire, 0, ACK, true) : 0;
    for (let index = first; index < end; index += 1) length += this.#write(wire, length, this.#content.at(index), true);
    this.#waiting = true;
    if (way.send(wire.subarray(0, length), this.#goOn)) {
      this.#next = end;
      this.#count(end - first, hasAck ? 1 : 0);
    } else {
      // Other messages are in the way: what was sealed is thrown away, and its counters are a gap.
      this.#callOff = this.#parts.clock.after(ROOM_RETRY_MS, this.#goOn);
    }
    return 'waiting';
  }

  #sendDatagrams(way: Route): PushStep {
    const { clock } = this.#parts;
    // The message before the pieces does not count, and the one behind them goes with the last.
    const end = Math.min(this.#next + UDP_PUSH_PAUSE.pieces + (this.#next === 0 ? 1 : 0), this.#content.length);
    for (; this.#next < end; this.#next += 1) {
      const payload = this.#content.at(this.#next);
      const wire = Buffer.allocUnsafe(PushSealer.room(payload));
      if (!way.send(wire.subarray(0, this.#write(wire, 0, payload, false)))) return 'lost';
      this.#count(1, 0);
    }
    if (this.#next >= this.#content.length) return 'done';
    this.#waiting = true;
    this.#callOff = clock.after(UDP_PUSH_PAUSE.milliseconds, this.#goOn);
    return 'waiting';
  }

  #count(pieces: number, acks: number): void {
    const { sent } = linkOf(this.#agent).counts;
    for (const counted of [this.#parts.counters.sent, sent]) {
      counted.shared += pieces;
      counted.ack += acks;
    }
  }

  readonly #goOn = (): void => {
    this.#waiting = false;
    this.#wake();
  };

  #write(wire: Buffer, at: number, payload: SharedPayload, framed: boolean): number {
    const { key, form } = this.#agent;
    // Another key, or another cipher of the agent, holds from the next message on.
    if (this.#seal === undefined || key !== this.#key || form !== this.#form) {
      this.#seal = this.#parts.sealer.begin(key, form, framed);
      this.#key = key;
      this.#form = form;
    }
    return this.#seal.write(wire, at, payload, this.#parts.counter.next());
  }
}
