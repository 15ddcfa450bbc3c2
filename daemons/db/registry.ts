import { BusError } from '../../lib/bus/bus-error.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { LmdbStore } from '../../lib/store/lmdb-store.js';
import { StoreError } from '../../lib/store/store-error.js';
import { AGENT_FIELDS } from './agent-fields.js';
import type { AgentRow } from './agent-record.js';
import { AgentSet } from './agent-set.js';
import { Edit, type RegistryMemory, type RowObserver } from './edit.js';
import { GroupUses } from './group-uses.js';
import { DEFAULT_GROUP } from './membership.js';
import {
  type GroupRecord,
  type Labels,
  openRegistryStore,
  type RegistryTables,
  registryTables,
} from './registry-store.js';
import { RemovalLog } from './removal-log.js';

/** Times of keepalives are brought to disk this often: after a crash they are older by so much, until the next one. */
const KEEPALIVE_FLUSH_MS = 5000;
/** Those of agents of other nodes, which know them better, with every so many of these turns. */
const FLUSHES_OF_OTHERS = 12;
/** Between two orders, each of which takes up to 0.2 s with 100,000 agents: requests go on meanwhile. */
const WARMING_MS = 100;

/** Shows what the operator must mend; undefined when it is mended. */
export type SetProblem = (problem: string | undefined) => void;

/**
 * The registry of agents, labels and groups: whole in memory, and on disk before a change is answered. Only the times of
 * keepalives are written later.
 */
export class Registry implements RegistryMemory {
  readonly agents: AgentSet;
  readonly groups = new Map<string, GroupRecord>();
  readonly groupUses = new GroupUses();
  readonly unwrittenLabels = new Map<number, Labels>();
  readonly removals = new RemovalLog();
  readonly counters = { commits: 0, failedCommits: 0, keepAlives: 0 };
  #store: LmdbStore;
  #tables: RegistryTables;
  readonly #setProblem: SetProblem;
  /** Ids of agents whose last keepalive is newer than on disk. */
  #unwrittenKeepAlives = new Set<number>();
  /** The same of agents of other nodes. */
  #unwrittenOfOthers = new Set<number>();
  #flushes = 0;
  #observer: RowObserver | undefined;
  #timer: NodeJS.Timeout | undefined;
  #warming: NodeJS.Timeout | undefined;

  private constructor(store: LmdbStore, setProblem: SetProblem, agents: AgentSet) {
    this.agents = agents;
    this.#store = store;
    this.#tables = registryTables(store);
    this.#setProblem = setProblem;
  }

  /**
   * Opens the registry and loads all of it.
   * @param directory `{home}/queue/db`
   * @param setProblem is told while the disk does not take changes
   * @param agents without any yet
   * @throws StoreError
   */
  static async open(directory: string, setProblem: SetProblem, agents = new AgentSet()): Promise<Registry> {
    const first = await openRegistryStore(directory);
    let loaded: Registry;
    try {
      loaded = new Registry(first, setProblem, agents);
      loaded.#load();
    } finally {
      await first.close();
    }
    // Opened anew, it does not keep the pages in memory that were read once: 60 MB for 100,000 agents.
    loaded.#store = await openRegistryStore(directory);
    loaded.#tables = registryTables(loaded.#store);
    return loaded;
  }

  /** Resolves with the error when the disk did not take a commit in time; the process should end then. */
  get broken(): Promise<StoreError> {
    return this.#store.broken;
  }

  get observer(): RowObserver | undefined {
    return this.#observer;
  }

  /** Has an observer see all rows that change from now on. */
  observe(observer: RowObserver): void {
    this.#observer = observer;
  }

  #load(): void {
    for (const [name, group] of this.#tables.groups.entries()) this.groups.set(name, group);
    for (const [, { groups, md5 }] of this.#tables.sums.entries()) this.agents.setMergedSum(groups.join(','), md5);
    for (const [id, record] of this.#tables.agents.entries()) this.agents.set(id, record);
    for (const [id, time] of this.#tables.keepAlives.entries()) {
      const row = this.agents.get(id);
      if (row !== undefined) this.agents.setKeepAlive(row, time);
    }
    this.removals.load(this.#tables.removed.entries());
  }

  /** Begins to bring times of keepalives to disk, and makes the orders of lists one by one, before they are asked for. */
  start(): void {
    const fields = AGENT_FIELDS.values();
    this.#warming = setInterval(() => {
      const { value: field } = fields.next();
      if (field === undefined) clearInterval(this.#warming);
      else this.agents.sorted(field).ranks();
    }, WARMING_MS);
    this.#warming.unref();
    this.#timer = setInterval(() => void this.flushKeepAlives(), KEEPALIVE_FLUSH_MS);
    this.#timer.unref();
  }

  /** Brings everything to disk and closes the store. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    clearInterval(this.#warming);
    this.#flushes = -1;
    await this.flushKeepAlives();
    await this.#store.close();
  }

  /**
   * Changes memory in one go and brings it to disk. When `change` throws, or the disk does not take it, nothing has
   * happened.
   * @throws BusError `disk_full`, `disk_failed`; what `change` throws
   */
  async edit<T>(change: (edit: Edit) => T): Promise<T> {
    const edit = new Edit(this, this.#tables);
    let result: T;
    try {
      result = change(edit);
    } catch (error) {
      edit.undo();
      throw error;
    }
    if (edit.changes.length === 0) return result;
    await this.#commit(edit);
    return result;
  }

  /** The time alone, on disk within five seconds. */
  touch(row: AgentRow, time: number): void {
    this.counters.keepAlives += 1;
    this.agents.setKeepAlive(row, time);
    this.#unwrittenKeepAlives.add(row.id);
  }

  /** The time of an agent of another node, on disk within a minute. */
  touchOther(row: AgentRow, time: number): void {
    this.agents.setKeepAlive(row, time);
    this.#unwrittenOfOthers.add(row.id);
  }

  labels(id: number): Labels {
    return this.unwrittenLabels.get(id) ?? this.#tables.labels.get(id) ?? [];
  }

  /** @throws BusError `unknown_agent` */
  requireAgent(id: string): AgentRow {
    const row = this.agents.get(Number(id));
    if (row === undefined) throw new BusError('unknown_agent', `There is no agent ${id}`);
    return row;
  }

  /** @param now epoch seconds */
  async ensureDefaultGroup(now: number): Promise<void> {
    if (this.groups.has(DEFAULT_GROUP)) return;
    await this.edit((edit) => edit.setGroup(DEFAULT_GROUP, { dateAdd: now }));
  }

  /** Forgets removals that are known elsewhere, up to this number. @throws StoreError; they are forgotten after the next start then */
  async forgetRemovals(through: number): Promise<void> {
    const changes = this.removals.forget(through, this.#tables.removed);
    if (changes.length > 0) await this.#store.commit(changes);
  }

  /** Brings times of keepalives to disk. What fails is tried again with the next ones. */
  async flushKeepAlives(): Promise<void> {
    const ids = this.#unwrittenKeepAlives;
    this.#unwrittenKeepAlives = new Set();
    this.#flushes += 1;
    if (this.#flushes % FLUSHES_OF_OTHERS === 0) {
      for (const id of this.#unwrittenOfOthers) ids.add(id);
      this.#unwrittenOfOthers = new Set();
    }
    const changes = [...ids].flatMap((id) => {
      const time = this.agents.get(id)?.lastKeepAlive;
      return time === undefined ? [] : [this.#tables.keepAlives.put(id, time)];
    });
    if (changes.length === 0) return;
    try {
      await this.#store.commit(changes);
      this.#setProblem(undefined);
    } catch (error) {
      for (const id of ids) this.#unwrittenKeepAlives.add(id);
      this.#setProblem(storageProblem(error));
    }
  }

  async #commit(edit: Edit): Promise<void> {
    try {
      await this.#store.commit(edit.changes, () => edit.undo());
    } catch (error) {
      this.counters.failedCommits += 1;
      if (!(error instanceof StoreError)) throw error;
      this.#setProblem(storageProblem(error));
      throw new BusError(error.code === 'full' ? 'disk_full' : 'disk_failed', error.message, { cause: error });
    }
    this.counters.commits += 1;
    edit.done();
    this.#setProblem(undefined);
  }
}

function storageProblem(error: unknown): string {
  return `Changes of agents cannot be stored: ${describeError(error)}`;
}
