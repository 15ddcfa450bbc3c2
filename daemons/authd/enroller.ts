import { hostname } from 'node:os';
import { formatAgentId, isAgentName, MANAGER_ID } from '../../lib/agentlink/agent-identity.js';
import { AgentKey, enrollmentKeyHash } from '../../lib/agentlink/agent-key.js';
import type { Logger } from '../../lib/log/logger.js';
import type { AgentAddress } from '../../lib/network/agent-address.js';
import { AdmissionError, type RefusalCode } from './admission-error.js';
import type { AgentDecision, AgentKeys, KeyView } from './agent-keys.js';
import type { AgentRegistrar } from './agent-registrar.js';
import { newRawKey } from './key-registry.js';
import type { RegistrationTimes } from './registration-times.js';
import type { ReplacementGuard } from './replacement-guard.js';
import { type AgentFacts, type ForceRules, judgeReplacement } from './replacement-rule.js';
import { ReturningAgents } from './returning-agents.js';

/** What can stand in the key file and is read back as it is (agents-and-groups.md 1.1, 1.2). */
const MAX_FIELD = 127;
const RAW_KEY = /^[\x21-\x7e]{1,127}$/;

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
  readonly keys: AgentKeys;
  readonly registrar: Pick<AgentRegistrar, 'facts'>;
  readonly times: Pick<RegistrationTimes, 'get'>;
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

/** A candidate with the key it is to have, however often it is decided. */
type NewCandidate = EnrollmentCandidate & { readonly rawKey: string };
type KnownFacts = ReadonlyMap<AgentKey, AgentFacts | undefined>;
type Admitted = {
  readonly agent: AgentKey;
  readonly same: AgentKey | undefined;
  readonly remove: readonly AgentKey[];
  readonly outcomes: readonly ReplacementOutcome[];
};
/** Agents are in the way of which svc-db was not asked yet, or the agent is added. */
type Admission = { readonly inTheWay: readonly Conflict[] } | Admitted;

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
   * @param isWanted whether somebody still waits for it @throws AdmissionError
   */
  async add(given: EnrollmentCandidate, isWanted?: () => boolean): Promise<AgentKey> {
    const { keys } = this.#parts;
    const candidate = { rawKey: newRawKey(), ...checked(given) };
    let inTheWay: readonly Conflict[] = this.#conflicts(candidate, keys);
    for (let round = 0; ; round += 1) {
      const facts = candidate.force.enabled ? await this.#factsOf(inTheWay) : undefined;
      // svc-db was asked meanwhile: what it said counts only for the agents that are still in the way.
      const decided = await keys.decide((view) => this.#decide(candidate, facts, view), isWanted);
      if ('agent' in decided) {
        this.#admitted(candidate, decided);
        return decided.agent;
      }
      inTheWay = decided.inTheWay;
      const [first] = inTheWay;
      if (first !== undefined && round >= MAX_ROUNDS) {
        throw new AdmissionError(first.code, `Duplicate ${first.what}: it changes all the time`);
      }
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
  async remove(ids: readonly string[], purge: boolean, isWanted?: () => boolean): Promise<AgentKey[]> {
    const removed: AgentKey[] = [];
    const most = Math.min(this.#parts.keys.mostRemoved, ids.length);
    for (let at = 0; at < ids.length; at += most) {
      removed.push(...(await this.#remove(ids.slice(at, at + most), purge, isWanted)));
    }
    return removed;
  }

  /**
   * Takes back an agent that did not get its key. One that was there before stays, or its id would be used up.
   * @throws AdmissionError `write_failed`
   */
  async discard(id: string): Promise<void> {
    if (this.#returning.has(id)) return;
    await this.remove([id], true);
  }

  async #remove(ids: readonly string[], purge: boolean, isWanted?: () => boolean): Promise<AgentKey[]> {
    // Of a decision that is taken again a part may be made: what was there and is gone is removed.
    const found = new Map<string, AgentKey>();
    await this.#parts.keys.decide((view) => {
      const remove = ids.flatMap((id) => view.byId(id) ?? []);
      for (const agent of remove) found.set(agent.id, agent);
      return remove.length === 0 ? { result: undefined } : { change: { remove, purge }, result: undefined };
    }, isWanted);
    for (const { id, name } of found.values()) {
      this.#parts.guard.forget(name);
      this.#returning.forget(id);
    }
    return [...found.values()];
  }

  /** Agents in the way, in the order of the reference's tests. */
  #conflicts({ id, address, name }: EnrollmentCandidate, keys: KeyView): Conflict[] {
    const conflicts: Conflict[] = [];
    const sameId = id === undefined ? undefined : keys.byId(id);
    if (sameId !== undefined) conflicts.push({ code: 'duplicate_id', agent: sameId, what: `ID '${sameId.id}'` });
    const sameAddress = keys.byAddress(address.text);
    if (sameAddress !== undefined) {
      conflicts.push({ code: 'duplicate_ip', agent: sameAddress, what: `IP '${address.text}'` });
    }
    if (name === this.#managerName) {
      throw new AdmissionError('manager_name', `Invalid agent name ${name} (same as manager)`);
    }
    const sameName = keys.byName(name);
    if (sameName !== undefined) conflicts.push({ code: 'duplicate_name', agent: sameName, what: `name '${name}'` });
    return conflicts;
  }

  /** All at once: agents wait a second for their answer, and svc-db may take half of it. */
  async #factsOf(conflicts: readonly Conflict[]): Promise<KnownFacts> {
    const known = conflicts.map(async ({ agent }) => [agent, await this.#facts(agent.id)] as const);
    return new Map(await Promise.all(known));
  }

  /** @param facts of agents that were in the way; undefined without force @throws AdmissionError */
  #decide(candidate: NewCandidate, facts: KnownFacts | undefined, view: KeyView): AgentDecision<Admission> {
    const unknown = candidate.groups?.find((group) => !view.hasGroup(group));
    if (unknown !== undefined) throw new AdmissionError('unknown_group', `Invalid group: ${unknown}`);
    const conflicts = this.#conflicts(candidate, view);
    if (facts !== undefined && conflicts.some(({ agent }) => !facts.has(agent))) {
      return { result: { inTheWay: conflicts } };
    }
    const outcomes = conflicts.map((conflict) => this.#judge(conflict, candidate, facts?.get(conflict.agent)));
    const { name, address, groups, rawKey } = candidate;
    const same = outcomes.find(({ stays }) => stays)?.agent;
    const agent = new AgentKey(candidate.id ?? same?.id ?? view.nextId(), name, address, rawKey);
    const remove = [...new Set(outcomes.map((outcome) => outcome.agent))];
    return {
      change: { remove, add: { agent, dateAdd: this.#parts.now(), groups }, purge: this.#parts.purge() },
      result: { agent, same, remove, outcomes },
    };
  }

  #admitted({ name, source }: EnrollmentCandidate, { same, remove, outcomes }: Admitted): void {
    this.#log(outcomes, name, source ?? 'here');
    for (const old of remove) {
      if (old.name === name) this.#parts.guard.replaced(name, hashOf(old), source, old === same);
    }
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

  #log(outcomes: readonly ReplacementOutcome[], name: string, source: string): void {
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
    const { keys, registrar, times } = this.#parts;
    const facts = await registrar.facts(id);
    if (facts?.status !== 'never_connected') return facts;
    if (keys.unanswered(id)) return { ...facts, registeredAt: 0 };
    // With its last key it was registered anew, while its row in svc-db stayed.
    return this.#returning.has(id) ? { ...facts, registeredAt: times.get(id) ?? facts.registeredAt } : facts;
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
