import type { AgentKey } from '../../../lib/agentlink/agent-key.js';
import { normalizeAddress } from '../../../lib/network/agent-address.js';
import { KnownAgent } from './known-agent.js';
import type { MessageHead } from './message-prefix.js';

/** What a reload of the keys changed. */
export type KeyChanges<State> = {
  readonly added: readonly KnownAgent<State>[];
  /** Same agent, another name or key. */
  readonly renewed: readonly KnownAgent<State>[];
  readonly removed: readonly KnownAgent<State>[];
};

/** Whose message it is, or why that is not known (agents-and-groups.md 3.5, steps 2 and 4). */
export type Sender<State> =
  | { readonly ok: true; readonly agent: KnownAgent<State> }
  /** 1408: no agent has this id, or its address does not cover the source; `name` is that of the agent, or `unknown`. */
  | { readonly ok: false; readonly reason: 'invalid_id'; readonly id: string; readonly name: string }
  /** 1213: a message without an id from an address that no agent has. */
  | { readonly ok: false; readonly reason: 'unknown_address' };

/** The agents of the key file by id, name and address. */
export class KeyStore<State = unknown> {
  #byId = new Map<string, KnownAgent<State>>();
  #byName = new Map<string, KnownAgent<State>>();
  #byAddress = new Map<string, KnownAgent<State>>();
  #highestId = 0;

  /** The largest id that was ever among them. */
  get highestId(): number {
    return this.#highestId;
  }

  get size(): number {
    return this.#byId.size;
  }

  get agents(): IterableIterator<KnownAgent<State>> {
    return this.#byId.values();
  }

  byId(id: string): KnownAgent<State> | undefined {
    return this.#byId.get(id);
  }

  byName(name: string): KnownAgent<State> | undefined {
    return this.#byName.get(name);
  }

  /** The agent registered with this one address. @param source as `normalizeAddress` gives it */
  byAddress(source: string): KnownAgent<State> | undefined {
    return this.#byAddress.get(source);
  }

  /**
   * Finds the sender of a message by its id, or by its source where it has none.
   * @param head of a message that has a body
   * @param source as `normalizeAddress` gives it
   */
  identify(head: MessageHead & { kind: 'prefixed' | 'bare' }, source: string): Sender<State> {
    if (head.kind === 'bare') {
      const agent = this.#byAddress.get(source);
      return agent === undefined ? { ok: false, reason: 'unknown_address' } : { ok: true, agent };
    }
    const agent = this.#byId.get(head.id);
    if (agent?.key.address.contains(source) === true) return { ok: true, agent };
    return { ok: false, reason: 'invalid_id', id: head.id, name: agent?.name ?? 'unknown' };
  }

  /**
   * Puts the keys of a newly read file in force. Agents whose id and address are unchanged keep their counters, form and
   * state (1.2).
   */
  replace(keys: readonly AgentKey[]): KeyChanges<State> {
    const before = this.#byId;
    const changes = { added: [], renewed: [], removed: [] } as Record<keyof KeyChanges<State>, KnownAgent<State>[]>;
    this.#byId = new Map();
    this.#byName = new Map();
    this.#byAddress = new Map();
    for (const key of keys) {
      let agent = before.get(key.id);
      if (agent === undefined || agent.ip !== key.ip) {
        agent = new KnownAgent<State>(key);
        changes.added.push(agent);
      } else {
        before.delete(key.id);
        // An unchanged key object stays: what was derived from it is still right.
        if (!agent.key.equals(key)) {
          agent.renew(key);
          changes.renewed.push(agent);
        }
      }
      this.#index(agent);
    }
    for (const agent of before.values()) {
      agent.remove();
      changes.removed.push(agent);
    }
    return changes;
  }

  /**
   * Puts one key in force at once, as for an agent that has just enrolled: the next reload finds it in the file.
   * An agent with the same id and address is renewed, one with another address is replaced.
   */
  put(key: AgentKey): KnownAgent<State> {
    const known = this.#byId.get(key.id);
    let agent = known;
    if (known !== undefined) this.#forget(known);
    if (agent?.ip === key.ip) {
      if (!agent.key.equals(key)) agent.renew(key);
    } else {
      known?.remove();
      agent = new KnownAgent<State>(key);
    }
    this.#index(agent);
    return agent;
  }

  /** Takes one agent out of force at once. @returns what was known of it, for its connection to be closed */
  remove(id: string): KnownAgent<State> | undefined {
    const agent = this.#byId.get(id);
    if (agent === undefined) return undefined;
    this.#forget(agent);
    agent.remove();
    return agent;
  }

  #forget(agent: KnownAgent<State>): void {
    this.#byId.delete(agent.id);
    if (this.#byName.get(agent.name) === agent) this.#byName.delete(agent.name);
    if (this.#byAddress.get(agent.ip) === agent) this.#byAddress.delete(agent.ip);
  }

  /** Where two agents share a name or an address, the first one is found by it. */
  #index(agent: KnownAgent<State>): void {
    this.#byId.set(agent.id, agent);
    this.#highestId = Math.max(this.#highestId, Number(agent.id));
    if (!this.#byName.has(agent.name)) this.#byName.set(agent.name, agent);
    if (agent.key.address.single && !this.#byAddress.has(agent.ip)) this.#byAddress.set(agent.ip, agent);
  }
}

/** Log line for a sender that is not known (3.5); the request for its key is the caller's. */
export function unknownSenderText(sender: Sender<unknown> & { ok: false }, source: string): string {
  const address = normalizeAddress(source);
  if (sender.reason === 'invalid_id') {
    return `(1408): Invalid ID ${sender.id} for the source ip: '${address}' (name '${sender.name}').`;
  }
  return `(1213): Message from '${address}' not allowed. Cannot find the ID of the agent. Source agent ID is unknown.`;
}
