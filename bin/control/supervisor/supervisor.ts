import { Limiter } from '../../../lib/async/limiter.js';
import { pause } from '../../../lib/async/pause.js';
import type { ControlRequest, ProgressEvent, SupervisorReport } from '../../../lib/control/control-protocol.js';
import { type DaemonCatalogue, selectDaemons, startPhases, stopPhases } from '../../../lib/control/daemon-catalogue.js';
import type { Home } from '../../../lib/home/home.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { productVersion } from '../../../lib/product/version.js';
import { reloadDaemon } from './live-process.js';
import { type StartOutcome, SupervisedDaemon } from './supervised-daemon.js';

/** What a supervisor is made of. */
export type SupervisorParts = {
  readonly home: Home;
  readonly catalogue: DaemonCatalogue;
  /** Daemons of the home in start order. */
  readonly order: readonly DaemonName[];
  /** Daemons that should run by configuration, read anew for each command. */
  readonly wanted: () => ReadonlySet<DaemonName>;
  /** Replaces the main configuration. @throws ConfigurationRefusedError */
  readonly configure: (text: string) => Promise<void>;
  readonly logger: Logger;
  /** Whether daemons log to this process's standard error, too. */
  readonly foreground: boolean;
  /** Called when daemons are about to take their configuration over: in a start, a restart, a reload. */
  readonly onConfigure: (daemons: readonly DaemonName[]) => void;
  /** Called after a command that left nothing to supervise. */
  readonly onIdle: () => void;
};

/**
 * A receiver that takes longer does not hold up the others: they wait for it themselves, and say so. Before that nobody has
 * anything to complain of, on a busy machine either.
 */
const RECEIVER_WAIT_MS = 30_000;

/** Starts, watches and stops the daemons of a home. Commands are carried out one after another. */
export class Supervisor {
  readonly #parts: SupervisorParts;
  readonly #daemons = new Map<DaemonName, SupervisedDaemon>();
  readonly #startedAt = Date.now();
  readonly #commands = new Limiter({ atOnce: 1 });
  #closing = false;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    for (const name of parts.order) {
      const program = parts.catalogue.program(name);
      if (program !== undefined) {
        this.#daemons.set(name, new SupervisedDaemon(name, parts.home, program, parts.logger, parts.foreground));
      }
    }
  }

  /** Takes over daemons that live already. @returns their names */
  adopt(): DaemonName[] {
    const adopted: DaemonName[] = [];
    for (const daemon of this.#daemons.values()) {
      const pid = daemon.adopt();
      if (pid === undefined) continue;
      adopted.push(daemon.name);
      this.#parts.logger.info(`Took over ${daemon.name} (pid ${pid}).`);
    }
    return adopted;
  }

  /** Carries a command out. @throws Error with one clear message */
  handle(request: ControlRequest, progress: (event: ProgressEvent) => void): Promise<SupervisorReport | undefined> {
    // Questions are answered at once, also while a command takes its time.
    if (request.command === 'ping' || request.command === 'status') return Promise.resolve(this.report());
    return this.#commands.run(() => {
      if (this.#closing) throw new Error('the supervisor is stopping');
      return this.#carryOut(request, progress);
    });
  }

  /** Stops everything at once, also in the middle of a command; later ones are refused. */
  async shutdown(): Promise<void> {
    this.#closing = true;
    await this.#stop([...this.#daemons.values()], () => {});
  }

  /** Ends daemons that hang, see {@link SupervisedDaemon.endIfHung}. */
  endHungDaemons(): void {
    for (const daemon of this.#daemons.values()) daemon.endIfHung();
  }

  report(): SupervisorReport {
    const daemons = Object.fromEntries([...this.#daemons].map(([name, daemon]) => [name, daemon.state()]));
    return { pid: process.pid, startedAt: this.#startedAt, version: productVersion(), daemons };
  }

  async #carryOut(request: ControlRequest, progress: (event: ProgressEvent) => void): Promise<undefined> {
    if (request.command === 'configure') return this.#parts.configure(request.text).then(() => undefined);
    const selected = this.#select(request);
    switch (request.command) {
      case 'start':
        await this.#start(selected, progress);
        break;
      case 'stop':
        await this.#stop(selected, progress);
        break;
      case 'restart':
        await this.#stop(selected, progress);
        await this.#start(request.daemons === undefined ? this.#select({ command: 'start' }) : selected, progress);
        break;
      case 'reload':
        await this.#reload(selected, progress);
        break;
      case 'ping':
      case 'status':
        break;
    }
    if (request.command === 'stop' && ![...this.#daemons.values()].some((daemon) => daemon.state().wanted)) {
      this.#parts.onIdle();
    }
  }

  #select(request: Exclude<ControlRequest, { command: 'configure' }>): SupervisedDaemon[] {
    const { order } = this.#parts;
    let names: readonly DaemonName[];
    if (request.daemons !== undefined) names = selectDaemons(order, request.daemons);
    else if (request.command === 'start') names = order.filter((name) => this.#parts.wanted().has(name));
    else names = order;
    return names.flatMap((name) => {
      const daemon = this.#daemons.get(name);
      if (daemon !== undefined) return [daemon];
      if (request.daemons !== undefined) throw new Error(`${name} is not available in this version`);
      return [];
    });
  }

  /** Receivers first, so that the others find them; within a group all at once. Reported in start order. */
  async #start(daemons: readonly SupervisedDaemon[], progress: (event: ProgressEvent) => void): Promise<void> {
    this.#parts.onConfigure(daemons.map(({ name }) => name));
    const started = new Map<DaemonName, Promise<StartOutcome>>();
    for (const phase of startPhases(daemons.map(({ name }) => name))) {
      // A shutdown during the wait for an earlier group ends the start here.
      if (this.#closing) break;
      const group = daemons.filter(({ name }) => phase.includes(name));
      const outcomes = group.map((daemon) => {
        const outcome = daemon.start();
        started.set(daemon.name, outcome);
        return outcome;
      });
      await Promise.race([Promise.all(outcomes), pause(RECEIVER_WAIT_MS, undefined, { ref: false })]);
    }
    const outcomes = daemons.map((daemon) => ({
      daemon,
      outcome: started.get(daemon.name) ?? Promise.resolve({ kind: 'failed' as const, reason: 'stopped before' }),
    }));
    for (const { daemon, outcome } of outcomes) {
      const result = await outcome;
      if (result.kind === 'failed') {
        progress({ daemon: daemon.name, event: 'start-failed', reason: result.reason });
      } else {
        if (result.kind === 'started') this.#parts.logger.info(`Started ${daemon.name} (pid ${result.pid}).`);
        progress({ daemon: daemon.name, event: result.kind, pid: result.pid });
      }
    }
  }

  async #stop(daemons: readonly SupervisedDaemon[], progress: (event: ProgressEvent) => void): Promise<void> {
    // Stop order is the reverse of start order.
    const order = [...daemons].reverse();
    const running = new Set<DaemonName>();
    for (const daemon of order) {
      daemon.adopt();
      if (daemon.alive) running.add(daemon.name);
      progress({ daemon: daemon.name, event: daemon.alive ? 'stopping' : 'not-running' });
    }
    // Nobody is started again while others are still being stopped.
    for (const daemon of order) daemon.abandon();
    for (const phase of stopPhases(order.map(({ name }) => name))) {
      // All of a phase get their signal before the first is waited for.
      const outcomes = order
        .filter(({ name }) => phase.includes(name))
        .map((daemon) => ({ name: daemon.name, outcome: daemon.stop() }));
      for (const { name, outcome } of outcomes) {
        const result = await outcome;
        if (!running.has(name)) continue;
        this.#parts.logger.info(`${result === 'killed' ? 'Killed' : 'Stopped'} ${name}.`);
        progress({ daemon: name, event: result === 'killed' ? 'killed' : 'stopped' });
      }
    }
  }

  async #reload(daemons: readonly SupervisedDaemon[], progress: (event: ProgressEvent) => void): Promise<void> {
    this.#parts.onConfigure(daemons.map(({ name }) => name));
    const outcomes = daemons.map((daemon) => ({
      daemon,
      outcome: reloadDaemon(this.#parts.home, daemon.name).catch((error: unknown) => ({
        kind: 'refused' as const,
        reason: error instanceof Error ? error.message : String(error),
      })),
    }));
    for (const { daemon, outcome } of outcomes) {
      const result = await outcome;
      if (result.kind === 'reloaded') {
        progress({ daemon: daemon.name, event: 'reloaded', restartNeeded: [...result.restartNeeded] });
      } else if (result.kind === 'refused') {
        progress({ daemon: daemon.name, event: 'reload-refused', reason: result.reason });
      } else {
        progress({ daemon: daemon.name, event: 'not-running' });
      }
    }
  }
}
