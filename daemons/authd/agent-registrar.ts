import type { AgentKey } from '../../lib/agentlink/agent-key.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import { type AgentTable, type NewAgent, TableRefusedError } from './agent-table.js';
import type { RegistrationTimes } from './registration-times.js';
import type { AgentFacts } from './replacement-rule.js';
import type { RequestedGroups } from './requested-groups.js';

/** Pauses after failures, milliseconds: the last is repeated. */
const RETRY_MS = [200, 500, 1000, 2000, 5000];
/** How often it is looked whether svc-db was started anew. */
const WATCH_MS = 5000;
/** Registrations under way at once: svc-db shares one commit between them. */
const PARALLEL = 64;
/** Changes that wait at most; with more, comparing everything is cheaper than remembering. */
const MAX_WAITING = 20_000;
/** A client waits for this answer, and it is to be answered within a second. */
const FACTS_DEADLINE_MS = 500;

/** The agents that svc-db is to have. */
export interface KnownAgents {
  readonly agents: Iterable<AgentKey>;
  /** Whether an agent that is not among them is a removed one. */
  readonly complete: boolean;
  /** When the agent was added, seconds since 1970, where that is known of somewhere else than the registration times. */
  dateAdd?(id: string): number | undefined;
}

type Task = { readonly register: NewAgent } | { readonly remove: readonly string[] };

/**
 * Tells svc-db of agents that come and go, without making anybody wait. Whenever the two may differ (at start, after a
 * restart of svc-db, after a failure) all agents are compared: the key file decides which there are and their names and
 * addresses.
 */
export class AgentRegistrar {
  #tasks: Task[] = [];
  /** Ids whose registration svc-db has not confirmed. */
  readonly #unconfirmed = new Set<string>();
  #compare = true;
  #working = false;
  #stopped = false;
  #failures = 0;
  #incarnation: string | undefined;
  #retry: NodeJS.Timeout | undefined;
  readonly #watch: NodeJS.Timeout;

  constructor(
    private readonly table: AgentTable,
    private readonly keys: KnownAgents,
    private readonly times: RegistrationTimes,
    private readonly groups: RequestedGroups,
    private readonly logger: Logger,
    private readonly now: () => number,
  ) {
    this.#watch = setInterval(() => {
      void this.#look();
    }, WATCH_MS);
  }

  /** Compares all agents, then goes on with what is told. */
  start(): void {
    this.#work();
  }

  /** An agent whose key is on disk. */
  registered(agent: NewAgent): void {
    this.#unconfirmed.add(agent.id);
    this.#add({ register: agent });
  }

  /** Agents whose keys are gone from the disk. */
  removed(ids: readonly string[]): void {
    for (const id of ids) this.#unconfirmed.delete(id);
    this.#add({ remove: ids });
  }

  /** What the table has may be wrong. */
  compareAll(): void {
    this.#compare = true;
    this.#work();
  }

  /** What is known of an agent, within half a second; undefined when that cannot be found out. */
  async facts(id: string): Promise<AgentFacts | undefined> {
    if (this.#unconfirmed.has(id)) return newcomer(this.times.get(id) ?? this.now());
    try {
      return await this.table.facts(id, FACTS_DEADLINE_MS);
    } catch (error) {
      this.logger.debug(`svc-db does not tell of agent ${id}: ${describeError(error)}`);
      return undefined;
    }
  }

  /** Whether svc-db knows everything. */
  get settled(): boolean {
    return !this.#compare && !this.#working && this.#tasks.length === 0;
  }

  get counters(): { readonly waiting: number; readonly settled: boolean; readonly failures: number } {
    return { waiting: this.#tasks.length, settled: this.settled, failures: this.#failures };
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#watch);
    clearTimeout(this.#retry);
  }

  #add(task: Task): void {
    if (this.#tasks.length >= MAX_WAITING) {
      this.#tasks = [];
      this.#compare = true;
    }
    if (!this.#compare || this.#working) this.#tasks.push(task);
    this.#work();
  }

  #work(): void {
    if (this.#working || this.#stopped || this.#retry !== undefined) return;
    this.#working = true;
    void this.#run().finally(() => {
      this.#working = false;
      if (this.#compare || this.#tasks.length > 0) this.#later();
    });
  }

  /** After a failure with growing pauses; otherwise something came just now. */
  #later(): void {
    if (this.#stopped) return;
    const pause = this.#failures === 0 ? 0 : (RETRY_MS[Math.min(this.#failures, RETRY_MS.length) - 1] ?? 0);
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#work();
    }, pause);
  }

  async #run(): Promise<void> {
    try {
      while (!this.#stopped && (this.#compare || this.#tasks.length > 0)) {
        if (this.#compare) {
          this.#tasks = [];
          this.#compare = false;
          await this.#compareAll();
        } else {
          await this.#next();
        }
        this.#failures = 0;
      }
      await this.groups.save();
    } catch (error) {
      this.#tasks = [];
      this.#compare = true;
      // A daemon that is just being started is no news; one that stays away is.
      if (this.#failures === RETRY_MS.length - 1) {
        this.logger.warn(`svc-db cannot be told of agents: ${describeError(error)}. Trying on.`);
      }
      this.#failures += 1;
    }
  }

  /** The next removal, or registrations up to it. */
  async #next(): Promise<void> {
    const [first] = this.#tasks;
    if (first === undefined) return;
    if ('remove' in first) {
      this.#tasks.shift();
      await this.#refusable(first.remove.join(), this.table.remove(first.remove));
      return;
    }
    const removal = this.#tasks.findIndex((task) => 'remove' in task);
    const count = Math.min(removal < 0 ? this.#tasks.length : removal, PARALLEL);
    const agents = this.#tasks.splice(0, count).flatMap((task) => ('register' in task ? [task.register] : []));
    await this.#register(agents);
  }

  async #register(agents: readonly NewAgent[]): Promise<void> {
    await Promise.all(agents.map((agent) => this.#refusable(agent.id, this.table.register(agent))));
    for (const { id } of agents) {
      this.#unconfirmed.delete(id);
      this.groups.done(id);
    }
  }

  /** One agent that svc-db does not take must not keep it from hearing of the others. */
  async #refusable(id: string, call: Promise<void>): Promise<void> {
    try {
      await call;
    } catch (error) {
      if (!(error instanceof TableRefusedError)) throw error;
      this.logger.error(`svc-db does not take agent '${id}': ${error.message}`);
    }
  }

  async #compareAll(): Promise<void> {
    this.#incarnation = await this.table.incarnation();
    const known = new Map((await this.table.all()).map((agent) => [Number(agent.id), agent]));
    const missing: NewAgent[] = [];
    for (const { id, name, ip } of [...this.keys.agents]) {
      const agent = known.get(Number(id));
      if (agent === undefined) {
        const dateAdd = this.keys.dateAdd?.(id) ?? this.times.get(id) ?? this.now();
        missing.push({ id, name, registerIP: ip, dateAdd, groups: this.groups.get(id), replaces: [] });
      } else {
        this.#unconfirmed.delete(id);
        this.groups.done(id);
        if (agent.name !== name || agent.registerIP !== ip) {
          await this.#refusable(id, this.table.rename({ id, name, registerIP: ip }));
        }
      }
    }
    const live = new Set(Array.from(this.keys.agents, ({ id }) => Number(id)));
    const gone = [...known.values()].flatMap(({ id }) => (live.has(Number(id)) ? [] : [id]));
    if (gone.length > 0 && this.keys.complete) {
      this.logger.info(`${gone.length} agents without a key are removed from svc-db.`);
      await this.table.remove(gone);
    } else if (gone.length > 0) {
      this.logger.warn(`${gone.length} agents of svc-db have no key and stay: the key file is missing or damaged.`);
    }
    for (let at = 0; at < missing.length; at += PARALLEL) await this.#register(missing.slice(at, at + PARALLEL));
  }

  async #look(): Promise<void> {
    if (this.#working || this.#incarnation === undefined) return;
    try {
      const incarnation = await this.table.incarnation();
      if (incarnation !== this.#incarnation) this.compareAll();
    } catch {
      // It is away: when it is back, it is another one.
    }
  }
}

function newcomer(registeredAt: number): AgentFacts {
  return { status: 'never_connected', disconnectedAt: 0, registeredAt };
}
