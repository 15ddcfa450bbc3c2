import { type AgentKey, enrollmentKeyHash } from '../../../lib/agentlink/agent-key.js';
import type { RecordChange, RecordsOwner, SharedRecord, SharedRecords } from '../../../lib/cluster/shared-records.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { AgentRegistrar } from '../agent-registrar.js';
import type { AgentUpkeep } from '../agent-upkeep.js';
import type { KeyRegistry } from '../key-registry.js';
import type { RegistrationTimes } from '../registration-times.js';
import type { ReplacementGuard } from '../replacement-guard.js';
import type { RequestedGroups } from '../requested-groups.js';
import { type AgentTurn, AgentView } from './agent-view.js';
import { HandChanges } from './hand-changes.js';
import type { KeyFileView } from './key-file-view.js';
import type { LeftOutKeys } from './left-out-keys.js';
import { seedAgents } from './seed-agents.js';
import type { SharedKeys } from './shared-keys.js';

export type SharedAgentsParts = {
  readonly registry: KeyRegistry;
  readonly view: AgentView;
  readonly file: KeyFileView;
  readonly keys: SharedKeys;
  readonly records: Pick<SharedRecords, 'loaded'>;
  readonly registrar: Pick<AgentRegistrar, 'compareAll'>;
  readonly upkeep: Pick<AgentUpkeep, 'came' | 'went'>;
  readonly times: RegistrationTimes;
  readonly groups: Pick<RequestedGroups, 'get' | 'set'>;
  readonly guard: Pick<ReplacementGuard, 'replaced' | 'forget'>;
  readonly leftOut: LeftOutKeys;
  /** The name of this node. */
  readonly node: string;
  readonly logger: Logger;
  /** Seconds since 1970. */
  readonly now: () => number;
};

/** Puts the agents of the cluster in force at this node: the key file, and what hangs on agents, follow the records. */
export class SharedAgents implements RecordsOwner {
  readonly #parts: SharedAgentsParts;
  readonly #hand: HandChanges;
  /** Agents that this node has added, and nobody knows whether it has answered them. */
  #lost: AgentKey[] = [];
  /** Lines that were added by hand before the start are to be decided about: what else the file said then counts for nothing. */
  #isAtStart = false;
  /** Why changes by hand wait, as it was said. */
  #handProblem: string | undefined;
  /** Somebody else has written the key file. */
  #fileReplaced = false;
  #looking: Promise<void> | undefined;

  constructor(parts: SharedAgentsParts) {
    this.#parts = parts;
    this.#hand = new HandChanges(parts);
  }

  seed(records: readonly SharedRecord[]): readonly RecordChange[] {
    const { registry, times, groups, leftOut, node, logger, now } = this.#parts;
    const view = new AgentView(logger);
    view.load(records);
    const own = {
      agents: registry.agents,
      highestId: registry.highestId,
      dateAdd: (id: string) => times.get(id) ?? now(),
      groups: (id: string) => groups.get(id),
    };
    const seed = seedAgents(own, view, node);
    // On the disk before anything of them goes; called again when others changed something, it is said once.
    if (seed.leftOut.length > 0 && leftOut.keep(seed.leftOut)) {
      logger.warn(
        `${seed.leftOut.length} agents of this manager are not taken into the cluster, which has others with their ids, names or addresses. Their keys are kept in ${leftOut.file}; their hosts enrol again by themselves when their key is refused.`,
      );
    }
    return seed.changes;
  }

  load(records: readonly SharedRecord[]): Promise<void> {
    const { registry, view, file, registrar, upkeep, logger } = this.#parts;
    view.load(records);
    this.#noteTimes();
    const spared = new Set(registry.complete ? this.#hand.added().map(({ id }) => id) : []);
    this.#isAtStart = spared.size > 0;
    const gone = [...registry.agents].filter(({ id, name }) => {
      const agent = view.byId(id);
      // Another host has the id in the cluster: what is known of this one is not to be taken for what is known of that.
      return agent === undefined ? !spared.has(id) : agent.name !== name;
    });
    if (!registry.complete) this.#sayDamaged();
    const { missing, changed } = file.compareAll(spared, () => {
      upkeep.went(gone);
      registrar.compareAll();
    });
    this.#fileReplaced = spared.size > 0;
    const came = missing + changed;
    logger.info(
      `${view.size} agents of the cluster are in force: ${came} came or changed meanwhile, ${gone.length} went.`,
    );
    return Promise.resolve();
  }

  apply(changes: readonly SharedRecord[]): Promise<void> {
    const { view, file, keys, groups } = this.#parts;
    const turns = view.take(changes);
    if (turns.length === 0) return Promise.resolve();
    const since = this.#parts.now();
    for (const { after } of turns) {
      const own = after === undefined ? undefined : keys.ownProposal(after.agent);
      if (own?.groups !== undefined) groups.set(own.agent.id, own.groups);
    }
    this.#noteReplacements(turns);
    const purged = new Set(turns.flatMap(({ id, after }) => (after === undefined && keys.isPurged(id) ? [id] : [])));
    file.changed({
      ids: turns.map(({ id }) => id),
      purged,
      then: () => {
        this.#follow(turns, since);
      },
    });
    return Promise.resolve();
  }

  /** The key file is another than the one that was written here. */
  fileReplaced(): void {
    this.#fileReplaced = true;
  }

  /** Does what could not be done at once. Called every second. */
  look(): Promise<void> {
    if (!this.#parts.records.loaded) return Promise.resolve();
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    await this.#parts.keys.settleDoubts();
    if (this.#lost.length > 0) await this.#markLost();
    if (this.#fileReplaced) await this.#takeHandChanges();
  }

  /** What hangs on agents, once the file is on the disk. */
  #follow(turns: readonly AgentTurn[], since: number): void {
    const { upkeep, view, groups, keys, times } = this.#parts;
    upkeep.went(
      turns.flatMap(({ before, after }) => (before !== undefined && after === undefined ? [before.agent] : [])),
    );
    for (const { id, after } of turns) {
      // One that has changed again since then is told of with that.
      if (after === undefined || view.byId(id) !== after.agent) continue;
      upkeep.came({ agent: after.agent, dateAdd: after.record.dateAdd, groups: groups.get(id) }, [], since);
      if (keys.isDoubted(after.agent)) times.remove(id);
    }
  }

  /** Names that changed hands at other nodes: those of this one are noted by who decided. */
  #noteReplacements(turns: readonly AgentTurn[]): void {
    const { guard, keys } = this.#parts;
    const gone = new Map<string, AgentKey>();
    for (const { before, after } of turns) {
      if (before !== undefined && after === undefined) gone.set(before.agent.name, before.agent);
    }
    for (const { before, after } of turns) {
      if (after === undefined) continue;
      const { name } = after.agent;
      const old = before?.agent.name === name ? before.agent : gone.get(name);
      gone.delete(name);
      if (old === undefined || keys.ownProposal(after.agent) !== undefined) continue;
      guard.replaced(name, enrollmentKeyHash(old.id, old.name, old.rawKey), undefined, old.id === after.agent.id);
    }
    for (const name of gone.keys()) guard.forget(name);
  }

  /** By this host's clock as far as it knows; what came while it was away has the time of the record. */
  #noteTimes(): void {
    const { view, times, node, now } = this.#parts;
    const since = now();
    this.#lost = [];
    for (const { agent, record } of view.agents) {
      if (times.get(agent.id) !== undefined) continue;
      if (times.kept && record.node === node && record.unanswered !== true) this.#lost.push(agent);
      times.set(agent.id, Math.min(record.dateAdd, since));
    }
  }

  /** Whoever asks for them again, at whichever node, need not wait for the time after registration. */
  async #markLost(): Promise<void> {
    const { keys, view, logger } = this.#parts;
    try {
      const marked = this.#lost.map((agent) =>
        keys.decide((there) => {
          const [known, dateAdd] = [there.byId(agent.id), view.find(agent.id)?.record.dateAdd];
          if (dateAdd === undefined || known?.equals(agent) !== true) return { result: undefined };
          const add = { agent: known, dateAdd, groups: undefined, unanswered: true } as const;
          return { change: { remove: [known], add, purge: false }, result: undefined };
        }),
      );
      await Promise.all(marked);
      this.#lost = [];
    } catch (error) {
      logger.debug(`Agents that may not have been answered are not marked: ${describeError(error)}`);
    }
  }

  #sayDamaged(): void {
    const { leftOut, logger } = this.#parts;
    const kept = leftOut.keepDamaged();
    // A home that is new has no file yet.
    if (kept === undefined) return;
    logger.warn(`etc/client.keys is damaged, and kept as ${kept}: it is written anew, as the cluster has it.`);
  }

  async #takeHandChanges(): Promise<void> {
    this.#fileReplaced = false;
    try {
      await this.#decideHandChanges();
      this.#handProblem = undefined;
    } catch (error) {
      // A disk that takes nothing: it is looked at again.
      this.#fileReplaced = true;
      const problem = describeError(error);
      if (problem !== this.#handProblem) {
        this.#parts.logger.warn(`Changes of etc/client.keys by hand wait: ${problem}.`);
      }
      this.#handProblem = problem;
    }
  }

  async #decideHandChanges(): Promise<void> {
    const { registry, file, registrar, logger } = this.#parts;
    // What is still to be written is no change by hand.
    await file.written().catch(() => {});
    if (!registry.complete) this.#sayDamaged();
    // A file that is not whole says nothing, and is written anew.
    const added = registry.complete ? this.#hand.added() : [];
    const removed = registry.complete && !this.#isAtStart ? this.#hand.removed() : [];
    await this.#hand.decide(added, removed);
    this.#isAtStart = false;
    const { missing, changed, surplus } = file.compareAll(new Set(), () => {
      registrar.compareAll();
    });
    if (missing + changed + surplus === 0) return;
    logger.warn(
      `etc/client.keys was changed by hand and is put back, as the cluster has it: ${missing} lines were missing, ${changed} changed, ${surplus} too many. Remove agents with manage_agents or the API.`,
    );
  }
}
