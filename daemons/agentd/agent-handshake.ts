import { startupMessage } from '../../lib/agentlink/control-text.js';
import { agentStateText, buildEventPayload } from '../../lib/agentlink/event-payload.js';
import type { ManagerControl } from '../../lib/agentlink/manager-control.js';
import { QUEUE_IDS } from '../../lib/events/queue-ids.js';

/** What an agent does with a message that comes while it waits for the answer to its startup. */
export type HandshakeStep =
  /** Connected: `messages` are to be sent, then a keepalive at once. */
  | { readonly state: 'connected'; readonly messages: readonly Buffer[] }
  /** The attempt has failed, in the manager's words. */
  | { readonly state: 'rejected'; readonly message: string };

/**
 * The agent's side of the handshake (agents-and-groups.md 4.2): a startup, and one message of the manager. The event that
 * the agent has started follows the first success of the process; after a reconnection the keepalive follows directly.
 */
export class AgentHandshake {
  readonly #version: string;
  readonly #identity: { readonly name: string; readonly ip: string };
  #announced = false;

  /** @param version with its `v` @param identity name and address of the agent's key */
  constructor(version: string, identity: { readonly name: string; readonly ip: string }) {
    this.#version = version;
    this.#identity = identity;
  }

  /** First message on a new connection. */
  begin(): string {
    return startupMessage(this.#version);
  }

  /** Takes the manager's answer. Any control message but an error shows that it knows the agent. */
  answer(control: ManagerControl): HandshakeStep {
    if (control.kind === 'error') return { state: 'rejected', message: control.message };
    if (this.#announced) return { state: 'connected', messages: [] };
    this.#announced = true;
    const text = agentStateText('started', this.#identity);
    return { state: 'connected', messages: [buildEventPayload(QUEUE_IDS.log, 'wazuh-agent', text)] };
  }
}
