import { formatAgentId, isAgentId, isAgentName } from '../../lib/agentlink/agent-identity.js';
import type { AgentKey } from '../../lib/agentlink/agent-key.js';
import type { ClientKeys, RemovedKey } from '../../lib/agentlink/client-keys.js';

/** A change of the keys that would leave a file that does not say what was meant. */
export class ClientKeysError extends Error {
  override readonly name = 'ClientKeysError';
}

/** The largest id: they have at most eight digits. */
export const LAST_ID = 99_999_999;

/**
 * The key file in memory, for its one writer (agents-and-groups.md 1.2, 1.4, 2.6). `format` gives the text to put in its
 * place as a whole, mode 0640; nothing is written here.
 */
export class ClientKeysDocument {
  readonly #agents = new Map<string, AgentKey>();
  #removed: RemovedKey[];
  #highestId: number;
  /** Lines of the live agents as last formatted, grown by those that came since; undefined after a removal. */
  #liveText: string | undefined;

  constructor(keys: Pick<ClientKeys, 'agents' | 'removed' | 'highestId'>) {
    for (const agent of keys.agents) this.#agents.set(agent.id, agent);
    this.#removed = [...keys.removed];
    this.#highestId = keys.highestId;
  }

  /** Live agents, in the order of the file. */
  get agents(): IterableIterator<AgentKey> {
    return this.#agents.values();
  }

  /** Lines of removed agents. */
  get removed(): readonly RemovedKey[] {
    return this.#removed;
  }

  get size(): number {
    return this.#agents.size;
  }

  find(id: string): AgentKey | undefined {
    return this.#agents.get(id);
  }

  /** Id for a new agent: one more than the largest there was, removed agents included. @throws ClientKeysError when all are used */
  nextId(): string {
    if (this.#highestId >= LAST_ID) throw new ClientKeysError('every id is used');
    return formatAgentId(this.#highestId + 1);
  }

  /** @throws ClientKeysError when the id is used, or a field would not be read back as it is */
  add(agent: AgentKey): void {
    const { id, name, rawKey } = agent;
    if (!isAgentId(id) || Number(id) === 0) throw new ClientKeysError(`invalid agent id '${id}'`);
    if (!isAgentName(name) || name.length > 127) throw new ClientKeysError(`invalid name of agent ${id}`);
    if (!/^[\x21-\x7e\x80-\xff]{1,127}$/.test(rawKey)) throw new ClientKeysError(`invalid key of agent ${id}`);
    if (this.#agents.has(id)) throw new ClientKeysError(`agent ${id} exists already`);
    this.#agents.set(id, agent);
    if (this.#liveText !== undefined) this.#liveText += keyLine(agent);
    this.#highestId = Math.max(this.#highestId, Number(id));
  }

  /**
   * Removes an agent.
   * @param purge leaves no line of it; its id is then given again when the file is read anew and it was the largest
   * @returns the key it had, or undefined when there is no such agent
   */
  remove(id: string, purge: boolean): AgentKey | undefined {
    const agent = this.#agents.get(id);
    if (agent === undefined) return undefined;
    this.#agents.delete(id);
    this.#liveText = undefined;
    if (!purge) this.#removed.push({ id, line: removedLine(agent) });
    return agent;
  }

  /** Forgets the lines of all removed agents. */
  purge(): void {
    this.#removed = [];
  }

  /** The bytes of the file: live agents, then the removed ones as their lines were. */
  format(): Buffer {
    this.#liveText ??= Array.from(this.#agents.values(), keyLine).join('');
    const gone = this.#removed.map(({ line }) => `${line}\n`);
    return Buffer.from(this.#liveText + gone.join(''), 'latin1');
  }
}

/** The line of an agent in the key file, with its end. */
export function keyLine({ id, name, ip, rawKey }: AgentKey): string {
  return `${id} ${name} ${ip} ${rawKey}\n`;
}

/** The line of an agent that was removed, without its end. */
export function removedLine({ id, name, ip, rawKey }: AgentKey): string {
  return `${id} !${name} ${ip} ${rawKey}`;
}
