import type { MessageSealer } from '../../lib/agentlink/message-sealer.js';
import type { SenderCounter } from '../../lib/agentlink/sender-counter.js';
import { type Agent, linkOf, type Route } from './agent-link.js';
import type { RemotedCounters } from './remoted-counters.js';

/** Why something was not sent (agents-and-groups.md 3.6). */
export type SendFailure = 'disconnected' | 'closed' | 'full';

/** Seals messages to agents, in the form each one used last, and sends them. */
export class AgentSender {
  readonly #sealer: MessageSealer;
  readonly #counter: SenderCounter;
  readonly #counters: RemotedCounters;

  constructor(sealer: MessageSealer, counter: SenderCounter, counters: RemotedCounters) {
    this.#sealer = sealer;
    this.#counter = counter;
    this.#counters = counters;
  }

  /**
   * Answers the way a message came.
   * @returns false when it did not go
   * @throws MessageSizeError for a payload that no message holds
   */
  answer(agent: Agent, route: Route, payload: string | Buffer): boolean {
    const options = { form: agent.form, counters: this.#counter.next(), framed: !route.lossy };
    const sent = route.send(this.#sealer.seal(agent.key, payload, options));
    if (!sent) {
      this.#counters.sent.discarded += 1;
      linkOf(agent).counts.sent.discarded += 1;
    }
    return sent;
  }

  /**
   * Sends a message that the agent did not ask for.
   * @param freshSince an agent that was not heard since then counts as disconnected; epoch milliseconds
   * @returns undefined when it went
   * @throws MessageSizeError for a payload that no message holds
   */
  send(agent: Agent, payload: string | Buffer, freshSince: number): SendFailure | undefined {
    const route = agent.state?.route;
    if (agent.lastReceivedAt < freshSince) return 'disconnected';
    if (route?.open !== true) return 'closed';
    return this.answer(agent, route, payload) ? undefined : 'full';
  }
}
