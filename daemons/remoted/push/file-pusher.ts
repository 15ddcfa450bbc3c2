import { MERGED_FILE } from '../../../lib/agentlink/merged-file.js';
import { describeError } from '../../../lib/log/describe-error.js';
import { type Agent, linkOf } from '../agent-link.js';
import type { FloodGuard } from '../flood-guard.js';
import type { PushContent } from './push-content.js';
import { MAX_PARKED, MAX_TURN_MS, MAX_WAITING_ORDERS, PARK_MS, STALL_MS, SWEEP_MS } from './push-limits.js';
import { PushSession, type SessionParts } from './push-session.js';

export type FilePusherParts = SessionParts & {
  /** The file an agent is to have now; undefined: none, or it has it. */
  readonly contentFor: (agent: Agent) => Promise<PushContent | undefined>;
  /** `remoted.sender_pool` */
  readonly atOnce: number;
  readonly log: FloodGuard;
};

/** A push under way. Until its file is there it has no session. */
type Push = {
  readonly agent: Agent;
  session: PushSession | undefined;
  /** It has given its place to others. */
  parked: boolean;
  /** Since when it could not go on. */
  waitingSince: number | undefined;
  /** What is done when it has ended. */
  readonly afterwards: (() => void)[];
};

/**
 * Pushes files to agents, so many at once (agents-and-groups.md 4.4); the others wait in a queue in which each agent
 * stands once. Pushes take turns and never hold the event loop for long: what agents send goes before.
 */
export class FilePusher {
  readonly #parts: FilePusherParts;
  readonly #queue = new Set<Agent>();
  readonly #pushes = new Map<Agent, Push>();
  /** Those that can go on, in the order of their turns. */
  readonly #ready = new Set<Push>();
  #parked = 0;
  #scheduled = false;
  #sweepOff: (() => void) | undefined;
  #stopped = false;

  constructor(parts: FilePusherParts) {
    this.#parts = parts;
  }

  /** Agents that wait for their push. */
  get queued(): number {
    return this.#queue.size;
  }

  /** Pushes under way. */
  get running(): number {
    return this.#pushes.size;
  }

  /** Those of them whose agents do not read. */
  get parked(): number {
    return this.#parked;
  }

  /** Pushes to an agent, when it is its turn: once, however often this is called before. */
  offer(agent: Agent): void {
    if (this.#stopped) return;
    const push = this.#pushes.get(agent);
    if (push !== undefined) {
      // It has connected anew: nothing of the old push arrives any more.
      if (push.session === undefined || push.session.reachable) return;
      this.#fail(push);
    }
    this.#queue.add(agent);
    this.#fill();
  }

  /** Whether a file is being pushed to the agent. */
  isRunning(agent: Agent): boolean {
    return this.#pushes.get(agent)?.session !== undefined;
  }

  /**
   * Does something when the push to an agent has ended, for whatever reason.
   * @returns false when too much waits for it already
   */
  afterwards(agent: Agent, work: () => void): boolean {
    const push = this.#pushes.get(agent);
    if (push === undefined) work();
    else if (push.afterwards.length >= MAX_WAITING_ORDERS) return false;
    else push.afterwards.push(work);
    return true;
  }

  /** The agent begins anew, or is gone: what is under way to it is of no more use. */
  abandon(agent: Agent): void {
    this.#queue.delete(agent);
    const push = this.#pushes.get(agent);
    if (push?.session !== undefined) this.#fail(push);
    else if (push !== undefined) this.#end(push);
    this.#fill();
  }

  /** Nothing more is sent. */
  stop(): void {
    this.#stopped = true;
    this.#sweepOff?.();
    this.#queue.clear();
    this.#ready.clear();
    for (const push of this.#pushes.values()) push.session?.cancel();
    this.#pushes.clear();
  }

  #fill(): void {
    for (const agent of this.#queue) {
      if (this.#pushes.size - this.#parked >= this.#parts.atOnce) return;
      this.#queue.delete(agent);
      void this.#begin(agent);
    }
  }

  async #begin(agent: Agent): Promise<void> {
    const push: Push = { agent, session: undefined, parked: false, waitingSince: undefined, afterwards: [] };
    this.#pushes.set(agent, push);
    this.#sweepLater();
    let content: PushContent | undefined;
    try {
      content = await this.#parts.contentFor(agent);
    } catch (error) {
      this.#parts.log.log('error', `A merged file cannot be read: ${describeError(error)}`);
      if (this.#isCurrent(push)) this.#fail(push);
      return;
    }
    if (!this.#isCurrent(push)) return;
    const route = agent.state?.route;
    if (content === undefined || route?.open !== true || agent.removed) {
      this.#end(push);
      this.#fill();
      return;
    }
    this.#parts.counters.pushes.started += 1;
    push.session = new PushSession(this.#parts, agent, route, content, () => {
      if (this.#isCurrent(push)) this.#enqueue(push);
    });
    this.#enqueue(push);
  }

  #isCurrent(push: Push): boolean {
    return !this.#stopped && this.#pushes.get(push.agent) === push;
  }

  #enqueue(push: Push): void {
    this.#ready.add(push);
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#parts.clock.soon(() => {
      this.#turn();
    });
  }

  /** Lets each push that can go on do a step, as long as there is time. */
  #turn(): void {
    const { clock } = this.#parts;
    this.#scheduled = false;
    const end = clock.now() + MAX_TURN_MS;
    for (const push of this.#ready) {
      this.#ready.delete(push);
      if (this.#isCurrent(push)) this.#step(push);
      if (clock.now() >= end) break;
    }
    const [next] = this.#ready;
    if (next !== undefined) this.#enqueue(next);
  }

  #step(push: Push): void {
    push.waitingSince = undefined;
    switch (push.session?.step()) {
      case 'more':
        this.#ready.add(push);
        return;
      case 'waiting':
        push.waitingSince = this.#parts.clock.now();
        return;
      case 'done':
        this.#parts.counters.pushes.finished += 1;
        this.#note(push);
        this.#end(push);
        this.#fill();
        return;
      default:
        this.#fail(push);
        this.#fill();
    }
  }

  /** What the agent has got now, and until when that may be on its way. */
  #note({ agent, session }: Push): void {
    const md5 = session?.md5;
    if (md5 === undefined) return;
    const link = linkOf(agent);
    const times = link.pushed?.md5 === md5 ? link.pushed.times + 1 : 1;
    link.pushed = { md5, times, at: this.#parts.clock.now() };
  }

  #fail(push: Push): void {
    this.#parts.counters.pushes.failed += 1;
    this.#parts.log.log('warning', `(1246): Unable to send file '${MERGED_FILE}' to agent ID '${push.agent.id}'.`);
    // The agent does not have it, that is certain: its next keepalive brings it.
    linkOf(push.agent).pushed = undefined;
    this.#end(push);
    this.#fill();
  }

  #end(push: Push): void {
    push.session?.cancel();
    if (push.parked) this.#parked -= 1;
    this.#pushes.delete(push.agent);
    this.#ready.delete(push);
    for (const work of push.afterwards) work();
  }

  #sweepLater(): void {
    this.#sweepOff ??= this.#parts.clock.after(SWEEP_MS, () => {
      this.#sweepOff = undefined;
      this.#sweep();
      if (this.#pushes.size > 0) this.#sweepLater();
    });
  }

  /** Those whose agents do not read let others go on, and are given up in the end. */
  #sweep(): void {
    const now = this.#parts.clock.now();
    for (const push of this.#pushes.values()) {
      const { waitingSince, session } = push;
      if (session === undefined || waitingSince === undefined) continue;
      if (!session.reachable || now - waitingSince >= STALL_MS) {
        this.#fail(push);
      } else if (!push.parked && now - waitingSince >= PARK_MS && this.#parked < MAX_PARKED) {
        push.parked = true;
        this.#parked += 1;
      }
    }
    this.#fill();
  }
}
