import { type Agent, type AgentLink, linkOf, type Route } from '../../../daemons/remoted/agent-link.js';
import { FloodGuard } from '../../../daemons/remoted/flood-guard.js';
import { KeyStore } from '../../../daemons/remoted/link/key-store.js';
import { FilePusher } from '../../../daemons/remoted/push/file-pusher.js';
import type { PushContent } from '../../../daemons/remoted/push/push-content.js';
import { PushSealer } from '../../../daemons/remoted/push/push-sealer.js';
import type { PushClock } from '../../../daemons/remoted/push/push-session.js';
import { RemotedCounters } from '../../../daemons/remoted/remoted-counters.js';
import { AgentKey } from '../../../lib/agentlink/agent-key.js';
import { BlowfishCache } from '../../../lib/agentlink/blowfish-cache.js';
import { FrameDecoder } from '../../../lib/agentlink/frame-decoder.js';
import { laterCounters, NO_COUNTERS } from '../../../lib/agentlink/message-counters.js';
import { MessageOpener } from '../../../lib/agentlink/message-opener.js';
import { AgentAddress } from '../../../lib/network/agent-address.js';
import { RecordingLogger } from '../recording-logger.js';

const schedules = new BlowfishCache();
const opener = new MessageOpener(schedules);

/** A clock that a test sets, and the work that waits for it. */
export class TestClock implements PushClock {
  #now = 0;
  #timers: { readonly at: number; readonly work: () => void }[] = [];
  #soon: (() => void)[] = [];

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, work: () => void): () => void {
    const timer = { at: this.#now + milliseconds, work };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  soon(work: () => void): void {
    this.#soon.push(work);
  }

  /** Does what can be done now, until nothing is left. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#soon.length > 0) quiet = 0;
      for (const work of this.#soon.splice(0)) work();
    }
  }

  /** Lets time pass; timers run in their order. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    for (;;) {
      await this.settle();
      const next = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#now = Math.max(this.#now, next.at);
      next.work();
    }
    this.#now = end;
  }
}

/** A way to an agent that keeps what is sent. While `reading` is false nothing is flushed. */
export class TestRoute implements Route {
  readonly source = '127.0.0.1';
  lastReceivedAt = 0;
  open = true;
  reading = true;
  /** Whether there is room for another message. */
  room = true;
  /** What came over it, in order, by `send`. */
  readonly sent: Buffer[] = [];
  #flushed: (() => void)[] = [];

  constructor(readonly lossy = false) {}

  send(wire: Buffer, flushed?: () => void): boolean {
    if (!this.open || !this.room) return false;
    this.sent.push(Buffer.from(wire));
    if (flushed !== undefined) this.#flushed.push(flushed);
    this.#flush();
    return true;
  }

  /** The agent reads again. */
  read(): void {
    this.reading = true;
    this.#flush();
  }

  close(): void {
    this.open = false;
    // As a socket does that is destroyed.
    for (const flushed of this.#flushed.splice(0)) queueMicrotask(flushed);
  }

  /** Payloads an agent reads from it. */
  payloads(agent: Agent): Buffer[] {
    const decoder = new FrameDecoder();
    const payloads: Buffer[] = [];
    const open = (message: Buffer): void => {
      const opened = opener.open(agent.key, message, agent.form);
      if (!opened.ok) throw new Error(`a message cannot be opened: ${opened.reason}`);
      payloads.push(Buffer.from(opened.payload));
    };
    for (const wire of this.sent) {
      if (this.lossy) {
        open(wire);
        continue;
      }
      decoder.push(wire);
      for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) open(frame);
    }
    return payloads;
  }

  #flush(): void {
    if (!this.reading) return;
    for (const flushed of this.#flushed.splice(0)) queueMicrotask(flushed);
  }
}

/** A pusher with the clock of a test. */
export class PushKit {
  readonly clock = new TestClock();
  readonly counters = new RemotedCounters();
  readonly logger = new RecordingLogger();
  readonly agents: readonly Agent[];
  readonly pusher: FilePusher;
  /** What each agent is to have; by default all have the same. */
  contentFor: (agent: Agent) => Promise<PushContent | undefined>;

  constructor(content: PushContent | undefined, { agents = 1, atOnce = 2, form = 'aes' as const } = {}) {
    const store = new KeyStore<AgentLink>();
    store.replace(
      Array.from({ length: agents }, (_none, index) => {
        const id = String(index + 1).padStart(3, '0');
        return new AgentKey(id, `web${id}`, AgentAddress.any, `secret${id}`);
      }),
    );
    this.agents = [...store.agents];
    for (const agent of this.agents) agent.form = form;
    this.contentFor = () => Promise.resolve(content);
    let last = NO_COUNTERS;
    this.pusher = new FilePusher({
      sealer: new PushSealer(schedules),
      counter: { next: () => (last = laterCounters(last)) },
      counters: this.counters,
      clock: this.clock,
      contentFor: (agent) => this.contentFor(agent),
      atOnce,
      log: new FloodGuard(this.logger, () => this.clock.now()),
    });
  }

  agent(index = 0): Agent {
    const agent = this.agents[index];
    if (agent === undefined) throw new Error('no such agent');
    return agent;
  }

  /** Connects an agent anew. */
  connect(index = 0, lossy = false): TestRoute {
    const route = new TestRoute(lossy);
    linkOf(this.agent(index)).route = route;
    return route;
  }
}
