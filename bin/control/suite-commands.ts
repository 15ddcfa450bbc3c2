import { existsSync } from 'node:fs';
import { waitUntil } from '../../lib/async/wait-until.js';
import { describeWarning } from '../../lib/config/config-error.js';
import { checkDaemons, checkingUser } from '../../lib/control/check-daemons.js';
import { callSupervisor, NoSupervisorError } from '../../lib/control/control-client.js';
import { type ControlRequest, type ProgressEvent, supervisorLock } from '../../lib/control/control-protocol.js';
import {
  type DaemonCatalogue,
  selectDaemons,
  startOrder,
  stopOrder,
  stopPhases,
} from '../../lib/control/daemon-catalogue.js';
import { wantedDaemons } from '../../lib/control/wanted-daemons.js';
import { restartMarker, RunFiles } from '../../lib/daemon/run-files.js';
import { writeOwnFile } from '../../lib/files/open-own-file.js';
import { removeTree } from '../../lib/files/remove-tree.js';
import type { Home } from '../../lib/home/home.js';
import type { HomeRecord } from '../../lib/home/home-record.js';
import type { ProcessIdentity } from '../../lib/process/process-identity.js';
import { ProcessLock } from '../../lib/process/process-lock.js';
import type { DaemonName } from '../../lib/product/daemon-names.js';
import { productVersion } from '../../lib/product/version.js';
import { whyUnavailable } from '../terminal/why-unavailable.js';
import type { ControlOutput } from './control-output.js';
import { makeFirstStartSecrets } from './home/enrollment-certificate.js';
import { withScriptLock } from './home/script-lock.js';
import { DetachedSupervisor } from './supervisor/detached-supervisor.js';
import { endProcess, liveProcess, reloadDaemon, removeLeftovers, stalePidFiles } from './supervisor/live-process.js';

/** One that has stopped everything and is still there by then does not end. */
const SUPERVISOR_END_MS = 15_000;

const PRODUCT = 'Security Manager';

/** Where svc-apid writes the password that it makes for `admin` at its first start (rest-api.md 2.5). */
const FIRST_PASSWORD = ['api', 'configuration', 'security', 'initial-admin-password'] as const;

/** JSON error codes of the control program; 20 is the reference's (daemons-and-config.md 3.1). */
const CONFIGURATION_ERROR = 20;
const ALREADY_RUNNING = 22;

/** A home and what commands on it need. */
export type Suite = {
  readonly home: Home;
  readonly record: HomeRecord;
  readonly catalogue: DaemonCatalogue;
  readonly output: ControlOutput;
};

type DaemonStatusItem = { daemon: string; status: string } & Record<string, unknown>;

/**
 * `svc-control start`: checks, starts the supervisor where none runs, and tells it to start.
 * @param typed names as given, none for all that should run
 */
export async function startSuite(suite: Suite, typed: readonly string[]): Promise<0 | 1> {
  const { home, output } = suite;
  const names = selectForStart(suite, typed);
  const supervised = await supervisorRuns(home);
  if (supervised && names.length > 0 && names.every((name) => liveProcess(new RunFiles(home, name)) !== undefined)) {
    for (const name of names) output.line(`${name} already running...`);
    output.line(`${PRODUCT} is already running.`);
    output.document({
      error: ALREADY_RUNNING,
      message: 'Already running.',
      data: names.map((daemon) => ({ daemon, status: 'running' })),
    });
    return 1;
  }
  if (names.includes('svc-authd')) await makeFirstStartSecrets(home, suite.record);
  const firstPassword = newFile(home.path(...FIRST_PASSWORD));
  const supervisor = supervised ? undefined : new DetachedSupervisor(home, suite.catalogue.control);
  if (!(await configurationIsGood(suite, names, { command: 'start', all: typed.length === 0 }))) {
    supervisor?.giveUp();
    return 1;
  }
  return withScriptLock(home, async () => {
    output.line(`Starting ${PRODUCT} v${productVersion()}...`);
    cleanStalePidFiles(suite, (path) => `Deleting PID file '${path}' not used...`);
    await supervisor?.begin(() => supervisorRuns(home));
    const result = await tellToStart(suite, { command: 'start', daemons: names });
    const password = firstPassword();
    if (password !== undefined) output.line(`API user: admin, password in ${password}`);
    return result;
  });
}

/** `svc-control restart`: nothing is stopped when the configuration is bad. */
export async function restartSuite(suite: Suite, typed: readonly string[]): Promise<0 | 1> {
  const { home } = suite;
  const names = selectForStart(suite, typed);
  if (names.includes('svc-authd')) await makeFirstStartSecrets(home, suite.record);
  if (!(await configurationIsGood(suite, names, { command: 'restart', all: typed.length === 0 }))) return 1;
  writeOwnFile(restartMarker(home), '');
  try {
    return await withScriptLock(home, async () => {
      if (!(await supervisorRuns(home))) {
        await new DetachedSupervisor(home, suite.catalogue.control).begin(() => supervisorRuns(home));
      }
      const stopped = typed.length === 0 ? {} : { daemons: names };
      return await tellToStart(suite, { command: 'restart', ...stopped });
    });
  } finally {
    removeTree(restartMarker(home));
  }
}

/** `svc-control stop`, also of daemons whose supervisor is gone. */
export async function stopSuite(suite: Suite, typed: readonly string[]): Promise<0 | 1> {
  const { home, record, catalogue, output } = suite;
  const names = typed.length === 0 ? [...stopOrder(record.role)] : selectDaemons(stopOrder(record.role), typed);
  const available = names.filter((name) => catalogue.program(name) !== undefined);
  return withScriptLock<0 | 1>(home, async () => {
    const supervisor = ProcessLock.holder(supervisorLock(home));
    const items = new Map<string, DaemonStatusItem>();
    const notRunning = (daemon: DaemonName) => {
      if (items.has(daemon)) return;
      output.line(`${daemon} not running...`);
      items.set(daemon, { daemon, status: 'stopped' });
    };
    const onEvent = (event: ProgressEvent) => {
      const { daemon } = event;
      // Daemons this version does not have are told in their place of the order.
      for (const name of names) {
        if (name === daemon) break;
        if (!available.includes(name)) notRunning(name);
      }
      if (event.event === 'stopping') output.line(`Killing ${daemon}...`);
      if (event.event === 'not-running') output.line(`${daemon} not running...`);
      if (event.event === 'killed') output.line(`Process ${daemon} couldn't be terminated. It was killed.`);
      items.set(daemon, { daemon, status: event.event === 'killed' ? 'killed' : 'stopped' });
    };
    try {
      const some = typed.length === 0 ? {} : { daemons: available };
      if (typed.length === 0 || available.length > 0) await callSupervisor(home, { command: 'stop', ...some }, onEvent);
    } catch (error) {
      if (!(error instanceof NoSupervisorError)) throw error;
      await stopDirectly(suite, names, onEvent);
    }
    for (const daemon of names) notRunning(daemon);
    // Whoever starts straight after this must not meet a supervisor that is about to end.
    if (supervisor !== undefined && (typed.length === 0 || !(await isNeeded(home)))) {
      if (!(await supervisorHasEnded(home, supervisor))) {
        throw new Error(`the daemons were stopped, but the supervisor (pid ${supervisor.pid}) does not end`);
      }
    }
    if (typed.length === 0) output.line(`${PRODUCT} v${productVersion()} Stopped`);
    output.document({ error: 0, data: names.map((name) => items.get(name)) });
    return 0;
  });
}

/** `svc-control reload`: configuration and ruleset are re-read in place; a bad one changes nothing. */
export async function reloadSuite(suite: Suite, typed: readonly string[]): Promise<0 | 1> {
  const { home, record, output } = suite;
  const order = startOrder(record.role);
  const names = (typed.length === 0 ? order : selectDaemons(order, typed)).filter(
    (name) => liveProcess(new RunFiles(home, name)) !== undefined,
  );
  if (!(await configurationIsGood(suite, names, { command: 'reload', all: typed.length === 0 }))) return 1;
  return withScriptLock(home, async () => {
    const items: DaemonStatusItem[] = [];
    let failed = names.length === 0;
    if (failed) {
      const [first = 'svc-db'] = typed.length === 0 ? order : selectDaemons(order, typed);
      output.problem(`Nothing to reload: ${whyUnavailable(home, first, 'no daemon runs')}`);
    }
    const onEvent = (event: ProgressEvent) => {
      const { daemon } = event;
      if (event.event === 'reloaded') {
        const restart = event.restartNeeded ?? [];
        const hint = restart.length === 0 ? '' : ` Restart it for the changes in: ${restart.join(', ')}.`;
        output.line(`Reloaded ${daemon}...${hint}`);
        items.push({ daemon, status: 'running', ...(restart.length === 0 ? {} : { restart_needed: restart }) });
      } else {
        failed = true;
        const reason = event.reason ?? 'not running';
        output.problem(`${daemon}: reload refused, what runs stays as it is: ${reason}`);
        items.push({ daemon, status: 'error', message: reason });
      }
    };
    try {
      await callSupervisor(home, { command: 'reload', daemons: names }, onEvent);
    } catch (error) {
      if (!(error instanceof NoSupervisorError)) throw error;
      for (const daemon of names) {
        const outcome = await reloadDaemon(home, daemon);
        if (outcome.kind === 'reloaded') {
          onEvent({ daemon, event: 'reloaded', restartNeeded: [...outcome.restartNeeded] });
        } else {
          onEvent({
            daemon,
            event: 'reload-refused',
            reason: outcome.kind === 'refused' ? outcome.reason : 'not running',
          });
        }
      }
    }
    output.document({ error: failed ? 1 : 0, data: items });
    return failed ? 1 : 0;
  });
}

/** Removes pid files whose process is gone, saying so in the words of the command. */
export function cleanStalePidFiles(
  suite: Suite,
  words: (path: string, daemon: DaemonName, pid: number) => string,
): void {
  for (const daemon of stopOrder(suite.record.role)) {
    for (const { path, pid } of stalePidFiles(suite.home, daemon)) {
      try {
        removeTree(path);
        suite.output.line(words(path, daemon, pid));
      } catch {
        // Whoever may not write here may still ask.
      }
    }
  }
}

/** @returns what gives the path once the file is there that is not there now */
function newFile(path: string): () => string | undefined {
  const before = existsSync(path);
  return () => (!before && existsSync(path) ? path : undefined);
}

function selectForStart({ home, record, catalogue }: Suite, typed: readonly string[]): DaemonName[] {
  const order = startOrder(record.role);
  if (typed.length === 0) {
    const wanted = wantedDaemons(home, catalogue, order);
    return order.filter((name) => wanted.has(name));
  }
  const names = selectDaemons(order, typed);
  const missing = names.find((name) => catalogue.program(name) === undefined);
  if (missing !== undefined) throw new Error(`${missing} is not available in this version`);
  return names;
}

/** What is said of a command that a mistake in the configuration keeps from being carried out. */
const REFUSED = {
  start: 'Nothing was started.',
  restart: 'Nothing was stopped: what runs goes on.',
  reload: 'Nothing was reloaded: the last good configuration stays in force.',
} as const;

type CheckedCommand = {
  readonly command: keyof typeof REFUSED;
  /** Whether all daemons are meant: then every section counts, whoever reads it. */
  readonly all: boolean;
};

/** Says what is wrong, and of what is right what has no effect. */
async function configurationIsGood(
  { home, record, catalogue, output }: Suite,
  names: readonly DaemonName[],
  { command, all }: CheckedCommand,
): Promise<boolean> {
  const { failures, noEffect } = await checkDaemons(
    home,
    catalogue,
    names,
    all ? 'all' : 'own',
    checkingUser(home, record),
  );
  for (const warning of noEffect) output.problem(`WARNING: ${describeWarning(warning)}`);
  for (const { daemon, output: text } of failures) {
    output.problem(text);
    output.line(`${daemon}: Configuration error. Exiting`);
    // Not in a restart: what runs goes on.
    if (command === 'start') writeOwnFile(new RunFiles(home, daemon).failedMarker(), `${text}\n`);
  }
  const [first] = failures;
  if (first === undefined) return true;
  output.problem(REFUSED[command]);
  output.document({
    error: CONFIGURATION_ERROR,
    message: `${first.daemon}: Configuration error.`,
    detail: first.output,
  });
  return false;
}

async function tellToStart(suite: Suite, request: ControlRequest): Promise<0 | 1> {
  const { home, output } = suite;
  const items: DaemonStatusItem[] = [];
  let failed = false;
  await callSupervisor(home, request, (event) => {
    const { daemon } = event;
    switch (event.event) {
      case 'started':
        output.line(`Started ${daemon}...`);
        items.push({ daemon, status: 'running', pid: event.pid });
        break;
      case 'already-running':
        output.line(`${daemon} already running...`);
        items.push({ daemon, status: 'running', pid: event.pid });
        break;
      case 'start-failed':
        failed = true;
        output.problem(`${daemon} did not start correctly: ${event.reason ?? ''}`);
        items.push({ daemon, status: 'error', message: event.reason });
        break;
      case 'stopping':
        output.line(`Killing ${daemon}...`);
        break;
      case 'killed':
        output.line(`Process ${daemon} couldn't be terminated. It was killed.`);
        break;
      default:
        break;
    }
  });
  if (!failed) output.line('Completed.');
  output.document({ error: 0, data: items });
  return failed ? 1 : 0;
}

async function stopDirectly(
  { home }: Suite,
  names: readonly DaemonName[],
  onEvent: (event: ProgressEvent) => void,
): Promise<void> {
  const alive = new Map<DaemonName, ProcessIdentity>();
  for (const daemon of names) {
    const live = liveProcess(new RunFiles(home, daemon));
    if (live !== undefined) alive.set(daemon, live);
    onEvent({ daemon, event: live === undefined ? 'not-running' : 'stopping' });
  }
  for (const phase of stopPhases([...alive.keys()])) {
    await Promise.all(
      phase.map(async (daemon) => {
        const live = alive.get(daemon);
        if (live === undefined) return;
        const outcome = await endProcess(live);
        removeLeftovers(home, daemon);
        onEvent({ daemon, event: outcome === 'killed' ? 'killed' : 'stopped' });
      }),
    );
  }
}

async function supervisorRuns(home: Home): Promise<boolean> {
  try {
    await callSupervisor(home, { command: 'ping' });
    return true;
  } catch (error) {
    if (error instanceof NoSupervisorError) return false;
    throw error;
  }
}

/** Whether a supervisor is there that has something to supervise: one without ends by itself. */
async function isNeeded(home: Home): Promise<boolean> {
  try {
    const report = await callSupervisor(home, { command: 'status' });
    return report !== undefined && Object.values(report.daemons).some(({ wanted }) => wanted);
  } catch (error) {
    if (error instanceof NoSupervisorError) return false;
    throw error;
  }
}

/** Waits until the lock of a supervisor is free, or another's: it gives it back at its very end. */
async function supervisorHasEnded(home: Home, { pid, startTime }: ProcessIdentity): Promise<boolean> {
  const free = (): boolean => {
    const holder = ProcessLock.holder(supervisorLock(home));
    return holder?.pid !== pid || holder.startTime !== startTime;
  };
  return (await waitUntil(free, { everyMs: 20, mostMs: SUPERVISOR_END_MS })) === true;
}
