import { mkdirSync, readdirSync } from 'node:fs';
import { checkDaemons, problemTexts } from '../../../lib/control/check-daemons.js';
import {
  CONTROL_DIRECTORY,
  controlSocket,
  ownerSocket,
  type ProgressEvent,
  supervisorLock,
} from '../../../lib/control/control-protocol.js';
import { type DaemonCatalogue, startOrder } from '../../../lib/control/daemon-catalogue.js';
import { recoverConfiguration, replaceConfiguration } from '../../../lib/control/replace-configuration.js';
import { wantedDaemons } from '../../../lib/control/wanted-daemons.js';
import { DaemonLogger, LogOutput } from '../../../lib/daemon/daemon-logger.js';
import { logTargets } from '../../../lib/daemon/log-targets.js';
import { removeTree } from '../../../lib/files/remove-tree.js';
import type { Home } from '../../../lib/home/home.js';
import type { HomeRecord } from '../../../lib/home/home-record.js';
import { checkTrustedDirectory } from '../../../lib/home/trusted-file.js';
import { describeError } from '../../../lib/log/describe-error.js';
import { LockHeldError, ProcessLock } from '../../../lib/process/process-lock.js';
import { productVersion } from '../../../lib/product/version.js';
import { logMistakes, logNoEffect } from '../configuration-notices.js';
import { makeFirstStartSecrets } from '../home/enrollment-certificate.js';
import { confined } from './confinement.js';
import { type ControlHandler, ControlServer } from './control-server.js';
import { Supervisor } from './supervisor.js';
import { systemdNotify } from './systemd-notify.js';

/** How the supervisor runs. */
export type RunOptions = {
  readonly home: Home;
  readonly record: HomeRecord;
  readonly catalogue: DaemonCatalogue;
  /**
   * `foreground`: starts everything, shows the daemons' log lines and ends with exit code 1 when a daemon does not
   * come up. `service`: the same without the lines, and a daemon that does not come up is tried again while the others
   * work. `detached`: starts nothing by itself; `svc-control start` tells it what to start.
   */
  readonly mode: 'foreground' | 'service' | 'detached';
  /** Called once when everything that should run does. */
  readonly onReady?: () => void;
};

/** A detached supervisor that is told nothing gives up after this time. */
const IDLE_LIMIT_MS = 60_000;

/**
 * Runs the supervisor in this process until it is told to stop.
 * @returns the exit code
 */
export async function runSupervisor(options: RunOptions): Promise<0 | 1> {
  const { home, record, mode } = options;
  const say = (line: string) => process.stderr.write(`svc-control: ${line}\n`);
  let lock: ProcessLock;
  const owner = record.uid === undefined || record.gid === undefined ? undefined : { uid: record.uid, gid: record.gid };
  const output = new LogOutput(
    home,
    logTargets(home, mode === 'foreground'),
    0,
    process.geteuid?.() === 0 ? owner : undefined,
  );
  try {
    process.umask(0o027);
    process.chdir(home.root);
    lock = ProcessLock.acquire(supervisorLock(home));
  } catch (error) {
    if (error instanceof LockHeldError) say(`already running for ${home.root} (supervisor pid ${error.holder.pid})`);
    else say(`cannot start in ${home.root}: ${describeError(error)}`);
    return 1;
  }
  try {
    output.open();
    return await supervise(options, new DaemonLogger(output, 'svc-control'));
  } catch (error) {
    say(`cannot start in ${home.root}: ${describeError(error)}`);
    return 1;
  } finally {
    lock.release();
    output.close();
  }
}

async function supervise(options: RunOptions, logger: DaemonLogger): Promise<0 | 1> {
  const { home, record, mode } = options;
  const catalogue = confined(options.catalogue, record, logger);
  const order = startOrder(record.role);
  let finish: (code: 0 | 1) => void = () => {};
  const finished = new Promise<0 | 1>((resolve) => {
    finish = resolve;
  });
  const supervisor = new Supervisor({
    home,
    catalogue,
    order,
    wanted: () => wantedDaemons(home, catalogue, order),
    configure: (text) => replaceConfiguration({ home, gid: record.gid, check: () => checkAll(options), logger }, text),
    logger,
    foreground: mode === 'foreground',
    onConfigure: (daemons) => logNoEffect(options, daemons, logger),
    // The answer to the command that stopped everything goes out first.
    onIdle: () => setImmediate(() => finish(0)),
  });
  const handle: ControlHandler = (request, progress) => {
    if (request.command === 'start' || request.command === 'restart') clearTimeout(idle);
    return supervisor.handle(request, progress);
  };
  makeControlDirectory(home);
  recoverConfiguration(home, logger);
  const servers = controlServers(options, handle, logger);
  const notify = (...messages: string[]) =>
    systemdNotify(messages, (reason) => logger.warn(`systemd was not told: ${reason}`));

  let stopping = false;
  const stop = (code: 0 | 1) => {
    if (stopping) return;
    stopping = true;
    void notify('STOPPING=1');
    supervisor
      .shutdown()
      .catch((error: unknown) => logger.error(`Stopping failed: ${describeError(error)}`))
      .finally(() => finish(code));
  };
  listenToSignals(options, supervisor, logger, stop);

  if (mode !== 'detached' && wantedDaemons(home, catalogue, order).has('svc-authd')) {
    await makeFirstStartSecrets(home, record);
  }
  const adopted = supervisor.adopt();
  if (adopted.length === 0) emptyTemporaryDirectory(home, logger);
  for (const server of servers) await server.start();
  logger.info(`Security Manager v${productVersion()}: supervisor started (pid: ${process.pid}).`);
  const idle = setTimeout(() => {
    if (mode === 'detached' && adopted.length === 0) finish(0);
  }, IDLE_LIMIT_MS);
  idle.unref();

  if (mode === 'foreground' && adopted.length === 0 && logMistakes(options, 'Nothing was started.', logger)) {
    stop(1);
  } else if (mode !== 'detached') {
    const failures = await startAll(supervisor);
    const [failure] = failures;
    if (failure !== undefined && mode === 'foreground' && adopted.length === 0 && !stopping) {
      showFailures(failures);
      stop(1);
    } else if (!stopping) {
      await notify('READY=1', statusLine(failures));
      if (failure === undefined) options.onReady?.();
    }
  }

  const watch = watchForHungDaemons(supervisor);
  const code = await finished;
  clearInterval(watch);
  await Promise.all(servers.map((server) => server.stop()));
  logger.info(`Security Manager v${productVersion()}: supervisor stopped.`);
  return code;
}

function controlServers({ home, record }: RunOptions, handle: ControlHandler, logger: DaemonLogger): ControlServer[] {
  const gid = process.geteuid?.() === 0 ? record.gid : undefined;
  return [
    new ControlServer(ownerSocket(home), { kind: 'owner' }, handle, logger),
    new ControlServer(controlSocket(home), { kind: 'group', gid }, handle, logger),
  ];
}

/** What systemd shows of the unit. */
function statusLine(failures: readonly ProgressEvent[]): string {
  const bad = failures.map(({ daemon }) => daemon).join(', ');
  return bad === '' ? 'STATUS=All daemons run.' : `STATUS=Not running, tried again: ${bad}`;
}

function showFailures(failures: readonly ProgressEvent[]): void {
  for (const { daemon, reason } of failures) {
    process.stderr.write(`svc-control: ${daemon} did not start correctly: ${reason ?? ''}\n`);
  }
}

function listenToSignals(
  options: RunOptions,
  supervisor: Supervisor,
  logger: DaemonLogger,
  stop: (code: 0 | 1) => void,
): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const) process.on(signal, () => stop(0));
  process.on('SIGHUP', () => {
    if (logMistakes(options, 'Nothing was reloaded: the last good configuration stays in force.', logger)) return;
    const reload = supervisor.handle({ command: 'reload' }, (event) => {
      if (event.event === 'reload-refused') logger.error(`${event.daemon}: reload refused: ${event.reason ?? ''}`);
    });
    reload.catch((error: unknown) => logger.error(`Reload failed: ${describeError(error)}`));
  });
  process.on('uncaughtException', (error) => {
    // Daemons keep running and are taken over by the next supervisor.
    logger.critical(describeError(error), { err: error });
    process.exit(1);
  });
}

/** Starts every daemon that should run. @returns those that failed to */
async function startAll(supervisor: Supervisor): Promise<ProgressEvent[]> {
  const failures: ProgressEvent[] = [];
  await supervisor.handle({ command: 'start' }, (event) => {
    if (event.event === 'start-failed') failures.push(event);
  });
  return failures;
}

/** What all daemons that should run say against the configuration; they read the service user's files as that user. */
async function checkAll({ home, record, catalogue }: RunOptions): Promise<readonly string[]> {
  const { uid, gid } = record;
  const user = process.geteuid?.() === 0 && uid !== undefined && gid !== undefined ? { uid, gid } : undefined;
  const daemons = [...wantedDaemons(home, catalogue, startOrder(record.role))];
  return problemTexts((await checkDaemons(home, catalogue, daemons, 'all', user)).failures);
}

/** Homes of earlier versions have none. @throws UntrustedFileError when it is another user's */
function makeControlDirectory(home: Home): void {
  mkdirSync(home.path(CONTROL_DIRECTORY), { recursive: true, mode: 0o700 });
  checkTrustedDirectory(home, CONTROL_DIRECTORY);
}

/** Time between two looks at heartbeats. */
const WATCH_INTERVAL_MS = 5000;

function watchForHungDaemons(supervisor: Supervisor): NodeJS.Timeout {
  let last = performance.now();
  return setInterval(() => {
    const now = performance.now();
    // A supervisor that was held up itself (a stopped or overloaded host) cannot tell who else was: the next look can.
    if (now - last < 2 * WATCH_INTERVAL_MS) supervisor.endHungDaemons();
    last = now;
  }, WATCH_INTERVAL_MS);
}

/** `tmp/*` does not outlive a stop (daemons-and-config.md 3.1 and 3.11). Links are removed, not followed. */
function emptyTemporaryDirectory(home: Home, logger: DaemonLogger): void {
  for (const name of readdirSync(home.path('tmp'))) {
    try {
      removeTree(home.path('tmp', name));
    } catch (error) {
      logger.warn(`'tmp/${name}' is left: ${describeError(error)}`);
    }
  }
}
