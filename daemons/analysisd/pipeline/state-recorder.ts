import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import type { LoggedState } from '../../../lib/engine/state-changes.js';
import { StateLog } from '../../../lib/journal/state-log.js';
import { readStateLog, type StateLogFile } from '../../../lib/journal/state-log-file.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import type { Analysis } from '../analysis.js';

const MEBIBYTE = 1024 * 1024;
/** How long changes are encoded before others get their turn, milliseconds. */
const SLICE_MS = 3;
/** How much is written down anew in one turn, in estimated bytes, and the pause until the next, milliseconds. */
const REWRITE_BYTES = 128 * 1024;
const REWRITE_PAUSE_MS = 5;
/** Written down, and not given to the system before a checkpoint. */
const MOST_UNWRITTEN_BYTES = 2 * MEBIBYTE;
/** A log of twice what everything took the last time, and this much more, is begun anew. */
const SPARE_BYTES = 4 * MEBIBYTE;
/** After a failure. */
const RETRY_MS = 30_000;
/** Changes that wait for a disk that does not take them; nothing more is analysed then. */
const MOST_WAITING_BYTES = 64 * MEBIBYTE;

type Work =
  | { readonly part: number; readonly changes: readonly unknown[]; readonly bytes: number }
  /** All before it is in the log. */
  | { readonly reached: () => void; readonly bytes: 0 };

export type StateRecorderParts = {
  /** Of the journal. */
  readonly directory: string;
  readonly logger: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** For tests: how much more than twice what everything took a log has when it is begun anew, in bytes. */
  readonly spareBytes?: number | undefined;
};

/** Whose state is recorded; its parts are always in the same order. */
type RecordedAnalysis = Pick<Analysis, 'logged' | 'isLogFull'>;

/**
 * Keeps the log of the engine's state: takes what its parts note and writes it down, a little at a time, and begins the
 * log anew when it has grown.
 */
export class StateRecorder {
  readonly #parts: StateRecorderParts;
  readonly #files: readonly StateLogFile[];
  readonly #spareBytes: number;
  readonly #failureLog: LimitedLogger;
  #log: StateLog;
  #states: () => readonly LoggedState[] = () => [];
  readonly #work: Work[] = [];
  #workBytes = 0;
  #running: Promise<void> | undefined;
  #rewriting: Promise<void> | undefined;
  /** Whether the log that counts has everything. */
  #isComplete: boolean;
  /** Bytes that everything took when it was written down the last time. */
  #wholeBytes = 0;
  #retryAt = 0;
  #stopped = false;

  /** @param files what the checkpoint of the start says of the log; undefined when it was made without, or there is none */
  constructor(parts: StateRecorderParts, files: readonly StateLogFile[] | undefined) {
    this.#parts = parts;
    this.#failureLog = parts.logger.limited();
    this.#spareBytes = parts.spareBytes ?? SPARE_BYTES;
    this.#files = files ?? [];
    this.#isComplete = files !== undefined;
    this.#log = this.#open(this.#files);
    if (this.#files.length === 1) this.#wholeBytes = Math.floor(this.#log.bytes / 2);
  }

  /**
   * Has the parts of a state make the changes again that are in the log.
   * @throws the system's error when a file cannot be read
   */
  restore(states: readonly LoggedState[]): void {
    const { directory, logger } = this.#parts;
    let failure: string | undefined;
    const damaged = readStateLog(directory, this.#files, (part, payload) => {
      try {
        states[part]?.applyChanges(deserialize(payload) as readonly unknown[]);
      } catch (error) {
        failure ??= describeError(error);
      }
    });
    for (const state of states) state.endChanges();
    const damage = damaged ?? failure;
    if (damage === undefined) return;
    logger.error(`What was remembered of agents is lost in part, their alerts may be repeated: ${damage}.`);
    this.#isComplete = false;
    this.#log = this.#open([]);
  }

  /** Records the state of an analysis, which was restored, from now on. */
  follow(analysis: RecordedAnalysis): void {
    this.#states = () => analysis.logged;
    analysis.isLogFull = () => this.isFull;
    for (const state of this.#states()) state.noteChanges();
  }

  /** Whether so much waits for the disk that nothing more should be analysed. */
  get isFull(): boolean {
    const log = this.#log;
    const noted = this.#states().reduce((sum, state) => sum + state.notedBytes, 0);
    return noted + this.#workBytes + log.waitingBytes > MOST_WAITING_BYTES;
  }

  /** Bytes of the log that count. */
  get bytes(): number {
    return this.#log.bytes;
  }

  /** Writes everything down where the log has not got it: checkpoints need it. A failure is logged, and tried again later. */
  async start(): Promise<void> {
    if (!this.#isComplete) await this.#rewriteUnlessRunning();
  }

  /** To be called each second. */
  tick(): void {
    this.#collect();
    const log = this.#log;
    // What fails is written by the next checkpoint, which tells of it.
    if (log.waitingBytes > MOST_UNWRITTEN_BYTES) log.flush().catch(() => {});
    const isDamaged = !this.#isComplete || log.isLost || log.counting.length > 1;
    const isDue = isDamaged || log.bytes > 2 * this.#wholeBytes + this.#spareBytes;
    if (isDue && !this.#stopped && this.#parts.now() >= this.#retryAt) void this.#rewriteUnlessRunning();
  }

  /**
   * What of the log counts for the state of this moment, when it is written down; safe after a `sync` that is begun then.
   * Undefined while the log has not got everything. Never rejects.
   */
  mark(): Promise<readonly StateLogFile[] | undefined> {
    this.#collect();
    return new Promise((resolve) => {
      const reached = (): void => {
        resolve(this.#isComplete && !this.#log.isLost ? this.#log.counting : undefined);
      };
      this.#do({ reached, bytes: 0 });
    });
  }

  /** Resolves when all that was written down is safe. @throws the system's error */
  sync(): Promise<void> {
    return this.#log.sync();
  }

  /** Ends between two steps; what is not marked is not kept. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#rewriting;
    await this.#running;
    await this.#log.close();
  }

  /** Removes files that these checkpoints' parts of the log do not name, nor what counts now. */
  retain(files: readonly StateLogFile[]): void {
    this.#log.retain(new Set(files.map(({ generation }) => generation)));
  }

  #open(files: readonly StateLogFile[]): StateLog {
    const { directory, logger } = this.#parts;
    const onTrouble = (error: unknown): void => {
      logger.error(`The log of the engine's state has trouble with its files: ${describeError(error)}`);
    };
    return new StateLog({ directory, onTrouble }, files);
  }

  #collect(): void {
    for (const [part, state] of this.#states().entries()) {
      for (const { changes, bytes } of state.takeChanges()) this.#do({ part, changes, bytes });
    }
  }

  #do(work: Work): void {
    this.#work.push(work);
    this.#workBytes += work.bytes;
    this.#running ??= this.#run();
  }

  /** Never rejects, as what is encoded is plain data. What was noted before there is a file is written whole. */
  async #run(): Promise<void> {
    await nextTurn();
    let since = performance.now();
    for (let work = this.#work.shift(); work !== undefined; work = this.#work.shift()) {
      this.#workBytes -= work.bytes;
      if ('reached' in work) work.reached();
      else if (this.#log.hasFile) this.#log.append(work.part, serialize(work.changes));
      if (performance.now() - since < SLICE_MS) continue;
      await nextTurn();
      since = performance.now();
    }
    this.#running = undefined;
  }

  #rewriteUnlessRunning(): Promise<void> {
    this.#rewriting ??= this.#rewrite()
      .catch((error: unknown) => {
        this.#retryAt = this.#parts.now() + RETRY_MS;
        this.#failureLog.error(`The log of the engine's state could not be begun anew: ${describeError(error)}`);
      })
      .finally(() => {
        this.#rewriting = undefined;
      });
    return this.#rewriting;
  }

  /** Begins the next file and writes everything to it once more, while it changes. */
  async #rewrite(): Promise<void> {
    const log = this.#log;
    await log.prepare(this.#wholeBytes);
    if (this.#stopped) return;
    this.#collect();
    const turn = (): void => {
      log.turn();
    };
    this.#do({ reached: turn, bytes: 0 });
    const states = this.#states();
    for (const state of states) state.startRewriting();
    for (const state of states) {
      while (!state.rewrite(REWRITE_BYTES)) {
        this.#collect();
        await delay(REWRITE_PAUSE_MS);
        if (this.#stopped) return;
        if (log.waitingBytes > MOST_UNWRITTEN_BYTES) await log.flush();
      }
    }
    this.#collect();
    await new Promise<void>((resolve) => {
      const reached = (): void => {
        log.dropOlder();
        this.#isComplete = true;
        this.#wholeBytes = log.bytes;
        resolve();
      };
      this.#do({ reached, bytes: 0 });
    });
  }
}
