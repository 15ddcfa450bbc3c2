import { Limiter } from '../../../lib/async/limiter.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import type { Task, TaskRecord } from '../tasks/task-record.js';
import type { TaskStore } from '../tasks/task-store.js';
import { AgentUnreachableError } from './send-package.js';
import { MAX_ATTEMPTS, RETRY_PAUSE_MS } from './upgrade-limits.js';
import { readUpgradeReport } from './upgrade-report.js';

/** What an attempt goes by. */
export type Delivery = {
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Called before the order to install is given. */
  readonly installing: () => Promise<void>;
};

/** Whether the agent will tell how its upgrade went. */
export type DeliveryOutcome = 'told' | 'silent';

export type UpgradeRunnerParts = {
  readonly tasks: TaskStore;
  /** Sends the package of a task and has the agent install it. */
  readonly deliver: (task: Task, delivery: Delivery) => Promise<DeliveryOutcome>;
  /** Has an agent stop telling how its upgrade went. */
  readonly clearResult: (agent: string) => Promise<void>;
  readonly logger: Logger;
  /** Agents that packages are sent to at once. */
  readonly atOnce: number;
  /** `task_timeout`, seconds, as of now: for sending, and then for hearing how it went. */
  readonly timeout: () => number;
  /** Epoch seconds. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

const SECOND_MS = 1000;

/**
 * Carries upgrades out, so many at a time. How far each is stands in the store before it goes on: after a restart what
 * waited waits, a package that was being sent is sent from its beginning, and an agent that was told to install is
 * waited for; it is never told twice.
 */
export class UpgradeRunner {
  readonly #parts: UpgradeRunnerParts;
  readonly #places: Limiter;
  readonly #stopped = new AbortController();
  readonly #running = new Map<number, Promise<void>>();
  readonly #strangeLog: LimitedLogger;

  constructor(parts: UpgradeRunnerParts) {
    this.#parts = parts;
    this.#places = new Limiter({ atOnce: parts.atOnce });
    this.#strangeLog = parts.logger.limited();
  }

  /** Packages that are being sent, and those that wait for it. */
  get counts(): { readonly sending: number; readonly waiting: number } {
    return { sending: this.#places.active, waiting: this.#places.waiting };
  }

  /** Goes on with what is unfinished. */
  async start(): Promise<void> {
    for (const task of this.#parts.tasks.unfinished) {
      const { id, status, work } = task;
      if (work.phase === 'installing') continue;
      if (status === 'In progress' && work.attempts >= MAX_ATTEMPTS) {
        await this.#finish(task, 'Failed', `sending the package was interrupted ${String(work.attempts)} times`);
        continue;
      }
      if (status === 'In progress') await this.#change(id, { status: 'Pending' });
      this.add(id);
    }
  }

  /** Carries a task out as soon as there is room. */
  add(id: number): void {
    if (this.#stopped.signal.aborted) return;
    const running = this.#places
      .run(() => this.#attempt(id), { signal: this.#stopped.signal })
      .catch((error: unknown) => {
        // What waited when the daemon stopped waits in the store.
        if (!this.#stopped.signal.aborted) this.#parts.logger.error(`Task ${id}: ${describeError(error)}`);
      })
      .finally(() => this.#running.delete(id));
    this.#running.set(id, running);
  }

  /** Takes what an agent tells of its upgrade; on disk when it resolves. @throws StoreError: the agent tells it again */
  async report(agent: string, message: Uint8Array): Promise<void> {
    const { tasks, logger } = this.#parts;
    const report = readUpgradeReport(message);
    if (report === undefined) {
      this.#strangeLog.warn(`Agent '${agent}' told something of an upgrade that cannot be read.`);
      return;
    }
    const task = tasks.lastOf(agent);
    // One that came too late tells more than that nothing came in time.
    const isAwaited = task?.work.phase === 'installing' && task.status !== 'Done' && task.status !== 'Failed';
    if (task === undefined || !isAwaited) logger.info(`Agent '${agent}' told of an upgrade that nobody waits for.`);
    else if (report.succeeded) await this.#finish(task, 'Done');
    else await this.#finish(task, 'Failed', report.message === '' ? 'the upgrade failed on the agent' : report.message);
    this.#clear(agent);
  }

  /** Ends tasks whose agents were not heard in time. */
  async expire(): Promise<void> {
    const { tasks, now, timeout } = this.#parts;
    const before = now() - timeout();
    for (const task of tasks.unfinished) {
      if (task.status === 'Pending' || task.updated >= before || this.#running.has(task.id)) continue;
      await this.#finish(task, 'Timeout', 'the agent did not tell in time how its upgrade went');
    }
  }

  /** Breaks off what is being sent; it is begun anew at the next start. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#running.values());
  }

  async #attempt(id: number): Promise<void> {
    const { tasks, deliver, logger, now, timeout } = this.#parts;
    const waiting = tasks.get(id);
    if (waiting?.status !== 'Pending') return;
    const work = { ...waiting.work, phase: 'sending' as const, attempts: waiting.work.attempts + 1 };
    const task = await this.#change(id, { status: 'In progress', work });
    if (task === undefined) return;
    const inTime = AbortSignal.timeout(timeout() * SECOND_MS);
    const signal = AbortSignal.any([this.#stopped.signal, inTime]);
    const installing = async (): Promise<void> => {
      await this.#change(id, { updated: now(), work: { ...work, phase: 'installing' } });
    };
    logger.info(`The package ${work.path} is sent to agent '${task.agent}' (task ${id}).`);
    try {
      signal.throwIfAborted();
      const outcome = await deliver(task, { signal, installing });
      logger.info(`Agent '${task.agent}' installs ${work.path} (task ${id}).`);
      const after = tasks.get(id);
      if (outcome === 'silent' && after?.status === 'In progress') {
        await this.#finish(after, 'Legacy', 'the agent cannot tell how its upgrade went: look at its version');
      }
    } catch (error) {
      await this.#broken(id, error, inTime);
    }
  }

  /** What becomes of a task whose attempt did not come to its end. */
  async #broken(id: number, error: unknown, inTime: AbortSignal): Promise<void> {
    const task = this.#parts.tasks.get(id);
    if (task?.status !== 'In progress') return;
    const { phase, attempts } = task.work;
    const isBrokenOff = this.#stopped.signal.aborted || inTime.aborted;
    // It may have begun to install: it is waited for what it tells.
    if (phase === 'installing' && isBrokenOff) return;
    if (this.#stopped.signal.aborted) {
      await this.#change(id, { status: 'Pending', work: { ...task.work, attempts: attempts - 1 } });
    } else if (inTime.aborted) {
      await this.#finish(task, 'Timeout', 'the package could not be sent in time');
    } else if (error instanceof AgentUnreachableError && attempts < MAX_ATTEMPTS) {
      this.#parts.logger.warn(`The package did not get to agent '${task.agent}' (task ${id}): ${error.message}`);
      await this.#change(id, { status: 'Pending' });
      void this.#again(id, attempts * RETRY_PAUSE_MS);
    } else {
      await this.#finish(task, 'Failed', describeError(error));
    }
  }

  async #again(id: number, pauseMs: number): Promise<void> {
    await this.#parts.sleep(pauseMs, this.#stopped.signal).catch(() => {});
    this.add(id);
  }

  async #finish(task: Task, status: 'Done' | 'Failed' | 'Timeout' | 'Legacy', error = ''): Promise<void> {
    const { logger } = this.#parts;
    await this.#change(task.id, { status, error });
    const text = `Upgrade of agent '${task.agent}' (task ${task.id}): ${status}${error === '' ? '.' : `: ${error}`}`;
    if (status === 'Failed' || status === 'Timeout') logger.warn(text);
    else logger.info(text);
  }

  #change(id: number, change: Partial<TaskRecord>): Promise<Task | undefined> {
    return this.#parts.tasks.change(id, { updated: this.#parts.now(), ...change });
  }

  #clear(agent: string): void {
    const { clearResult, logger } = this.#parts;
    clearResult(agent).catch((error: unknown) => {
      if (this.#stopped.signal.aborted) return;
      logger.debug(
        `Agent '${agent}' was not told that its report has come, it tells it again: ${describeError(error)}`,
      );
    });
  }
}
