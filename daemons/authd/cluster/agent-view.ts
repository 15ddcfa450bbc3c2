import { formatAgentId, isAgentName } from '../../../lib/agentlink/agent-identity.js';
import { AgentKey } from '../../../lib/agentlink/agent-key.js';
import {
  AGENT_COUNTER_KEY,
  agentCounterRecord,
  type AgentRecord,
  agentRecord,
} from '../../../lib/cluster/record-kinds.js';
import type { SharedRecord } from '../../../lib/cluster/shared-records.js';
import type { Logger } from '../../../lib/log/logger.js';
import { AgentAddress } from '../../../lib/network/agent-address.js';
import { AgentIndex } from '../agent-index.js';
import type { KeyView } from '../agent-keys.js';
import { ClientKeysError, LAST_ID } from '../client-keys-document.js';

/** An agent of the cluster: its record, and the key that it stands for. */
export type SharedAgent = { readonly agent: AgentKey; readonly record: AgentRecord };

/** An agent that came, went, or has another key. */
export type AgentTurn = { readonly id: string; readonly before?: SharedAgent; readonly after?: SharedAgent };

/** The group that every agent can be in, whoever has made groups. */
const DEFAULT_GROUP = 'default';
/** What can stand in the key file and is read back as it is (agents-and-groups.md 1.1, 1.2). */
const MAX_NAME = 127;
const RAW_KEY = /^[\x21-\x7e\x80-\xff]{1,127}$/;

/** The agents of the cluster and the names of its groups, as the records say that are in force here. */
export class AgentView implements KeyView {
  readonly #logger: Logger;
  #agents = new Map<string, SharedAgent>();
  #index = new AgentIndex([]);
  #groups = new Set<string>();
  #removedUpTo = 0;
  #highestId = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get agents(): IterableIterator<SharedAgent> {
    return this.#agents.values();
  }

  get size(): number {
    return this.#agents.size;
  }

  /** No agent with a larger id was ever removed: one that is not there was never given. */
  get removedUpTo(): number {
    return this.#removedUpTo;
  }

  /** The largest id that was ever given. */
  get highestId(): number {
    return Math.max(this.#highestId, this.#removedUpTo);
  }

  find(id: string): SharedAgent | undefined {
    return this.#agents.get(id);
  }

  byId(id: string): AgentKey | undefined {
    return this.#agents.get(id)?.agent;
  }

  byName(name: string): AgentKey | undefined {
    return this.#index.byName(name);
  }

  byAddress(ip: string): AgentKey | undefined {
    return this.#index.byAddress(ip);
  }

  nextId(): string {
    if (this.highestId >= LAST_ID) throw new ClientKeysError('every id is used');
    return formatAgentId(this.highestId + 1);
  }

  hasGroup(name: string): boolean {
    return name === DEFAULT_GROUP || this.#groups.has(name);
  }

  /** These are all records there are. */
  load(records: readonly SharedRecord[]): void {
    this.#agents = new Map();
    this.#index = new AgentIndex([]);
    this.#groups = new Set();
    this.take(records);
  }

  /** These have changed. @returns which agents are not as they were; the order is that of the records */
  take(records: readonly SharedRecord[]): AgentTurn[] {
    const turns: AgentTurn[] = [];
    for (const { kind, key, value } of records) {
      if (kind === 'group') {
        if (value === null) this.#groups.delete(key);
        else this.#groups.add(key);
      } else if (kind === 'agent' && key === AGENT_COUNTER_KEY) {
        const counter = agentCounterRecord.safeParse(value);
        if (counter.success) this.#removedUpTo = Math.max(this.#removedUpTo, counter.data.highestId);
      } else if (kind === 'agent') {
        const turn = this.#turn(key, value);
        if (turn !== undefined) turns.push(turn);
      }
    }
    return turns;
  }

  /** @returns undefined when the agent has the key that it had */
  #turn(id: string, value: unknown): AgentTurn | undefined {
    const before = this.#agents.get(id);
    const after = value === null ? undefined : this.#read(id, value);
    if (before !== undefined && after?.agent.equals(before.agent) === true) {
      // The same object stays: what was found out about it is still right.
      this.#agents.set(id, { agent: before.agent, record: after.record });
      return undefined;
    }
    if (before !== undefined) {
      this.#agents.delete(id);
      this.#index.remove(before.agent);
    }
    if (after !== undefined) {
      this.#agents.set(id, after);
      this.#index.add(after.agent);
      this.#highestId = Math.max(this.#highestId, Number(id));
    }
    if (before === undefined && after === undefined) return undefined;
    return { id, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
  }

  /** @returns undefined for what could not stand in the key file: it would be of no use to anybody */
  #read(id: string, value: unknown): SharedAgent | undefined {
    const parsed = agentRecord.safeParse(value);
    const agent = parsed.success ? keyOf(id, parsed.data) : undefined;
    if (parsed.success && agent !== undefined) return { agent, record: parsed.data };
    this.#logger.error(`The record of agent '${id}' in the cluster is not valid: it is left out.`);
    return undefined;
  }
}

/** Whether the text is an id as the cluster writes them: at least three digits, no more zeros than needed. */
export function isSharedId(id: string): boolean {
  return /^\d{3,8}$/.test(id) && Number(id) > 0 && formatAgentId(Number(id)) === id;
}

function keyOf(id: string, { name, ip, key }: AgentRecord): AgentKey | undefined {
  const address = AgentAddress.parse(ip);
  const isWritable = isSharedId(id) && isAgentName(name) && name.length <= MAX_NAME && RAW_KEY.test(key);
  return isWritable && address !== undefined ? new AgentKey(id, name, address, key) : undefined;
}
