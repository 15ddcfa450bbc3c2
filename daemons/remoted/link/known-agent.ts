import type { AgentKey } from '../../../lib/agentlink/agent-key.js';
import {
  compareCounters,
  type CounterPair,
  type CounterVerdict,
  NO_COUNTERS,
} from '../../../lib/agentlink/message-counters.js';
import type { MessageForm } from '../../../lib/agentlink/message-form.js';

/**
 * An agent with a key and what its messages have told. It stays the same object over reloads of the keys as long as id
 * and address are unchanged (agents-and-groups.md 1.2), so connections may hold on to it.
 */
export class KnownAgent<State> {
  #key: AgentKey;
  #counters: CounterPair | undefined;
  #removed = false;
  /** Form of its last message, and of answers (3.3): Blowfish before the first. */
  form: MessageForm = 'blowfish';
  /** When a message of it was last opened, epoch milliseconds; 0 before the first. */
  lastReceivedAt = 0;
  /** What the daemon keeps of its connection. */
  state: State | undefined;

  constructor(key: AgentKey) {
    this.#key = key;
  }

  get key(): AgentKey {
    return this.#key;
  }

  get id(): string {
    return this.#key.id;
  }

  get name(): string {
    return this.#key.name;
  }

  /** Registered address: `any`, an address or a network. */
  get ip(): string {
    return this.#key.ip;
  }

  /** Whether its key is no longer in the file: nothing of it is to be accepted or sent. */
  get removed(): boolean {
    return this.#removed;
  }

  /** Last counters that were accepted; undefined when none are known in this process. */
  get counters(): CounterPair | undefined {
    return this.#counters;
  }

  /** Takes over counters that were saved before; those of messages received meanwhile are kept. */
  restoreCounters(saved: CounterPair | undefined): void {
    this.#counters ??= saved ?? NO_COUNTERS;
  }

  /**
   * Judges and takes over the counters of an opened message (3.4).
   * @param verify whether only newer ones are accepted; otherwise they are taken over whatever they are
   * @returns `newer` when the message counts
   */
  acceptCounters(received: CounterPair, verify: boolean): CounterVerdict {
    const verdict = verify ? compareCounters(received, this.#counters ?? NO_COUNTERS) : 'newer';
    if (verdict === 'newer') this.#counters = { global: received.global, local: received.local };
    return verdict;
  }

  /** Takes over the key of a reloaded file. */
  renew(key: AgentKey): void {
    // Under another key nothing old can be replayed, and a reinstalled agent counts from the beginning.
    if (key.rawKey !== this.#key.rawKey) this.#counters = undefined;
    this.#key = key;
  }

  /** Marks it as gone. */
  remove(): void {
    this.#removed = true;
  }
}
