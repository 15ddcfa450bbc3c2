/** Agents whose messages may wait: default of `remoted.control_msg_queue_size` (agents-and-groups.md 11). */
const MAX_AGENTS = 16_384;

/** Messages of one agent that may wait: a stop, a start, and the keepalive after it, with room for one restart more. */
const MAX_WAITING = 5;

/** What became of a message that was put in. */
export type MailboxResult = 'inserted' | 'replaced' | 'full';

/** A control message that changes what is known of an agent. */
export type WaitingControl = { readonly kind: 'startup' | 'shutdown' | 'keepalive' };

/**
 * Control messages that wait for whoever writes the agents' states, by agent (agents-and-groups.md 3.6). Agents take turns
 * in the order in which they began to wait, so one that sends many delays no other.
 *
 * A keepalive replaces the one before it. Startups and shutdowns are kept in their order: an agent that restarts while the
 * writer is slow is seen to have stopped and started, and its last message decides.
 */
export class ControlMailbox<Message extends WaitingControl> {
  readonly #mostAgents: number;
  readonly #waiting = new Map<string, Message[]>();

  constructor(mostAgents: number = MAX_AGENTS) {
    this.#mostAgents = mostAgents;
  }

  /** Agents with waiting messages. */
  get size(): number {
    return this.#waiting.size;
  }

  put(id: string, message: Message): MailboxResult {
    const messages = this.#waiting.get(id);
    if (messages === undefined) {
      if (this.#waiting.size >= this.#mostAgents) return 'full';
      this.#waiting.set(id, [message]);
      return 'inserted';
    }
    // What comes after a keepalive says more than it.
    if (messages.at(-1)?.kind === 'keepalive') messages[messages.length - 1] = message;
    else if (messages.push(message) > MAX_WAITING) messages.shift();
    return 'replaced';
  }

  /** The messages of the agent that waits longest, in their order; undefined when none waits. */
  take(): { readonly id: string; readonly messages: readonly Message[] } | undefined {
    const first = this.#waiting.entries().next();
    if (first.done === true) return undefined;
    const [id, messages] = first.value;
    this.#waiting.delete(id);
    return { id, messages };
  }
}
