import { callSupervisor } from '../../lib/control/control-client.js';
import type { SupervisorReport } from '../../lib/control/control-protocol.js';
import { type DaemonCatalogue, stopOrder } from '../../lib/control/daemon-catalogue.js';
import { wantedDaemons } from '../../lib/control/wanted-daemons.js';
import { type DaemonStatus, readDaemonStatus } from '../../lib/daemon/daemon-status.js';
import type { Home } from '../../lib/home/home.js';
import type { HomeRecord } from '../../lib/home/home-record.js';
import type { DaemonName } from '../../lib/product/daemon-names.js';
import { shownLines } from '../terminal/shown-text.js';
import { textTable } from '../terminal/text-table.js';
import { residentBytes } from './supervisor/live-process.js';
import { restartDue } from './supervisor/restart-due.js';

/** The supervisor answers at once or not at all; status is also asked when it hangs. */
const SUPERVISOR_WAIT_MS = 1000;

/** One daemon as `svc-control status` shows it. */
export type DaemonLine = {
  readonly daemon: DaemonName;
  readonly running: boolean;
  readonly status: DaemonStatus;
  /** Whether this version has it. */
  readonly available: boolean;
  /** Whether it should run by configuration. */
  readonly wanted: boolean;
  /** Seconds since it was ready. */
  readonly uptime?: number;
  /** Resident memory, bytes. */
  readonly memory?: number;
  /** Unasked ends since the supervisor took it over. */
  readonly restarts?: number;
  /** What the operator must know: a problem it reports itself, or why it does not run. */
  readonly problem?: string;
};

/** State of all daemons of a home, in status order. */
export type StatusReport = { readonly daemons: readonly DaemonLine[]; readonly supervisor?: SupervisorReport };

/** Collects what `var/run`, /proc and the supervisor know. Never fails because a daemon or the supervisor does. */
export async function readStatusReport(
  home: Home,
  record: HomeRecord,
  catalogue: DaemonCatalogue,
): Promise<StatusReport> {
  const order = stopOrder(record.role);
  const [statuses, supervisor] = await Promise.all([readDaemonStatus(home, order), askSupervisor(home)]);
  const wanted = wantedDaemons(home, catalogue, order);
  const daemons = order.map((daemon): DaemonLine => {
    const status = statuses.get(daemon) ?? { state: 'stopped' };
    const supervised = supervisor?.daemons[daemon];
    const memory = status.pid === undefined ? undefined : residentBytes(status.pid);
    const problem = status.problem ?? (status.pid === undefined ? supervised?.lastFailure : undefined);
    return {
      daemon,
      running: status.state === 'running',
      status,
      available: catalogue.program(daemon) !== undefined,
      wanted: wanted.has(daemon),
      ...(status.startedAt === undefined
        ? {}
        : { uptime: Math.max(0, Math.floor((Date.now() - status.startedAt) / 1000)) }),
      ...(memory === undefined ? {} : { memory }),
      ...(supervised === undefined ? {} : { restarts: supervised.restarts }),
      ...(problem === undefined ? {} : { problem }),
    };
  });
  return supervisor === undefined ? { daemons } : { daemons, supervisor };
}

function askSupervisor(home: Home): Promise<SupervisorReport | undefined> {
  // Whatever is wrong with it, the daemons' state is told without it.
  return callSupervisor(home, { command: 'status' }, () => {}, SUPERVISOR_WAIT_MS).catch(() => undefined);
}

/** The items of `status -j`: the two members scripts know, then more. */
export function statusItems(report: StatusReport): Record<string, unknown>[] {
  return report.daemons.map(({ daemon, running, status, available, wanted, uptime, memory, restarts, problem }) => ({
    daemon,
    status: running ? 'running' : 'stopped',
    state: status.state,
    available,
    wanted,
    ...(status.pid === undefined ? {} : { pid: status.pid }),
    ...(uptime === undefined ? {} : { uptime }),
    ...(memory === undefined ? {} : { memory }),
    ...(restarts === undefined ? {} : { restarts }),
    ...(status.addresses === undefined ? {} : { addresses: status.addresses }),
    ...(problem === undefined ? {} : { problem }),
  }));
}

/** The table people get on a terminal. */
export function statusTable(report: StatusReport): string[] {
  const rows = report.daemons.map(({ daemon, status, available, wanted, uptime, memory, restarts }) => [
    daemon,
    stateWord(status, available, wanted),
    status.pid === undefined ? '-' : String(status.pid),
    uptime === undefined ? '-' : formatDuration(uptime),
    memory === undefined ? '-' : `${(memory / 1_048_576).toFixed(1)} MiB`,
    restarts === undefined ? '-' : String(restarts),
  ]);
  const table = [['DAEMON', 'STATE', 'PID', 'UPTIME', 'MEMORY', 'RESTARTS'], ...rows];
  const lines = textTable(table, 2);
  for (const { daemon, problem } of report.daemons) {
    if (problem !== undefined) lines.push(shownLines(`${daemon}: ${problem}`));
  }
  const due = restartDue(report.daemons);
  if (due.length > 0) {
    lines.push(`The product was updated since the start of ${due.join(', ')}: restart with 'svc-control restart'.`);
  }
  lines.push(
    report.supervisor === undefined
      ? 'The supervisor does not run: a daemon that ends is not started again (svc-control start).'
      : `Supervisor: pid ${report.supervisor.pid}, up ${formatDuration(Math.max(0, Math.floor((Date.now() - report.supervisor.startedAt) / 1000)))}`,
  );
  return lines;
}

function stateWord(status: DaemonStatus, available: boolean, wanted: boolean): string {
  if (status.state !== 'stopped') return status.state;
  if (!available) return 'stopped (not in this version)';
  return wanted ? 'stopped' : 'stopped (off)';
}

function formatDuration(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  if (days > 0) return `${days}d ${hours}h`;
  if (hours > 0) return `${hours}h ${minutes}m`;
  return minutes > 0 ? `${minutes}m ${seconds % 60}s` : `${seconds}s`;
}
