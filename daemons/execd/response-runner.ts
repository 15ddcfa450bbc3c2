import { Limiter } from '../../lib/async/limiter.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { Change } from '../../lib/store/commit-queue.js';
import { StoreError } from '../../lib/store/store-error.js';
import type { ActiveResponses } from './active-responses.js';
import { type AddedScript, type DialogueTurn, ResponseDialogue } from './response-dialogue.js';
import { ResponseError } from './response-error.js';
import { parseResponseMessage, type ResponseMessage, scriptLine } from './response-message.js';
import { type ResponsePolicy, RESTART_NAMES } from './response-policy.js';
import type { ResponseStore, StoredRun } from './response-store.js';
import { ResponseUndoer } from './response-undoer.js';
import { runScript, type ScriptEnd } from './run-script.js';

/** Scripts that run at once: one that takes long does not hold the others up, a flood does not fill the host. */
const SCRIPTS_AT_ONCE = 16;
/** Responses accepted whose script has not ended: each is up to 64 KiB. */
const MAX_RUNS = 1000;
/** A response whose script was interrupted by an end of this process is begun once more. */
const MAX_STARTS = 2;
/** When something is tried again that could not be stored. */
const RETRY_MS = 30_000;
/** How often it is looked for what is to be undone: granularity of time-outs (daemons-and-config.md 5.3). */
export const TICK_MS = 1000;

export type ResponseRunnerParts = {
  readonly store: ResponseStore;
  readonly active: ActiveResponses;
  readonly policy: ResponsePolicy;
  /** Directory that scripts run in. */
  readonly directory: string;
  /** Has the supervisor restart what runs on this home. */
  readonly restart: () => void;
  readonly logger: Logger;
  /** Time limit of scripts, milliseconds. */
  readonly maxRunMs?: number;
};

/** What was done since the start. */
export type ResponseCounts = {
  accepted: number;
  refused: number;
  started: number;
  failed: number;
};

/**
 * Carries out active responses on this host (daemons-and-config.md 5.3). What is accepted is on disk before anything is done. A
 * script that asks whether it may go on acts whatever ends this process, and twice when it ended just while the script was told;
 * one that does not ask is begun a second time when this process ended while it ran.
 */
export class ResponseRunner {
  readonly counts: ResponseCounts = { accepted: 0, refused: 0, started: 0, failed: 0 };
  readonly #parts: ResponseRunnerParts;
  readonly #limiter = new Limiter({ atOnce: SCRIPTS_AT_ONCE });
  readonly #stopping = new AbortController();
  readonly #working = new Set<Promise<void>>();
  readonly #dialogue: ResponseDialogue;
  readonly #undoer: ResponseUndoer;
  #waiting = 0;

  constructor(parts: ResponseRunnerParts) {
    this.#parts = parts;
    const { store, active, policy, logger } = parts;
    this.#dialogue = new ResponseDialogue({ store, active, policy, logger });
    const run = (program: string, line: string) => this.#script(program, line);
    this.#undoer = new ResponseUndoer({ store, active, policy, logger, run, lock: this.#dialogue.lock });
  }

  /** Responses accepted whose script has not ended or been let go on, and those in force. */
  get pending(): {
    readonly runs: number;
    readonly scripts: number;
    readonly in_force: number;
    readonly undone: number;
  } {
    const { active } = this.#parts;
    const { active: scripts } = this.#limiter;
    return { runs: this.#waiting, scripts, in_force: active.size, undone: this.#undoer.undone };
  }

  /** Takes up what an earlier process has left, and begins to undo what is due. */
  start(): void {
    const { store, logger } = this.#parts;
    for (const [id, run] of store.runs.entries()) {
      if (run.starts >= MAX_STARTS) {
        logger.error(
          `Active response ${nameOf(run)} is given up: its script was interrupted ${String(run.starts)} times.`,
        );
        this.#drop(id);
        continue;
      }
      if (run.starts > 0) logger.info(`Active response ${nameOf(run)} was interrupted: it is started again.`);
      this.#begin(id, run);
    }
    this.undoDue();
  }

  /** Undoes what is due; to be called every {@link TICK_MS}. */
  undoDue(): void {
    for (const entry of this.#undoer.due()) this.#work(() => this.#undoer.undo(entry));
  }

  /** Resolves when everything that was begun has ended. */
  async idle(): Promise<void> {
    while (this.#working.size > 0) await Promise.all(this.#working);
  }

  /**
   * Takes a message over. Resolves when it is stored; its script comes later.
   * @param beside changes that are to happen with it or not at all, such as the position it was read at
   * @throws ResponseError, which is logged (after `too_many` it may be tried again); StoreError: it is not accepted
   */
  async accept(text: string, beside: readonly Change[] = []): Promise<void> {
    const message = this.#check(text);
    const { id, changes } = this.#parts.store.newRun(JSON.stringify(message.body));
    this.#waiting += 1;
    try {
      await this.#parts.store.commit([...changes, ...beside]);
    } finally {
      this.#waiting -= 1;
    }
    this.counts.accepted += 1;
    this.#begin(id, { message: JSON.stringify(message.body), starts: 0 });
  }

  /** Begins nothing any more and waits for what runs; what is not done then is taken up by the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('svc-execd stops'));
    await this.idle();
  }

  #check(text: string): ResponseMessage {
    try {
      if (this.#waiting >= MAX_RUNS) throw new ResponseError('too_many', 'Too many active responses wait already');
      return this.#parts.policy.accept(parseResponseMessage(text));
    } catch (error) {
      this.counts.refused += 1;
      if (error instanceof ResponseError) this.#parts.policy.logRefusal(error);
      throw error;
    }
  }

  #begin(id: number, run: StoredRun): void {
    this.#waiting += 1;
    this.#work(async () => {
      try {
        await this.#carryOut(id, run);
      } catch (error) {
        // The disk is full, say: it is stored, and done when that is over.
        if (error instanceof StoreError) setTimeout(() => this.#begin(id, run), RETRY_MS).unref();
        throw error;
      } finally {
        this.#waiting -= 1;
      }
    });
  }

  /** Does something when there is room, unless this process ends before. */
  #work(work: () => Promise<void>): void {
    const { signal } = this.#stopping;
    const working = this.#limiter
      .run(work, { signal })
      .catch((error: unknown) => {
        if (signal.aborted) return;
        this.counts.failed += 1;
        this.#parts.logger.error(`An active response cannot be carried out: ${describeError(error)}`);
      })
      .finally(() => {
        this.#working.delete(working);
      });
    this.#working.add(working);
  }

  async #carryOut(id: number, run: StoredRun): Promise<void> {
    const { store, policy } = this.#parts;
    const message = parseResponseMessage(run.message);
    if (RESTART_NAMES.has(message.command)) return this.#restart(id);
    const found = policy.programOf(message);
    if ('problem' in found) {
      // It was there when the message came.
      this.#fail(found.problem);
      return this.#forget(id);
    }
    const begun = { ...run, starts: run.starts + 1 };
    await store.commit([store.runs.put(id, begun)]);
    await this.#add({ id, run: begun, message, ...found });
  }

  async #add(added: AddedScript): Promise<void> {
    const { id, message, program } = added;
    const turn = this.#dialogue.open(added);
    try {
      await this.#script(program, scriptLine(message, 'add', program), turn);
    } catch (error) {
      this.#fail(describeError(error));
    } finally {
      turn.close();
    }
    // What was told to go on or was sent away has left the store already.
    if (!turn.settled) await this.#forget(id);
  }

  /** Runs a program and says how that went. @throws ScriptStartError; what `ask` throws @returns whether it went well */
  async #script(program: string, line: string, turn?: Pick<DialogueTurn, 'ask' | 'told'>): Promise<boolean> {
    const { directory, maxRunMs, logger } = this.#parts;
    this.counts.started += 1;
    logger.debug(`Executing command '${program} ${line}'`);
    const dialogue = turn === undefined ? {} : { ask: turn.ask, told: turn.told };
    const limit = maxRunMs === undefined ? {} : { maxMs: maxRunMs };
    const end = await runScript({ program, directory, line, ...dialogue, ...limit });
    const problem = problemOf(end);
    if (problem === undefined) return true;
    this.#fail(`Active response '${program}' ${problem}`);
    return false;
  }

  /** The restart ends this process, too: it must not be found again by the next one. */
  async #restart(id: number): Promise<void> {
    await this.#forget(id);
    this.#parts.logger.info('An active response asks for a restart.');
    this.#parts.restart();
  }

  #fail(problem: string): void {
    this.counts.failed += 1;
    this.#parts.logger.warn(problem);
  }

  async #forget(id: number): Promise<void> {
    const { store } = this.#parts;
    await store.commit([store.runs.remove(id)]);
  }

  #drop(id: number): void {
    this.#work(() => this.#forget(id));
  }
}

function problemOf({ code, late, complaint }: ScriptEnd): string | undefined {
  const why = complaint === '' ? '' : `: ${complaint}`;
  if (late) return `took too long and was ended${why}`;
  if (code === undefined) return `was ended by a signal${why}`;
  return code === 0 ? undefined : `failed with code ${String(code)}${why}`;
}

function nameOf({ message }: StoredRun): string {
  try {
    return `'${parseResponseMessage(message).command}'`;
  } catch {
    return 'of an unknown kind';
  }
}
