import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { liveProcess } from '../../bin/control/supervisor/live-process.js';
import { callSupervisor } from '../../lib/control/control-client.js';
import { supervisorLock } from '../../lib/control/control-protocol.js';
import { productCatalogue } from '../../lib/control/daemon-catalogue.js';
import { readDaemonStatus } from '../../lib/daemon/daemon-status.js';
import { RunFiles } from '../../lib/daemon/run-files.js';
import { describeError } from '../../lib/log/describe-error.js';
import { isAlive, type ProcessIdentity } from '../../lib/process/process-identity.js';
import { ProcessLock } from '../../lib/process/process-lock.js';
import type { DaemonName } from '../../lib/product/daemon-names.js';
import type { ChaosHome } from './chaos-home.js';
import { endProcessesOfHome, signalProcess } from './processes-of-home.js';
import type { RunClock } from './run-clock.js';
import type { RunLog } from './run-log.js';

/** Daemons that a run needs, and kills. */
export const KILLED = ['svc-analysisd', 'svc-apid', 'svc-logcollector', 'svc-monitord', 'svc-execd'] as const;
export type Killed = (typeof KILLED)[number];

const POLL_MS = 25;
const READY_MS = 60_000;
const COMMAND_MS = 60_000;
const STOP_MS = 45_000;

/** The product on a home, run as a user does: `svc-control run` with its output in a file. */
export class Product {
  readonly #place: ChaosHome;
  readonly #log: RunLog;
  readonly #clock: RunClock;
  readonly #guard: ChildProcess;
  readonly #control = fileURLToPath(productControl());
  #supervisor: ChildProcess | undefined;
  #starting: Promise<void> | undefined;
  #ended = false;

  /** @param clock that its processes go by */
  constructor(place: ChaosHome, log: RunLog, clock: RunClock) {
    this.#place = place;
    this.#log = log;
    this.#clock = clock;
    const { root } = place.home;
    const guard = fileURLToPath(new URL('guard.js', import.meta.url));
    this.#guard = spawn(process.execPath, [guard, dirname(root), basename(root)], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#guard.on('error', (error) => {
      log.say(`the guard does not run: ${error.message}`);
    });
  }

  /** Whether nothing is started any more. */
  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Whether there is a supervisor, or is about to be. `svc-control restart` begins one where there is none: when ours has ended
   * because a daemon was killed while it started.
   */
  get supervised(): boolean {
    return this.#ownSupervisor !== undefined || ProcessLock.holder(supervisorLock(this.#place.home)) !== undefined;
  }

  get #ownSupervisor(): ChildProcess | undefined {
    const child = this.#supervisor;
    return child?.exitCode === null && child.signalCode === null ? child : undefined;
  }

  /** Starts a supervisor; it takes over the daemons that run. @throws Error after `end` */
  startSupervisor(): void {
    this.#checkOpen();
    const output = openSync(this.#place.beside('supervisor.out'), 'a');
    try {
      const child = spawn(process.execPath, [this.#control, 'run', '--home', this.#place.home.root], {
        detached: true,
        env: this.#clock.environment(),
        stdio: ['ignore', output, output],
      });
      child.on('error', (error) => {
        this.#log.say(`the supervisor does not run: ${error.message}`);
      });
      child.on('exit', (code, signal) => {
        this.#log.say(`supervisor ${String(child.pid)} ended: ${String(signal ?? code)}`);
      });
      this.#supervisor = child;
      this.#log.say(`supervisor ${String(child.pid)} started`);
    } finally {
      closeSync(output);
    }
  }

  /** Starts whatever does not run, at once and without the back-off of crashed daemons, as an operator would. */
  startAll(): Promise<void> {
    this.#starting ??= this.#startAll().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** @throws Error when the daemons that the run needs do not come up in time */
  async waitUntilRunning(deadlineMs = READY_MS): Promise<void> {
    const end = performance.now() + deadlineMs;
    for (;;) {
      this.#checkOpen();
      const status = await readDaemonStatus(this.#place.home, KILLED);
      const missing = KILLED.filter((name) => status.get(name)?.state !== 'running');
      if (missing.length === 0) return;
      if (performance.now() > end) throw new Error(`not running after ${String(deadlineMs)} ms: ${missing.join(', ')}`);
      await this.startAll();
      await delay(10 * POLL_MS);
    }
  }

  /** Process of a daemon that runs or starts. */
  processOf(daemon: DaemonName): ProcessIdentity | undefined {
    return liveProcess(new RunFiles(this.#place.home, daemon));
  }

  /** kill -9; false when it does not run. Resolves when the process is gone. */
  async kill(daemon: DaemonName): Promise<boolean> {
    const identity = this.processOf(daemon);
    if (identity === undefined || !signalProcess(identity, 'SIGKILL')) return false;
    this.#log.say(`kill -9 ${daemon} (pid ${String(identity.pid)})`);
    await gone(identity);
    return true;
  }

  /** kill -9 of the supervisor; its daemons live on. */
  async killSupervisor(): Promise<boolean> {
    const holder = ProcessLock.holder(supervisorLock(this.#place.home));
    if (holder === undefined || !signalProcess(holder, 'SIGKILL')) return false;
    this.#log.say(`kill -9 supervisor (pid ${String(holder.pid)})`);
    await gone(holder);
    return true;
  }

  /** kill -9 of everything at once, as when the power fails. */
  async killEverything(): Promise<void> {
    this.#log.say('kill -9 everything');
    await this.killSupervisor();
    await endProcessesOfHome(this.#place.home.root);
  }

  /** Runs `svc-control` with these arguments. @returns its exit code, undefined when it took too long */
  async control(...args: string[]): Promise<number | undefined> {
    this.#checkOpen();
    this.#log.say(`svc-control ${args.join(' ')}`);
    const output = openSync(this.#place.beside('control.out'), 'a');
    const child = spawn(process.execPath, [this.#control, ...args, '--home', this.#place.home.root], {
      env: this.#clock.environment(),
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    const timer = setTimeout(() => child.kill('SIGKILL'), COMMAND_MS);
    try {
      const [code] = (await once(child, 'exit')) as [number | null];
      this.#log.say(`svc-control ${args.join(' ')}: exit code ${String(code)}`);
      return code ?? undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Stops it in order. @throws Error when that does not go well */
  async stop(): Promise<void> {
    if (!this.supervised) throw new Error('no supervisor to stop');
    const child = this.#ownSupervisor;
    if (child === undefined) {
      const exit = await this.control('stop');
      if (exit !== 0) throw new Error(`svc-control stop ended with ${String(exit)}`);
      return;
    }
    const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    child.kill('SIGTERM');
    const result = await Promise.race([ended, delay(STOP_MS, undefined, { ref: false })]);
    if (result === undefined) throw new Error(`the product did not stop within ${String(STOP_MS)} ms`);
    const [code, signal] = result;
    if (code !== 0) throw new Error(`the supervisor ended with ${String(signal ?? code)}`);
  }

  /** Ends every process of the home, whatever state it is in; none is started any more. */
  async end(): Promise<void> {
    this.#ended = true;
    await endProcessesOfHome(this.#place.home.root);
    if (this.#guard.exitCode === null && this.#guard.signalCode === null) {
      const ended = once(this.#guard, 'exit');
      this.#guard.stdin?.end();
      const left = await Promise.race([ended.then(() => false), delay(STOP_MS, true, { ref: false })]);
      if (left) this.#guard.kill('SIGKILL');
    }
  }

  #checkOpen(): void {
    if (this.#ended) throw new Error('the run is over');
  }

  async #startAll(): Promise<void> {
    try {
      if (!this.supervised) this.startSupervisor();
      await callSupervisor(this.#place.home, { command: 'start' }, () => {}, COMMAND_MS);
    } catch (error) {
      this.#log.say(`start: ${describeError(error)}`);
      await delay(4 * POLL_MS);
    }
  }
}

function productControl(): URL {
  const [path = ''] = productCatalogue().control.args;
  return new URL(`file://${path}`);
}

async function gone(identity: ProcessIdentity): Promise<void> {
  while (isAlive(identity)) await delay(POLL_MS);
}
