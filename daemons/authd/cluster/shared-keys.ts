import type { AgentKey } from '../../../lib/agentlink/agent-key.js';
import type { Decision, SharedRecords } from '../../../lib/cluster/shared-records.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { AdmissionError } from '../admission-error.js';
import type { AgentDecision, AgentKeys, KeyView, NewKey } from '../agent-keys.js';
import type { RegistrationTimes } from '../registration-times.js';
import type { AgentView } from './agent-view.js';
import { KeyDraft } from './key-draft.js';
import type { KeyFileView } from './key-file-view.js';
import { type Pending, PendingDecision } from './pending-decision.js';

/** Changes of one commit after which no further decision goes along: the longer it is, the more likely others interfere. */
const MANY_CHANGES = 500;
/** Agents removed with one decision. */
const MOST_REMOVED = 1000;
/** Decisions that wait: as many as clients of the enrolment port, and the local ones beside them. */
const MAX_WAITING = 10_000;
/** Agents remembered of which it is not known whether they were added: with each failure of NATS there come some. */
const MAX_DOUBTS = 10_000;

export type SharedKeysParts = {
  readonly records: Pick<SharedRecords, 'change'>;
  readonly view: AgentView;
  readonly file: Pick<KeyFileView, 'written' | 'failure'>;
  readonly times: Pick<RegistrationTimes, 'remove'>;
  /** The name of this node. */
  readonly node: string;
  readonly logger: Logger;
};

/**
 * The agents of a cluster, decided about by whichever node is asked. Decisions that wait are made with one commit: it takes
 * the time of one round however many they are, and when another node was quicker all are decided anew (agents-and-groups.md 2.8).
 */
export class SharedKeys implements AgentKeys {
  readonly mostRemoved = MOST_REMOVED;
  readonly #parts: SharedKeysParts;
  #waiting: Pending[] = [];
  #isRunning = false;
  /** What the commit under way would add, by id, and whom it would remove without a trace. */
  #proposals = new Map<string, NewKey>();
  #purged = new Set<string>();
  /** Agents that were not answered, and may have been added all the same, by id. */
  readonly #doubts = new Map<string, AgentKey>();
  #settling = false;

  constructor(parts: SharedKeysParts) {
    this.#parts = parts;
  }

  byId(id: string): AgentKey | undefined {
    return this.#parts.view.byId(id);
  }

  byName(name: string): AgentKey | undefined {
    return this.#parts.view.byName(name);
  }

  byAddress(ip: string): AgentKey | undefined {
    return this.#parts.view.byAddress(ip);
  }

  nextId(): string {
    return this.#parts.view.nextId();
  }

  hasGroup(name: string): boolean {
    return this.#parts.view.hasGroup(name);
  }

  unanswered(id: string): boolean {
    const shared = this.#parts.view.find(id);
    return shared?.record.unanswered === true || (shared !== undefined && this.isDoubted(shared.agent));
  }

  /** What of this node's own decisions has brought the agent, if one of those under way has. */
  ownProposal(agent: AgentKey): NewKey | undefined {
    const proposal = this.#proposals.get(agent.id);
    return proposal?.agent.equals(agent) === true ? proposal : undefined;
  }

  /** Whether nobody was told of the agent, and it is to go again. */
  isDoubted(agent: AgentKey): boolean {
    return this.#doubts.get(agent.id)?.equals(agent) === true;
  }

  /** Whether this node's own decision under way removes the agent and leaves no line of it. */
  isPurged(id: string): boolean {
    return this.#purged.has(id);
  }

  async decide<T>(decide: (keys: KeyView) => AgentDecision<T>, isWanted?: () => boolean): Promise<T> {
    const { failure } = this.#parts.file;
    // What cannot be written here would be made in the cluster, and nobody would be told of it.
    if (failure !== undefined) throw new AdmissionError('write_failed', describeError(failure), { cause: failure });
    if (this.#waiting.length >= MAX_WAITING) {
      throw new AdmissionError('cluster_unavailable', 'Too many changes wait for the cluster');
    }
    return this.#queue(decide, isWanted);
  }

  /** Takes back what was made after it had been answered that it was not. Called now and then. */
  async settleDoubts(): Promise<void> {
    if (this.#settling || this.#doubts.size === 0) return;
    this.#settling = true;
    try {
      for (const agent of [...this.#doubts.values()]) {
        const known = this.byId(agent.id);
        if (known === undefined) continue;
        if (known.equals(agent)) await this.#takeBack(agent);
        this.#doubts.delete(agent.id);
      }
    } catch (error) {
      this.#parts.logger.debug(`What was not answered is not taken back yet: ${describeError(error)}`);
    } finally {
      this.#settling = false;
    }
  }

  async #takeBack(agent: AgentKey): Promise<void> {
    await this.#queue((keys) => {
      const there = keys.byId(agent.id);
      if (there?.equals(agent) !== true) return { result: undefined };
      return { change: { remove: [there], purge: true }, result: undefined };
    });
    this.#parts.logger.info(
      `Agent '${agent.id}' (${agent.name}) is taken back: its host had been told that it could not be added.`,
    );
  }

  #queue<T>(decide: (keys: KeyView) => AgentDecision<T>, isWanted?: () => boolean): Promise<T> {
    const pending = new PendingDecision(decide, isWanted);
    this.#waiting.push(pending);
    if (!this.#isRunning) void this.#run();
    return pending.settled;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const batch: Pending[] = [];
      try {
        await this.#parts.records.change(() => this.#decideAll(batch));
        // While this is written the next commit is under way.
        void this.#settle(batch);
      } catch (error) {
        // Nobody was asked, as it is known that nothing can be changed now.
        if (batch.length === 0) batch.push(...this.#waiting.splice(0));
        this.#fail(batch, new AdmissionError('cluster_unavailable', describeError(error), { cause: error }));
      }
    }
    this.#isRunning = false;
  }

  /** @param batch those that are decided: they stay together, and those that came meanwhile go along */
  #decideAll(batch: Pending[]): Decision<undefined> {
    const { view, node } = this.#parts;
    const draft = new KeyDraft(view, node);
    for (const pending of batch) pending.attempt(draft);
    while (draft.changes.length < MANY_CHANGES) {
      const pending = this.#waiting.shift();
      if (pending === undefined) break;
      batch.push(pending);
      pending.attempt(draft);
    }
    this.#proposals = new Map();
    this.#purged = new Set();
    for (const { proposed, purged } of batch) {
      if (proposed !== undefined) this.#proposals.set(proposed.agent.id, proposed);
      for (const id of purged) this.#purged.add(id);
    }
    // Where none is added or removed all are refused: that is no promise, and costs the cluster nothing, whoever asks for it.
    return { changes: draft.changes, result: undefined, isUnbinding: true };
  }

  async #settle(batch: readonly Pending[]): Promise<void> {
    try {
      await this.#parts.file.written();
    } catch (error) {
      const text = `The cluster has it, and etc/client.keys cannot be written here: ${describeError(error)}. Agents that were to be added are taken back, others stay removed`;
      this.#fail(batch, new AdmissionError('write_failed', text, { cause: error }));
      return;
    }
    for (const pending of batch) pending.settle();
  }

  /** Whether what was decided last is made is not known, or it is made here only: nobody is told of it, so it must go. */
  #fail(batch: readonly Pending[], error: AdmissionError): void {
    for (const pending of batch) {
      const agent = pending.proposed?.agent;
      if (agent !== undefined) {
        this.#doubts.set(agent.id, agent);
        // Without a time the next process knows of the doubt as well.
        this.#parts.times.remove(agent.id);
      }
      pending.fail(error);
    }
    for (const id of this.#doubts.keys()) {
      if (this.#doubts.size <= MAX_DOUBTS) break;
      this.#doubts.delete(id);
    }
  }
}
