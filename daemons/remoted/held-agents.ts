import { ACK_MESSAGE } from '../../lib/agentlink/control-text.js';
import type { AgentSender } from './agent-sender.js';
import type { EventGate } from './event-gate.js';
import { HELD_ACK_MS } from './remoted-limits.js';
import { TcpConnection } from './tcp-connection.js';

/**
 * While the event window is full, agents' keepalives lie behind their events and are not read. An agent that hears
 * nothing for `time-reconnect` seconds gives its connection up, and what is on its way in it is lost; so it is told now
 * and then that the manager is there. Every control message counts as a sign of life (agents-and-groups.md 5.4).
 */
export class HeldAgents {
  readonly #gate: EventGate;
  readonly #sender: AgentSender;
  #timer: NodeJS.Timeout | undefined;

  constructor(gate: EventGate, sender: AgentSender) {
    this.#gate = gate;
    this.#sender = sender;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.comfort();
    }, HELD_ACK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Sends every agent that is held back an acknowledgement. */
  comfort(): void {
    for (const holder of this.#gate.holders) {
      if (holder instanceof TcpConnection && holder.agent?.removed === false) {
        this.#sender.answer(holder.agent, holder, ACK_MESSAGE);
      }
    }
  }
}
