import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { waitUntil } from '../../../lib/async/wait-until.js';
import type { Program } from '../../../lib/control/daemon-catalogue.js';
import { HEARTBEAT_MAX_AGE_MS, heartbeatAge } from '../../../lib/daemon/heartbeat.js';
import { RunFiles } from '../../../lib/daemon/run-files.js';
import { readRunRecord } from '../../../lib/daemon/run-record.js';
import { makeOwnFile, writeOwnFile } from '../../../lib/files/open-own-file.js';
import { isBelieved, readRunFile } from '../../../lib/files/read-run-file.js';
import { removeTree } from '../../../lib/files/remove-tree.js';
import type { Home } from '../../../lib/home/home.js';
import type { Logger } from '../../../lib/log/logger.js';
import { identityOf, isAlive, type ProcessIdentity } from '../../../lib/process/process-identity.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { readDebugFlags } from '../debug-switch.js';
import { allocateSparingly } from './allocate-sparingly.js';
import { endProcess, liveProcess, removeLeftovers, type StopOutcome } from './live-process.js';
import { RestartDelay } from './restart-delay.js';

/** Time a daemon has to become ready (daemons-and-config.md 3.1: 60 polls of 1 s). */
const READY_WAIT_MS = 60_000;

/** Poll for readiness, and for the end of a daemon that this supervisor did not start itself. */
const READY_POLL_MS = 25;
const ADOPTED_POLL_MS = 500;

/**
 * A daemon without a heartbeat for this long hangs for good: its event loop turns each second even under load, and
 * loading a ruleset of thousands of rules blocks it for seconds at most.
 */
const HUNG_AFTER_MS = 60_000;

/** Most characters of a dead daemon's last words that are logged. */
const MAX_LAST_WORDS = 2000;

/** How a process ended; a signal is another's doing, an exit its own. */
type ProcessEnd = { readonly how: string; readonly isKilled: boolean };

/** Whether a process became ready, or why not. */
type Attempt = { readonly pid: number } | { readonly reason: string; readonly isKilled: boolean };

/** How a start went. */
export type StartOutcome =
  | { readonly kind: 'started'; readonly pid: number }
  | { readonly kind: 'already-running'; readonly pid: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** What `status` shows beyond `var/run`. */
export type SupervisedState = {
  readonly wanted: boolean;
  /** Unasked ends since the supervisor took it over. */
  readonly restarts: number;
  /** Milliseconds until the next try; only while one is pending. */
  readonly nextTryMs?: number;
  /** Why the last try or run ended. */
  readonly lastFailure?: string;
};

/** One daemon under the supervisor: started, watched, started again with back-off, stopped. */
export class SupervisedDaemon {
  readonly name: DaemonName;
  readonly #home: Home;
  readonly #files: RunFiles;
  readonly #program: Program;
  readonly #logger: Logger;
  readonly #foreground: boolean;
  readonly #delay = new RestartDelay();
  #wanted = false;
  #restarts = 0;
  #lastFailure: string | undefined;
  #process: ProcessIdentity | undefined;
  #readySince: number | undefined;
  #retry: { readonly timer: NodeJS.Timeout; readonly at: number } | undefined;
  #adoptedTimer: NodeJS.Timeout | undefined;
  #starting: Promise<StartOutcome> | undefined;

  /** @param foreground whether the daemon's log lines also go to this process's standard error */
  constructor(name: DaemonName, home: Home, program: Program, logger: Logger, foreground: boolean) {
    this.name = name;
    this.#home = home;
    this.#files = new RunFiles(home, name);
    this.#program = program;
    this.#logger = logger;
    this.#foreground = foreground;
  }

  state(): SupervisedState {
    return {
      wanted: this.#wanted,
      restarts: this.#restarts,
      ...(this.#retry === undefined ? {} : { nextTryMs: Math.max(0, Math.round(this.#retry.at - performance.now())) }),
      ...(this.#lastFailure === undefined ? {} : { lastFailure: this.#lastFailure }),
    };
  }

  /** Whether its process lives. */
  get alive(): boolean {
    return this.#process !== undefined;
  }

  /**
   * Takes over a daemon that outlived an earlier supervisor, or was started by hand.
   * @returns its pid, undefined when none lives
   */
  adopt(): number | undefined {
    if (this.#process !== undefined) return this.#process.pid;
    const live = liveProcess(this.#files);
    if (live === undefined) return undefined;
    this.#wanted = true;
    this.#process = live;
    this.#readySince = performance.now();
    this.#adoptedTimer = setInterval(() => {
      if (isAlive(live)) return;
      clearInterval(this.#adoptedTimer);
      this.#adoptedTimer = undefined;
      this.#onEnd(live, 'it is gone');
    }, ADOPTED_POLL_MS);
    return live.pid;
  }

  /** Starts it and waits until it is ready or has failed; a failed one is tried again later with back-off. */
  async start(): Promise<StartOutcome> {
    const adopted = this.#starting === undefined ? this.adopt() : undefined;
    if (adopted !== undefined) return { kind: 'already-running', pid: adopted };
    this.#wanted = true;
    this.#delay.reset();
    return this.#tryStart();
  }

  /** Ends it, also in the middle of a start, and leaves it alone from now on. */
  async stop(): Promise<StopOutcome> {
    this.abandon();
    this.#lastFailure = undefined;
    const live = this.#process ?? liveProcess(this.#files);
    const outcome = live === undefined ? 'not-running' : await endProcess(live);
    await this.#starting;
    clearInterval(this.#adoptedTimer);
    this.#adoptedTimer = undefined;
    this.#process = undefined;
    removeLeftovers(this.#home, this.name);
    removeTree(this.#files.failedMarker());
    return outcome;
  }

  /** Kills it when it lives and its heartbeat has stopped for a minute; it is then started again like a crashed one. */
  endIfHung(): void {
    const live = this.#process;
    if (live === undefined || this.#readySince === undefined || !this.#wanted) return;
    const age = heartbeatAge(this.#files.heartbeat(), live.pid);
    if (age === undefined || age < HUNG_AFTER_MS || !isAlive(live)) return;
    this.#logger.error(
      `${this.name} (pid ${live.pid}) has not answered for ${Math.round(age / 1000)} s and is killed.`,
    );
    process.kill(live.pid, 'SIGKILL');
  }

  /** It is not started again when it ends, until the next `start`. */
  abandon(): void {
    this.#wanted = false;
    this.#clearRetry();
  }

  #tryStart(): Promise<StartOutcome> {
    this.#starting ??= this.#startOnce().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** One that is killed before it is ready is started again at once: its end says nothing about how it would have gone. */
  async #startOnce(): Promise<StartOutcome> {
    this.#clearRetry();
    let attempt = await this.#attempt();
    if ('isKilled' in attempt && attempt.isKilled && this.#wanted) {
      this.#logger.warn(`${this.name} was ended before it was ready and is started again: ${attempt.reason}`);
      attempt = await this.#attempt();
    }
    return 'pid' in attempt ? { kind: 'started', pid: attempt.pid } : this.#onFailedStart(attempt.reason);
  }

  async #attempt(): Promise<Attempt> {
    removeTree(this.#files.failedMarker());
    removeTree(this.#files.exit());
    removeLeftovers(this.#home, this.name);
    writeOwnFile(this.#files.startMarker(), '');
    try {
      const child = this.#spawn();
      const end = endOf(child);
      const identity = child.pid === undefined ? undefined : identityOf(child.pid);
      this.#process = identity;
      const failure = await this.#ready(child, end);
      if (failure === undefined && identity !== undefined) {
        this.#readySince = performance.now();
        this.#lastFailure = undefined;
        void end.then(({ how }) => this.#onEnd(identity, how));
        return { pid: identity.pid };
      }
      this.#process = undefined;
      return { reason: this.#lastWords(failure?.how ?? 'it ended at once'), isKilled: failure?.isKilled ?? false };
    } catch (error) {
      return { reason: error instanceof Error ? error.message : String(error), isKilled: false };
    } finally {
      removeTree(this.#files.startMarker());
    }
  }

  #onFailedStart(reason: string): StartOutcome {
    this.#lastFailure = reason;
    removeLeftovers(this.#home, this.name);
    if (this.#wanted) {
      writeOwnFile(this.#files.failedMarker(), `${reason}\n`);
      const delay = this.#scheduleRetry(0);
      this.#logger.error(`${this.name} did not start correctly (next try in ${delay / 1000} s): ${reason}`);
    }
    return { kind: 'failed', reason };
  }

  #spawn(): ChildProcess {
    const stderr = this.#foreground ? ('inherit' as const) : makeOwnFile(this.#files.standardError());
    try {
      // A process group of its own: Ctrl+C reaches the supervisor alone, which stops the daemons in order.
      const { NOTIFY_SOCKET: _notify, ...environment } = process.env;
      return spawn(
        this.#program.command,
        [
          ...this.#program.args,
          '--home',
          this.#home.root,
          ...(this.#foreground ? ['-f'] : []),
          ...readDebugFlags(this.#home),
        ],
        {
          cwd: this.#home.root,
          env: allocateSparingly(environment),
          detached: true,
          stdio: ['ignore', 'ignore', stderr],
        },
      );
    } finally {
      if (typeof stderr === 'number') closeSync(stderr);
    }
  }

  /** @returns why it did not become ready, undefined when it did */
  async #ready(child: ChildProcess, end: Promise<ProcessEnd>): Promise<ProcessEnd | undefined> {
    let ended: ProcessEnd | undefined;
    void end.then((how) => {
      ended = how;
    });
    const decided = (): boolean => this.#isReady(child) || ended !== undefined;
    await waitUntil(decided, { everyMs: READY_POLL_MS, mostMs: READY_WAIT_MS });
    if (ended !== undefined || this.#isReady(child)) return ended;
    child.kill('SIGKILL');
    await end;
    return { how: `not ready within ${READY_WAIT_MS / 1000} s`, isKilled: false };
  }

  #isReady({ pid }: ChildProcess): boolean {
    const record = readRunRecord(this.#files.record());
    if (record === undefined || record.pid !== pid) return false;
    const age = heartbeatAge(this.#files.heartbeat(), record.pid);
    return age !== undefined && age <= HEARTBEAT_MAX_AGE_MS;
  }

  #onEnd(identity: ProcessIdentity, how: string): void {
    if (this.#process !== identity) return;
    this.#process = undefined;
    const ranMs = this.#readySince === undefined ? 0 : performance.now() - this.#readySince;
    this.#readySince = undefined;
    if (!this.#wanted) return;
    const reason = this.#lastWords(how);
    this.#lastFailure = reason;
    this.#restarts += 1;
    removeLeftovers(this.#home, this.name);
    const delay = this.#scheduleRetry(ranMs);
    this.#logger.error(`${this.name} (pid ${identity.pid}) ended and is started again in ${delay / 1000} s: ${reason}`);
  }

  #scheduleRetry(ranMs: number): number {
    this.#clearRetry();
    const delay = this.#delay.next(ranMs);
    const timer = setTimeout(() => {
      this.#retry = undefined;
      if (!this.#wanted) return;
      if (this.adopt() !== undefined) return;
      void this.#tryStart().then((outcome) => {
        if (outcome.kind === 'started') this.#logger.info(`${this.name} runs again (pid ${outcome.pid}).`);
      });
    }, delay);
    this.#retry = { timer, at: performance.now() + delay };
    return delay;
  }

  #clearRetry(): void {
    clearTimeout(this.#retry?.timer);
    this.#retry = undefined;
  }

  /** The reason the daemon gave itself, else what it wrote to standard error, else how it ended. */
  #lastWords(how: string): string {
    try {
      const exit: unknown = JSON.parse(readRunFile(this.#files.exit()).text);
      if (typeof exit === 'object' && exit !== null && 'message' in exit && typeof exit.message === 'string') {
        return exit.message;
      }
    } catch {
      // It did not end by itself.
    }
    if (this.#foreground) return how;
    try {
      const path = this.#files.standardError();
      const { text, writer } = readRunFile(path);
      const words = isBelieved(path, writer) ? text.trim().slice(-MAX_LAST_WORDS) : '';
      return words === '' ? how : `${how}: ${words}`;
    } catch {
      return how;
    }
  }
}

function endOf(child: ChildProcess): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ how: `cannot be run: ${error.message}`, isKilled: false }));
    child.once('exit', (code, signal) => {
      const isKilled = signal !== null;
      resolve({ how: isKilled ? `signal ${signal}` : `exit code ${code ?? 0}`, isKilled });
    });
  });
}
