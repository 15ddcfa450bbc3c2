import * as z from 'zod';
import type { CallParams } from '../../../lib/bus/contract.js';
import type { modulesdContract } from '../../../lib/bus/contracts/modulesd.js';
import type { Change } from '../../../lib/store/commit-queue.js';
import { LmdbStore } from '../../../lib/store/lmdb-store.js';
import type { StoreError } from '../../../lib/store/store-error.js';
import type { StoreTable } from '../../../lib/store/store-table.js';
import { isUnfinished, type Task, type TaskRecord, taskRecord } from './task-record.js';

const TASKS = 'tasks';
const NUMBERS = 'numbers';
const LAST_ID = 'last_id';

/** Tasks that are kept: those of the largest call are, and those of some days beside them. The oldest finished ones go first. */
const MAX_TASKS = 200_000;
/** Tasks forgotten in one transaction. */
const FORGOTTEN_AT_ONCE = 10_000;

/** Filters of a list; text compares without case. */
export type TaskFilter = Omit<CallParams<typeof modulesdContract, 'tasks.list'>, 'after' | 'limit'>;

/** More unfinished tasks than are kept. */
export class TooManyTasksError extends Error {
  override readonly name = 'TooManyTasksError';
}

/**
 * Tasks, in `queue/tasks`, which svc-modulesd alone opens: a task and how far it is are on disk before anything is done, so
 * that it goes on after any end of the process. All of them are in memory too, where lists are made.
 */
export class TaskStore {
  /** Resolves with the error when nothing can be written any more; the process should end then. */
  readonly broken: Promise<StoreError>;
  readonly #store: LmdbStore;
  readonly #table: StoreTable<number, TaskRecord>;
  readonly #numbers: StoreTable<string, number>;
  /** By id, ascending. */
  readonly #tasks = new Map<number, Task>();
  /** The last task of each agent. */
  readonly #last = new Map<string, Task>();
  readonly #unfinished = new Set<number>();
  readonly #most: number;
  #lastId: number;

  private constructor(store: LmdbStore, most: number) {
    this.#store = store;
    this.#most = most;
    this.broken = store.broken;
    this.#table = store.table<number, TaskRecord>(TASKS, taskRecord);
    this.#numbers = store.table<string, number>(NUMBERS, z.number().int());
    this.#lastId = this.#numbers.get(LAST_ID) ?? 0;
    for (const [id, record] of this.#table.entries()) this.#remember({ ...record, id });
  }

  /**
   * @param directory `queue/tasks`
   * @param most tasks that are kept
   * @throws StoreError `damaged`, `too_new`, `in_use`, `full`
   */
  static async open(directory: string, most = MAX_TASKS): Promise<TaskStore> {
    const store = await LmdbStore.open({ directory, tables: [TASKS, NUMBERS] });
    try {
      return new TaskStore(store, most);
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** Tasks that something is still to be done for, by id. */
  get unfinished(): readonly Task[] {
    return [...this.#unfinished].flatMap((id) => this.#tasks.get(id) ?? []);
  }

  get(id: number): Task | undefined {
    return this.#tasks.get(id);
  }

  /** The last task of an agent. */
  lastOf(agent: string): Task | undefined {
    return this.#last.get(agent);
  }

  /**
   * Adds tasks; they are on disk when it resolves. Nobody sees them before.
   * @throws StoreError `full`, `failed`, `closed`; TooManyTasksError: nothing was added
   */
  async add(records: readonly TaskRecord[]): Promise<readonly Task[]> {
    if (records.length === 0) return [];
    if (this.#unfinished.size + records.length > this.#most) throw new TooManyTasksError('too many tasks wait already');
    const made = records.map((record): Task => ({ ...record, id: (this.#lastId += 1) }));
    await this.#store.commit([
      ...records.map((record, index) => this.#table.put((made[index] as Task).id, record)),
      this.#numbers.put(LAST_ID, this.#lastId),
    ]);
    for (const task of made) this.#remember(task);
    await this.#forget(this.#tasks.size - this.#most, () => true);
    return made;
  }

  /** Changes a task that is there; it is on disk when it resolves. @throws StoreError: it stays as it was */
  async change(id: number, change: Partial<TaskRecord>): Promise<Task | undefined> {
    const before = this.#tasks.get(id);
    if (before === undefined) return undefined;
    const { id: _id, ...record } = { ...before, ...change };
    const task = { ...record, id };
    this.#remember(task);
    await this.#store.commit([this.#table.put(id, record)], () => {
      this.#remember(before);
    });
    return task;
  }

  /** Forgets tasks that were made before then, what is unfinished excepted. @param before epoch seconds @returns how many */
  async forgetOlder(before: number): Promise<number> {
    return this.#forget(Infinity, ({ created }) => created < before);
  }

  /** @returns tasks that pass, ascending by id @param limit at most so many, above 0 */
  list(filter: TaskFilter, after: number, limit: number): { readonly tasks: readonly Task[]; readonly more: boolean } {
    const passes = taskTest(filter);
    const tasks: Task[] = [];
    for (const task of this.#tasks.values()) {
      if (task.id <= after || !passes(task)) continue;
      if (tasks.length === limit) return { tasks, more: true };
      tasks.push(task);
    }
    return { tasks, more: false };
  }

  async close(): Promise<void> {
    await this.#store.close();
  }

  #remember(task: Task): void {
    this.#tasks.set(task.id, task);
    if ((this.#last.get(task.agent)?.id ?? 0) <= task.id) this.#last.set(task.agent, task);
    if (isUnfinished(task)) this.#unfinished.add(task.id);
    else this.#unfinished.delete(task.id);
  }

  /** Forgets the oldest of the finished tasks. */
  async #forget(most: number, chosen: (task: Task) => boolean): Promise<number> {
    let forgotten = 0;
    while (forgotten < most) {
      const changes: Change[] = [];
      const gone: Task[] = [];
      for (const task of this.#tasks.values()) {
        if (gone.length >= Math.min(FORGOTTEN_AT_ONCE, most - forgotten)) break;
        if (isUnfinished(task) || !chosen(task)) continue;
        changes.push(this.#table.remove(task.id));
        gone.push(task);
      }
      if (gone.length === 0) break;
      await this.#store.commit(changes);
      for (const { id, agent } of gone) {
        this.#tasks.delete(id);
        if (this.#last.get(agent)?.id === id) this.#last.delete(agent);
      }
      forgotten += gone.length;
    }
    return forgotten;
  }
}

function taskTest({ agents, tasks, ...texts }: TaskFilter): (task: Task) => boolean {
  const ofAgents = agents === undefined ? undefined : new Set(agents);
  const withIds = tasks === undefined ? undefined : new Set(tasks);
  const equal = (['command', 'node', 'module', 'status'] as const).flatMap((name) => {
    const wanted = texts[name]?.toLowerCase();
    return wanted === undefined ? [] : [{ name, wanted }];
  });
  return (task) =>
    (ofAgents?.has(task.agent) ?? true) &&
    (withIds?.has(task.id) ?? true) &&
    equal.every(({ name, wanted }) => task[name].toLowerCase() === wanted);
}
