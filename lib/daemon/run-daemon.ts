import { rmSync } from 'node:fs';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { writeOwnFile } from '../files/open-own-file.js';
import type { Home } from '../home/home.js';
import { HomeError, type HomeRecord, type HomeRole, readHomeRecord } from '../home/home-record.js';
import { resolveHome } from '../home/resolve-home.js';
import { describeError } from '../log/describe-error.js';
import { dropPrivileges } from '../process/drop-privileges.js';
import { ownIdentity } from '../process/process-identity.js';
import { LockHeldError, ProcessLock } from '../process/process-lock.js';
import type { DaemonName } from '../product/daemon-names.js';
import { productVersion, versionText } from '../product/version.js';
import { checkOwnSections } from './check-own-sections.js';
import { type DaemonFlags, type OwnFlagValues, parseDaemonFlags } from './daemon-flags.js';
import { DaemonLogger, LogOutput } from './daemon-logger.js';
import type { DaemonContext, DaemonSpec, DaemonTask, RunningDaemon } from './daemon-spec.js';
import { configuredDebugLevel } from './debug-level.js';
import { HEARTBEAT_INTERVAL_MS, HeartbeatWriter } from './heartbeat.js';
import { logTargets } from './log-targets.js';
import { failureMessages, logMessage, runCheck, withoutRepeats } from './run-check.js';
import { RunFiles } from './run-files.js';
import { type RunRecord, writeRunRecord } from './run-record.js';

/** Group members read, others see nothing (daemons-and-config.md 3.11). */
const UMASK = 0o027;

/** How long a daemon may drain after SIGTERM; with what the process needs to end, 5 s are kept. */
const STOP_DEADLINE_MS = 4500;

/** A problem that stays is logged again after this time. */
const PROBLEM_REPEAT_MS = 60_000;

const SIGNAL_TEXT: Readonly<Record<string, string>> = {
  SIGTERM: 'Terminated',
  SIGINT: 'Interrupt',
  SIGQUIT: 'Quit',
  SIGALRM: 'Alarm clock',
};

/**
 * The life of a daemon: flags, home, configuration check, privileges, lock and pid file, logging, signals, heartbeat,
 * end (daemons-and-config.md 3.5). It returns when the process is about to exit by itself only for `-V`, `-h` and
 * `-t`; otherwise the process lives until a signal, `fatal` or an uncaught error ends it.
 * @param args of the command line, without node and script
 */
export async function runDaemon(spec: DaemonSpec, args: readonly string[] = process.argv.slice(2)): Promise<void> {
  // A reader that went away (`svc-x -f | head`) must not end a daemon.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});

  const parsed = parseDaemonFlags(spec.name, args, spec.ownFlags);
  if (parsed.kind === 'done') {
    process.exitCode = parsed.exitCode;
    return;
  }
  if (parsed.kind === 'version') {
    process.stdout.write(`${versionText(spec.name)}\n`);
    return;
  }

  const { flags, own } = parsed;
  const home = resolveHome(flags.home);
  let record: HomeRecord;
  try {
    record = readHomeRecord(home);
    if (flags.configuration !== undefined) checkConfigurationFile(home, flags.configuration);
    process.chdir(home.root);
    process.umask(UMASK);
    // A check by root reads no file of the service user as root either; anybody else may only look.
    if (!flags.test || process.geteuid?.() === 0) dropPrivileges(spec.name, record, flags);
  } catch (error) {
    process.stderr.write(`${spec.name}: ${describeError(error)}\n`);
    process.exit(1);
  }

  if (flags.test) process.exit(testConfiguration(spec, home, record.role, flags, own));
  const task = spec.task?.(own);
  if (task !== undefined) {
    process.exitCode = await runTask(spec.name, home, task);
    return;
  }
  const lifecycle = new Lifecycle(spec, home, record, flags, own);
  await lifecycle.start();
}

async function runTask(name: DaemonName, home: Home, task: DaemonTask): Promise<0 | 1> {
  let lock: ProcessLock | undefined;
  try {
    lock = ProcessLock.acquire(new RunFiles(home, name).lock());
    await task(home);
    return 0;
  } catch (error) {
    const held = error instanceof LockHeldError;
    process.stderr.write(
      held ? `${name} is starting or stopping (pid ${error.holder.pid})\n` : `${describeError(error)}\n`,
    );
    return 1;
  } finally {
    lock?.release();
  }
}

/**
 * Scripts for the reference pass `-c etc/ossec.conf`. The home's main configuration is the only one there is, so
 * another file is refused instead of ignored.
 * @throws HomeError
 */
function checkConfigurationFile(home: Home, file: string): void {
  const path = resolve(home.root, file);
  if (path !== home.path('etc', 'manager.conf') && path !== home.path('etc', 'ossec.conf')) {
    throw new HomeError(`-c ${file}: only the main configuration of the home can be used (etc/manager.conf)`);
  }
}

/** `-t`: says only what is wrong, and what has no effect, on standard error. */
function testConfiguration(
  spec: DaemonSpec,
  home: Home,
  role: HomeRole,
  flags: DaemonFlags,
  own: OwnFlagValues,
): 0 | 1 {
  const output = new LogOutput(home, { plain: false, json: false, stderr: true }, flags.debugLevel ?? 0);
  const logger = new DaemonLogger(output, spec.name);
  const outcome = runCheck(spec.check, spec.name, home, own, (text) => logger.debug(text));
  const sections = checkOwnSections(spec.name, home, role);
  for (const message of withoutRepeats([...outcome.messages, ...sections.messages])) logMessage(logger, message);
  return outcome.failed || sections.failed ? 1 : 0;
}

function logFailure(logger: DaemonLogger, error: unknown, level: 'error' | 'critical'): void {
  const messages = failureMessages(error, level);
  // What the user's files are to blame for needs no stack.
  const fields = messages.some(({ closing }) => closing === true) ? undefined : { err: error };
  for (const message of messages) logMessage(logger, message, fields);
}

class Lifecycle {
  readonly #spec: DaemonSpec;
  readonly #ownFlags: OwnFlagValues;
  readonly #home: Home;
  readonly #files: RunFiles;
  readonly #output: LogOutput;
  readonly #logger: DaemonLogger;
  #lock: ProcessLock | undefined;
  #heartbeat: HeartbeatWriter | undefined;
  #record: RunRecord | undefined;
  #running: RunningDaemon | undefined;
  #problem: { readonly text: string; readonly timer: NodeJS.Timeout } | undefined;
  #reloading: Promise<readonly string[]> | undefined;
  #nextReload: Promise<readonly string[]> | undefined;
  #stopSignal: NodeJS.Signals | undefined;
  #ending = false;

  constructor(spec: DaemonSpec, home: Home, record: HomeRecord, flags: DaemonFlags, own: OwnFlagValues) {
    this.#spec = spec;
    this.#ownFlags = own;
    this.#home = home;
    this.#files = new RunFiles(home, spec.name);
    const owner =
      process.geteuid?.() === 0 && record.uid !== undefined && record.gid !== undefined
        ? { uid: record.uid, gid: record.gid }
        : undefined;
    this.#output = new LogOutput(
      home,
      logTargets(home, flags.foreground),
      flags.debugLevel ?? configuredDebugLevel(home, spec.name),
      owner,
    );
    this.#logger = new DaemonLogger(this.#output, spec.name);
  }

  async start(): Promise<void> {
    try {
      this.#lock = ProcessLock.acquire(this.#files.lock());
      this.#output.open();
    } catch (error) {
      this.#lock?.release();
      const reason =
        error instanceof LockHeldError
          ? `is already running (pid ${error.holder.pid})`
          : `cannot start: ${describeError(error)}`;
      process.stderr.write(`${this.#spec.name} ${reason}\n`);
      process.exit(1);
    }

    process.on('uncaughtException', (error) => this.#fatal(error));
    process.on('unhandledRejection', (reason) => this.#fatal(reason));
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGALRM'] as const) {
      process.on(signal, () => this.#onStopSignal(signal));
    }
    process.on('SIGHUP', () => this.#onReloadSignal());
    process.on('SIGPIPE', () => {});

    try {
      rmSync(this.#files.exit(), { force: true });
      writeOwnFile(this.#files.pid(process.pid), `${process.pid}\n`);
      this.#running = await this.#spec.build(this.#context());
      // Whoever sees that it runs finds that in the log.
      this.#logger.info(`Started (pid: ${process.pid}).`);
      this.#becomeReady(this.#running);
    } catch (error) {
      this.#fatal(error);
      return;
    }
    if (this.#stopSignal !== undefined) await this.#stop(this.#running);
  }

  #context(): DaemonContext {
    return {
      name: this.#spec.name,
      home: this.#home,
      logger: this.#logger,
      ownFlags: this.#ownFlags,
      debugLevel: this.#output.debugLevel,
      moduleLogger: (module) => this.#logger.tagged(`${this.#spec.name}:${module}`),
      fatal: (error) => this.#fatal(error),
      setProblem: (problem) => this.#setProblem(problem),
      reload: async () => {
        if (this.#running === undefined || this.#stopSignal !== undefined) {
          throw new Error(`${this.#spec.name} is starting or stopping`);
        }
        return this.#requestReload(this.#running);
      },
    };
  }

  /** Addresses are in place before the first heartbeat, so whoever sees the daemon running finds its ports. */
  #becomeReady(running: RunningDaemon): void {
    this.#record = {
      daemon: this.#spec.name,
      ...ownIdentity(),
      startedAt: Date.now(),
      version: productVersion(),
      addresses: { ...running.addresses },
      ...(this.#problem === undefined ? {} : { problem: this.#problem.text }),
    };
    writeRunRecord(this.#files.record(), this.#record);
    const heartbeat = new HeartbeatWriter(this.#files.heartbeat());
    heartbeat.beat();
    this.#heartbeat = heartbeat;
    setInterval(() => heartbeat.beat(), HEARTBEAT_INTERVAL_MS);
  }

  #setProblem(problem: string | undefined): void {
    if (this.#problem?.text === problem) return;
    if (this.#problem !== undefined) clearInterval(this.#problem.timer);
    this.#problem = undefined;
    if (problem !== undefined) {
      this.#logger.error(problem);
      const timer = setInterval(() => this.#logger.error(problem), PROBLEM_REPEAT_MS);
      timer.unref();
      this.#problem = { text: problem, timer };
    }
    this.#updateRecord({ problem });
  }

  #updateRecord(change: { readonly problem?: string | undefined; readonly reload?: RunRecord['reload'] }): void {
    if (this.#record === undefined) return;
    const { problem, ...rest } = { ...this.#record, ...change };
    this.#record = problem === undefined ? rest : { ...rest, problem };
    try {
      writeRunRecord(this.#files.record(), this.#record);
    } catch (error) {
      this.#logger.error(`Unable to write '${this.#files.record()}': ${describeError(error)}`);
    }
  }

  #onReloadSignal(): void {
    if (this.#running === undefined || this.#stopSignal !== undefined) return;
    // The outcome is logged and recorded where the reload runs.
    this.#requestReload(this.#running).catch(() => {});
  }

  /** One reload at a time; requests that come during one share the next. */
  #requestReload(running: RunningDaemon): Promise<readonly string[]> {
    if (this.#nextReload !== undefined) return this.#nextReload;
    const current = this.#reloading;
    if (current === undefined) {
      const reload = this.#reload(running).finally(() => {
        this.#reloading = undefined;
      });
      this.#reloading = reload;
      return reload;
    }
    const next = current
      .catch(() => {})
      .then(() => {
        this.#nextReload = undefined;
        return this.#requestReload(running);
      });
    this.#nextReload = next;
    return next;
  }

  async #reload(running: RunningDaemon): Promise<readonly string[]> {
    let restartNeeded: readonly string[] = [];
    let refusal: string | undefined;
    try {
      restartNeeded = await running.reload();
      this.#output.targets = logTargets(this.#home, this.#output.targets.stderr);
      this.#logger.info('Configuration reloaded.');
      if (restartNeeded.length > 0) {
        this.#logger.warn(`These sections changed and take effect after a restart: ${restartNeeded.join(', ')}.`);
      }
      return restartNeeded;
    } catch (error) {
      refusal = describeError(error);
      this.#logger.error(`Reload refused, the running configuration stays: ${refusal}`);
      throw error;
    } finally {
      this.#updateRecord({
        reload: {
          count: (this.#record?.reload?.count ?? 0) + 1,
          at: Date.now(),
          restartNeeded: [...restartNeeded],
          ...(refusal === undefined ? {} : { error: refusal }),
        },
      });
    }
  }

  #onStopSignal(signal: NodeJS.Signals): void {
    if (this.#stopSignal !== undefined) return;
    this.#stopSignal = signal;
    const number = constants.signals[signal];
    this.#logger.info(`(1225): SIGNAL [(${number})-(${SIGNAL_TEXT[signal] ?? signal})] Received. Exit Cleaning...`);
    // A signal during the start is obeyed when the daemon is built, or at the deadline.
    setTimeout(() => {
      this.#logger.warn(`Not stopped within ${STOP_DEADLINE_MS / 1000} s: exiting without waiting longer.`);
      this.#end(1);
    }, STOP_DEADLINE_MS);
    if (this.#running !== undefined) void this.#stop(this.#running);
  }

  async #stop(running: RunningDaemon): Promise<void> {
    try {
      await this.#reloading?.catch(() => {});
      await running.stop();
    } catch (error) {
      const failures: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
      for (const each of failures) this.#logger.error(`Stopping failed: ${describeError(each)}`, { err: each });
      this.#end(1);
      return;
    }
    this.#end(0);
  }

  /** Logs once why the daemon cannot go on, and exits 1. */
  #fatal(error: unknown): void {
    if (this.#ending) return;
    const message = describeError(error);
    logFailure(this.#logger, error, 'critical');
    if (this.#output.debugLevel > 0 && error instanceof Error) this.#logger.debug(error.stack ?? '');
    try {
      writeOwnFile(this.#files.exit(), `${JSON.stringify({ pid: process.pid, message, time: Date.now() })}\n`);
    } catch {
      // The log line above has said it already.
    }
    this.#end(1);
  }

  #end(code: 0 | 1): void {
    if (this.#ending) return;
    this.#ending = true;
    try {
      this.#heartbeat?.close();
      for (const path of [this.#files.record(), this.#files.heartbeat(), this.#files.pid(process.pid)]) {
        rmSync(path, { force: true });
      }
    } catch {
      // Left behind, they are recognised as stale by pid and start time.
    }
    this.#lock?.release();
    this.#output.close();
    process.exit(code);
  }
}
