import { readFile } from 'node:fs/promises';
import { isAgentName } from '../../lib/agentlink/agent-identity.js';
import { ClientKeysFile } from '../../lib/agentlink/client-keys-file.js';
import { decodeKeyText, encodeKeyText, type KeyText } from '../../lib/agents/key-text.js';
import { storeOwnKey } from '../../lib/agents/own-key.js';
import { BusError } from '../../lib/bus/bus-error.js';
import { authdContract } from '../../lib/bus/contracts/authd.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import type { Home } from '../../lib/home/home.js';
import type { HomeRecord, HomeRole } from '../../lib/home/home-record.js';
import { describeError } from '../../lib/log/describe-error.js';
import { AgentAddress } from '../../lib/network/agent-address.js';
import { daemonClient } from './daemon-client.js';

/** What could not be done; the numbers are those of the JSON answers (agents-and-groups.md 9.3). */
export class ManageAgentsError extends Error {
  override readonly name = 'ManageAgentsError';

  constructor(
    readonly number: 71 | 75 | 76 | 77 | 78 | 79 | 80,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** When an agent in the way is replaced; seconds, undefined does not ask for it. */
export type Replacement = {
  readonly registeredFor: number | undefined;
  readonly disconnectedFor: number | undefined;
};

/** The work of `manage_agents` for one home. */
export class ManageAgents {
  readonly #home: Home;
  readonly #record: HomeRecord;
  readonly #authd: RequestClient<typeof authdContract>;

  constructor(home: Home, record: HomeRecord) {
    this.#home = home;
    this.#record = record;
    this.#authd = daemonClient(home, authdContract);
  }

  /** Agents of the key file, also while svc-authd does not run. */
  async list(): Promise<Omit<KeyText, 'key'>[]> {
    return (await this.#keys()).map(({ id, name, ip }) => ({ id, name, ip }));
  }

  /** @returns the id of the new agent @throws ManageAgentsError */
  async add(name: string, ip: string, replacement: Replacement): Promise<string> {
    this.#need('server');
    if (!isAgentName(name)) throw new ManageAgentsError(76, `Invalid name for agent: ${name}`);
    if (AgentAddress.parse(ip) === undefined) throw new ManageAgentsError(77, `Invalid IP for agent: ${ip}`);
    const { registeredFor, disconnectedFor } = replacement;
    const force = {
      enabled: registeredFor !== undefined || disconnectedFor !== undefined,
      key_mismatch: true,
      disconnected_time: { enabled: disconnectedFor !== undefined, seconds: disconnectedFor ?? 0 },
      after_registration_time: registeredFor ?? 0,
    };
    try {
      return (await this.#authd.call('add', { name, ip, force })).id;
    } catch (error) {
      throw asToolError(error);
    }
  }

  /** Adds the agents of a file, `IP,NAME` a line; it stops at the first that fails. @returns their ids */
  async addFile(path: string, replacement: Replacement): Promise<string[]> {
    this.#need('server');
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      throw new ManageAgentsError(71, `Unable to read '${path}': ${describeError(error)}`, { cause: error });
    });
    const ids: string[] = [];
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '' || line.startsWith('#')) continue;
      const comma = line.indexOf(',');
      try {
        if (comma < 0) throw new ManageAgentsError(71, 'no comma between address and name');
        ids.push(await this.add(line.slice(comma + 1).trim(), line.slice(0, comma).trim(), replacement));
      } catch (error) {
        if (!(error instanceof ManageAgentsError)) throw error;
        const done = `${ids.length} agents were added before`;
        throw new ManageAgentsError(error.number, `${path}:${index + 1}: ${error.message}; ${done}`, { cause: error });
      }
    }
    return ids;
  }

  /** The text to be imported on the agent. @throws ManageAgentsError 78 */
  async extract(id: string): Promise<string> {
    const agent = (await this.#keys()).find((candidate) => candidate.id === id);
    if (agent === undefined) throw new ManageAgentsError(78, `Invalid ID '${id}' given. ID is not present.`);
    return encodeKeyText({ id: agent.id, name: agent.name, ip: agent.ip, key: agent.rawKey });
  }

  /** @throws ManageAgentsError 78 */
  async remove(id: string): Promise<void> {
    this.#need('server');
    const absent = () => new ManageAgentsError(78, `Invalid ID '${id}' given. ID is not present.`);
    if (!/^\d{3,8}$/.test(id)) throw absent();
    try {
      const { removed } = await this.#authd.call('remove', { ids: [id] });
      if (removed.length === 0) throw absent();
    } catch (error) {
      throw asToolError(error);
    }
  }

  /** Makes a key the one of this agent. @throws ManageAgentsError; the file system's error */
  importKey(text: string): Promise<KeyText> {
    return Promise.resolve().then(() => {
      this.#need('agent');
      const key = decodeKeyText(text.trim());
      if (key === undefined) {
        throw new ManageAgentsError(71, 'Invalid authentication key: copy it again from the manager.');
      }
      storeOwnKey(this.#home, this.#record, key);
      return key;
    });
  }

  close(): void {
    this.#authd.close();
  }

  async #keys() {
    return (await new ClientKeysFile(this.#home.path('etc', 'client.keys')).read()).agents;
  }

  #need(role: HomeRole): void {
    if (this.#record.role === role) return;
    const where = role === 'server' ? 'a manager' : 'an agent';
    throw new ManageAgentsError(71, `this is done on ${where}, and '${this.#home.root}' is none`);
  }
}

function asToolError(error: unknown): unknown {
  if (!(error instanceof BusError)) return error;
  const text = { cause: error };
  switch (error.code) {
    case 'duplicate_name':
      return new ManageAgentsError(75, `Name already present. ${error.message}`, text);
    case 'duplicate_ip':
      return new ManageAgentsError(79, `Duplicate IP for agent. ${error.message}`, text);
    case 'bad_name':
      return new ManageAgentsError(76, error.message, text);
    case 'bad_ip':
      return new ManageAgentsError(77, error.message, text);
    default:
      return new ManageAgentsError(80, `Lost authd socket connection. ${error.message}`, text);
  }
}
