import { formatAgentId } from '../../../lib/agentlink/agent-identity.js';
import type { AgentKey } from '../../../lib/agentlink/agent-key.js';
import { AGENT_COUNTER_KEY, type AgentCounterRecord, type AgentRecord } from '../../../lib/cluster/record-kinds.js';
import type { RecordChange } from '../../../lib/cluster/shared-records.js';
import type { AgentChange, KeyView, NewKey } from '../agent-keys.js';
import { ClientKeysError, LAST_ID } from '../client-keys-document.js';
import type { AgentView } from './agent-view.js';

/**
 * The agents as they would be with changes that were decided and are not made yet: many decisions go into one commit, each
 * by what those before it have left. The changes of records are in such an order that no beginning of them does harm by
 * itself: first which ids were given, then who goes, then the groups of a new agent, then the agent.
 */
export class KeyDraft implements KeyView {
  readonly changes: RecordChange[] = [];
  readonly #view: AgentView;
  readonly #node: string;
  readonly #ids = new Map<string, AgentKey | undefined>();
  readonly #names = new Map<string, AgentKey | undefined>();
  readonly #addresses = new Map<string, AgentKey | undefined>();
  #highestId: number;
  #removedUpTo: number;

  /** @param node where agents enrol that are added */
  constructor(view: AgentView, node: string) {
    this.#view = view;
    this.#node = node;
    this.#highestId = view.highestId;
    this.#removedUpTo = view.removedUpTo;
  }

  byId(id: string): AgentKey | undefined {
    return this.#ids.has(id) ? this.#ids.get(id) : this.#view.byId(id);
  }

  byName(name: string): AgentKey | undefined {
    return this.#names.has(name) ? this.#names.get(name) : this.#view.byName(name);
  }

  byAddress(ip: string): AgentKey | undefined {
    return this.#addresses.has(ip) ? this.#addresses.get(ip) : this.#view.byAddress(ip);
  }

  nextId(): string {
    if (this.#highestId >= LAST_ID) throw new ClientKeysError('every id is used');
    return formatAgentId(this.#highestId + 1);
  }

  hasGroup(name: string): boolean {
    return this.#view.hasGroup(name);
  }

  /** Notes a change that was decided. */
  make({ remove, add }: AgentChange): void {
    const gone = remove.filter(({ id }) => id !== add?.agent.id);
    this.#keepIds(gone);
    for (const agent of remove) this.#forget(agent);
    for (const { id } of gone) {
      // Groups of nobody would stay for ever; without them an agent is in the default one.
      this.changes.push({ kind: 'member', key: id, value: null }, { kind: 'agent', key: id, value: null });
    }
    if (add !== undefined) this.#add(add, gone.length === remove.length);
  }

  /** That an id was given is known from the agent itself as long as it is there. */
  #keepIds(gone: readonly AgentKey[]): void {
    const highestId = gone.reduce((most, { id }) => Math.max(most, Number(id)), this.#removedUpTo);
    if (highestId === this.#removedUpTo) return;
    this.#removedUpTo = highestId;
    this.changes.push({ kind: 'agent', key: AGENT_COUNTER_KEY, value: { highestId } satisfies AgentCounterRecord });
  }

  #forget(agent: AgentKey): void {
    this.#ids.set(agent.id, undefined);
    if (this.byName(agent.name) === agent) this.#names.set(agent.name, undefined);
    if (this.byAddress(agent.ip) === agent) this.#addresses.set(agent.ip, undefined);
  }

  #add(added: NewKey, isNew: boolean): void {
    const { agent, groups } = added;
    const { id, name, ip } = agent;
    this.#ids.set(id, agent);
    this.#names.set(name, agent);
    if (ip !== 'any') this.#addresses.set(ip, agent);
    this.#highestId = Math.max(this.#highestId, Number(id));
    // Whoever began to give this id to another, and was overtaken, may have left the groups of that one.
    if (groups !== undefined) this.changes.push({ kind: 'member', key: id, value: { groups: [...groups] } });
    else if (isNew) this.changes.push({ kind: 'member', key: id, value: null });
    this.changes.push({ kind: 'agent', key: id, value: recordOf(added, this.#node) });
  }
}

/** The record of an agent. @param node where it enrolled */
export function recordOf({ agent, dateAdd, unanswered }: NewKey, node: string): AgentRecord {
  const { name, ip, rawKey } = agent;
  return { name, ip, key: rawKey, dateAdd, node, ...(unanswered === true ? { unanswered } : {}) };
}
