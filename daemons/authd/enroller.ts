import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { formatAgentId, isAgentName, MANAGER_ID } from '../../lib/agentlink/agent-identity.js';
import { AgentKey, enrollmentKeyHash } from '../../lib/agentlink/agent-key.js';
import type { Home } from '../../lib/home/home.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { AgentAddress } from '../../lib/network/agent-address.js';
import type { AgentRegistrar } from './agent-registrar.js';
import { type KeyRegistry, newRawKey } from './key-registry.js';
import type { RegistrationTimes } from './registration-times.js';
import type { ReplacementGuard } from './replacement-guard.js';
import { type AgentFacts, type ForceRules, judgeReplacement } from './replacement-rule.js';
import type { RequestedGroups } from './requested-groups.js';
import { ReturningAgents } from './returning-agents.js';

/** Why an agent was not added. */
export type RefusalCode =
  | 'duplicate_id'
  | 'duplicate_ip'
  | 'duplicate_name'
  | 'manager_name'
  | 'bad_id'
  | 'bad_name'
  | 'bad_key'
  | 'write_failed';

/** What can stand in the key file and is read back as it is (agents-and-groups.md 1.1, 1.2). */
const MAX_FIELD = 127;
const RAW_KEY = /^[\x21-\x7e]{1,127}$/;

/** An agent was not added; the message says why, for the log and for operators. */
export class AdmissionError extends Error {
  override readonly name = 'AdmissionError';

  constructor(
    readonly code: RefusalCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** An agent to be added. */
export type EnrollmentCandidate = {
  readonly name: string;
  readonly address: AgentAddress;
  readonly groups: readonly string[] | undefined;
  /** SHA-1 of the key it says it has. */
  readonly keyHash: string | undefined;
  /** Address the request came from; undefined for local ones. */
  readonly source: string | undefined;
  readonly force: ForceRules;
  /** Given by the caller; otherwise they are made here. */
  readonly id?: string;
  readonly rawKey?: string;
};

/** What an enroller works with. */
export type EnrollerParts = {
  readonly home: Home;
  readonly keys: KeyRegistry;
  readonly registrar: Pick<AgentRegistrar, 'facts' | 'registered' | 'removed'>;
  readonly times: RegistrationTimes;
  readonly groups: RequestedGroups;
  readonly guard: ReplacementGuard;
  readonly logger: Logger;
  /** Whether removed agents leave no line. */
  readonly purge: () => boolean;
  /** Seconds since 1970. */
  readonly now: () => number;
  /** No agent may have this name; that of the host by default. */
  readonly managerName?: string;
};

type Conflict = { readonly code: RefusalCode; readonly agent: AgentKey; readonly what: string };

/** What becomes of an agent in the way: it is replaced, or gets another key under the id it has. */
type ReplacementOutcome = { readonly agent: AgentKey; readonly stays: boolean; readonly reason: string };

/** Times a decision is taken anew because the agents changed while svc-db was asked. */
const MAX_ROUNDS = 5;

/** Adds and removes agents: duplicates, replacement, keys and everything that hangs on them (agents-and-groups.md 2.5, 2.6, 1.4). */
export class Enroller {
  readonly #parts: EnrollerParts;
  readonly #managerName: string;
  readonly #returning: ReturningAgents;

  constructor(parts: EnrollerParts) {
    this.#parts = parts;
    this.#returning = new ReturningAgents(() => parts.now() * 1000);
    this.#managerName = parts.managerName ?? hostname();
  }

  /**
   * Adds an agent; its key is on disk when the promise settles.
   * @throws AdmissionError
   */
  async add(given: EnrollmentCandidate): Promise<AgentKey> {
    const candidate = checked(given);
    for (let round = 0; ; round += 1) {
      const conflicts = this.#conflicts(candidate);
      const [first] = conflicts;
      if (first === undefined) return this.#admit(candidate, []);
      if (round >= MAX_ROUNDS) throw new AdmissionError(first.code, `Duplicate ${first.what}: it changes all the time`);
      // All at once: agents wait a second for their answer, and svc-db may take half of it.
      const facts = candidate.force.enabled
        ? await Promise.all(conflicts.map(({ agent }) => this.#facts(agent.id)))
        : [];
      const outcomes = conflicts.map((conflict, at) => this.#judge(conflict, candidate, facts[at]));
      // svc-db was asked meanwhile: what was decided counts only for the agents it was decided of.
      const still = this.#conflicts(candidate);
      if (still.length !== conflicts.length || still.some(({ agent }, at) => agent !== conflicts[at]?.agent)) continue;
      this.#log(outcomes, candidate);
      return this.#admit(candidate, outcomes);
    }
  }

  /** Whether the agent was there already and has got another key under its id, as it never connects. */
  keptId(id: string): boolean {
    return this.#returning.has(id);
  }

  /** Whether the log has said that the agent of this name enrols again and again: it need not say more of it. */
  keepsComing(name: string): boolean {
    const agent = this.#parts.keys.byName(name);
    return agent !== undefined && this.#returning.isTold(agent.id);
  }

  /**
   * Removes agents; it is on disk when the promise settles.
   * @returns the removed ones; ids that there are none of are left out
   * @throws AdmissionError `write_failed`
   */
  async remove(ids: readonly string[], purge: boolean): Promise<AgentKey[]> {
    const agents = ids.flatMap((id) => this.#parts.keys.byId(id) ?? []);
    if (agents.length === 0) return [];
    await this.#write({ remove: agents.map(({ id }) => id), purge });
    for (const { id, name } of agents) {
      this.#parts.guard.forget(name);
      this.#returning.forget(id);
    }
    this.#forget(agents);
    this.#parts.registrar.removed(agents.map(({ id }) => id));
    return agents;
  }

  /**
   * Takes back an agent that did not get its key. One that was there before stays, or its id would be used up.
   * @throws AdmissionError `write_failed`
   */
  async discard(id: string): Promise<void> {
    if (this.#returning.has(id)) return;
    await this.remove([id], true);
  }

  /** Agents in the way, in the order of the reference's tests. */
  #conflicts({ id, address, name }: EnrollmentCandidate): Conflict[] {
    const conflicts: Conflict[] = [];
    const sameId = id === undefined ? undefined : this.#parts.keys.byId(id);
    if (sameId !== undefined) conflicts.push({ code: 'duplicate_id', agent: sameId, what: `ID '${sameId.id}'` });
    const sameAddress = this.#parts.keys.byAddress(address.text);
    if (sameAddress !== undefined) {
      conflicts.push({ code: 'duplicate_ip', agent: sameAddress, what: `IP '${address.text}'` });
    }
    if (name === this.#managerName) {
      throw new AdmissionError('manager_name', `Invalid agent name ${name} (same as manager)`);
    }
    const sameName = this.#parts.keys.byName(name);
    if (sameName !== undefined) conflicts.push({ code: 'duplicate_name', agent: sameName, what: `name '${name}'` });
    return conflicts;
  }

  /** @throws AdmissionError when the agent may not be replaced */
  #judge(
    { agent, code, what }: Conflict,
    candidate: EnrollmentCandidate,
    facts: AgentFacts | undefined,
  ): ReplacementOutcome {
    const { force, keyHash, source } = candidate;
    const old = { id: agent.id, name: agent.name, keyHash: hashOf(agent) };
    const verdict = judgeReplacement(old, facts, force, keyHash, this.#parts.now());
    if (!verdict.replace) {
      throw new AdmissionError(code, `Duplicate ${what}, rejecting enrollment. ${verdict.reason}`);
    }
    if (code === 'duplicate_name' && this.#parts.guard.holds(agent.name, source, keyHash)) {
      const reason = `Several hosts use the name '${agent.name}' and replace each other: agent '${agent.id}' keeps it for now.`;
      throw new AdmissionError(code, `Duplicate ${what}, rejecting enrollment. ${reason}`);
    }
    const stays = facts?.status === 'never_connected' && this.#isSame(agent, candidate);
    const known = `Agent '${agent.name}' (id '${agent.id}') has never connected: it keeps its id and gets a new key.`;
    return { agent, stays, reason: `Duplicate ${what}. ${stays ? known : verdict.reason}` };
  }

  /** Whether it is the agent itself that enrols again, and not another host that wants its name. */
  #isSame(agent: AgentKey, { id, name, keyHash, source }: EnrollmentCandidate): boolean {
    // Local programs ask for an agent of their own, with whatever id.
    if (id !== undefined || source === undefined || agent.name !== name) return false;
    return !this.#parts.guard.wasReplaced(name, source, keyHash);
  }

  #log(outcomes: readonly ReplacementOutcome[], { name, source = 'here' }: EnrollmentCandidate): void {
    const { logger } = this.#parts;
    for (const { agent, stays, reason } of outcomes) {
      if (stays && this.#returning.isTold(agent.id)) logger.debug(reason);
      else logger.info(reason);
      if (stays && this.#returning.returned(agent.id)) {
        logger.warn(
          `Agent '${name}' (id '${agent.id}') enrols again and again from ${source} and never connects: can it store its key? Further enrolments of it are not logged.`,
        );
      }
    }
  }

  /** An agent that never got its key and comes again must not wait for the time after registration. */
  async #facts(id: string): Promise<AgentFacts | undefined> {
    const { registrar, times } = this.#parts;
    const facts = await registrar.facts(id);
    if (facts?.status !== 'never_connected') return facts;
    if (times.unanswered(id)) return { ...facts, registeredAt: 0 };
    // With its last key it was registered anew, while its row in svc-db stayed.
    return this.#returning.has(id) ? { ...facts, registeredAt: times.get(id) ?? facts.registeredAt } : facts;
  }

  async #admit(candidate: EnrollmentCandidate, outcomes: readonly ReplacementOutcome[]): Promise<AgentKey> {
    const { name, address, groups, source } = candidate;
    const same = outcomes.find(({ stays }) => stays)?.agent;
    const id = candidate.id ?? same?.id ?? this.#parts.keys.nextId();
    const agent = new AgentKey(id, name, address, candidate.rawKey ?? newRawKey());
    const dateAdd = this.#parts.now();
    const former = [...new Set(outcomes.map((outcome) => outcome.agent))];
    const replaced = former.filter((old) => old !== same);
    const replaces = replaced.map((old) => old.id);
    if (groups !== undefined) this.#parts.groups.set(id, groups);
    try {
      await this.#write({ remove: former.map((old) => old.id), add: agent, purge: this.#parts.purge() });
    } catch (error) {
      this.#parts.groups.done(id);
      throw error;
    }
    for (const old of former) {
      if (old.name === name) this.#parts.guard.replaced(name, hashOf(old), source, old === same);
    }
    this.#forget(replaced);
    this.#parts.times.set(id, dateAdd);
    this.#parts.registrar.registered({ id, name, registerIP: address.text, dateAdd, groups, replaces });
    return agent;
  }

  async #write(change: Parameters<KeyRegistry['change']>[0]): Promise<void> {
    try {
      await this.#parts.keys.change(change);
    } catch (error) {
      throw new AdmissionError('write_failed', describeError(error), { cause: error });
    }
  }

  /** What hangs on agents that are gone; nobody waits for it (agents-and-groups.md 1.4). */
  #forget(agents: readonly AgentKey[]): void {
    for (const { id, name } of agents) {
      this.#parts.times.remove(id);
      this.#parts.groups.done(id);
      // An agent that came with the same name has its differences under the same path: they stay with it.
      const paths = [this.#parts.home.path('queue', 'rids', id)];
      if (this.#parts.keys.byName(name) === undefined) paths.push(this.#parts.home.path('queue', 'diff', name));
      for (const path of paths) {
        rm(path, { recursive: true, force: true }).catch((error: unknown) => {
          this.#parts.logger.warn(`Unable to remove '${path}': ${describeError(error)}`);
        });
      }
    }
  }
}

/**
 * What cannot be written is refused before anybody has to make room for it.
 * @returns the candidate with its id as ids are written: `0010` and `010` are one agent, and its id is part of its key's
 * text and of the names of its files
 * @throws AdmissionError
 */
function checked(candidate: EnrollmentCandidate): EnrollmentCandidate {
  const { id, name, rawKey } = candidate;
  if (id !== undefined && (!/^\d{3,8}$/.test(id) || Number(id) === Number(MANAGER_ID))) {
    throw new AdmissionError('bad_id', `Invalid agent ID: ${id}`);
  }
  if (!isAgentName(name) || name.length > MAX_FIELD) {
    throw new AdmissionError('bad_name', `Invalid agent name: ${name}`);
  }
  if (rawKey !== undefined && !RAW_KEY.test(rawKey)) {
    throw new AdmissionError('bad_key', `Invalid key for agent ${name}`);
  }
  return id === undefined ? candidate : { ...candidate, id: formatAgentId(Number(id)) };
}

function hashOf({ id, name, rawKey }: AgentKey): string {
  return enrollmentKeyHash(id, name, rawKey);
}
