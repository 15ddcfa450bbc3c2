import { spawnSync } from 'node:child_process';
import type { DaemonCatalogue, Program } from '../../../lib/control/daemon-catalogue.js';
import { isErrno } from '../../../lib/files/is-errno.js';
import type { HomeRecord } from '../../../lib/home/home-record.js';
import type { Logger } from '../../../lib/log/logger.js';
import { ROOT_DAEMONS } from '../../../lib/process/drop-privileges.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';

/** Sets users and capabilities and runs another program in its own place; a part of util-linux. */
const SETPRIV = 'setpriv';

/** A probe that takes longer does not work. */
const PROBE_MS = 10_000;

/** What a daemon of the service user needs to become it; from then on it has none. */
const TO_BECOME_A_USER = ['setgid', 'setuid'] as const;

/** What a daemon of the service user has beside it. It starts as that user: whoever becomes one loses what it could before. */
const OF_SERVICE: Readonly<Partial<Record<DaemonName, readonly string[]>>> = {
  // Syslog comes to port 514.
  'svc-remoted': ['net_bind_service'],
};

/** What a daemon that is root keeps, and what for. */
const KEPT: Readonly<Partial<Record<DaemonName, readonly string[]>>> = {
  'svc-syscheckd': [
    // Every file of the host, whoever may read it, and what belongs to which process.
    'dac_read_search',
    'sys_ptrace',
    // <process_priority>, and the ports that rootcheck tries to open.
    'sys_nice',
    'net_bind_service',
    // Taking the service group at the start.
    'setgid',
  ],
  'svc-logcollector': [
    // Every log. Commands of the configuration run with the same: they may look at other users' files and processes,
    // and become another user.
    'dac_read_search',
    'sys_ptrace',
    'setuid',
    'setgid',
  ],
  'svc-modulesd': [
    // What is installed, whoever may read it, and which sockets belong to which process. Commands of the configuration and of
    // policies run with the same.
    'dac_read_search',
    'sys_ptrace',
    // Rules of firewalls and of audit, which policies list: the kernel shows them to nobody else.
    'net_admin',
    'net_raw',
    'audit_control',
    // Taking the service group at the start.
    'setgid',
  ],
  // svc-execd keeps all: what a response does to a host, firewalls, accounts, services, whatever users have written, is root's work,
  // and programs that only root can have put there are all that it starts.
};

/**
 * Programs of the daemons with no more capabilities than they need (architecture.md 4 "Privileges"): a bounding set, which nothing
 * that they start can leave. Those of the service user can only become that user, and nothing they start is ever more. Node
 * cannot give capabilities up, so setpriv does it before Node starts. Without a service user, without root, and where setpriv
 * does not work, which is logged once, programs stay as they are.
 */
export function confined(
  catalogue: DaemonCatalogue,
  record: HomeRecord,
  logger: Pick<Logger, 'info'>,
  setpriv = SETPRIV,
): DaemonCatalogue {
  const { gid, uid } = record;
  if (gid === undefined || process.geteuid?.() !== 0) return catalogue;
  let problem: string | undefined | null = null;
  const works = () => {
    if (problem === null) {
      problem = whyNot(setpriv, argumentsFor('svc-syscheckd', gid, uid) ?? []);
      if (problem !== undefined) {
        logger.info(`Daemons start with all capabilities of root: ${setpriv} (util-linux) ${problem}.`);
      }
    }
    return problem === undefined;
  };
  return {
    control: catalogue.control,
    program(daemon): Program | undefined {
      const program = catalogue.program(daemon);
      const args = argumentsFor(daemon, gid, uid);
      if (program === undefined || args === undefined || !works()) return program;
      return { command: setpriv, args: [...args, '--', program.command, ...program.args] };
    },
  };
}

/** @returns undefined for a daemon that this version does not confine */
function argumentsFor(daemon: DaemonName, gid: number, uid: number | undefined): readonly string[] | undefined {
  const ambient = uid === undefined ? undefined : OF_SERVICE[daemon];
  if (ambient !== undefined) {
    const names = `-all,${ambient.map((name) => `+${name}`).join(',')}`;
    const user = ['--reuid', String(uid), '--regid', String(gid), '--init-groups', '--no-new-privs'];
    return [...user, `--inh-caps=${names}`, `--ambient-caps=${names}`, `--bounding-set=${names}`];
  }
  const ofService = !ROOT_DAEMONS.has(daemon);
  const kept = ofService ? TO_BECOME_A_USER : KEPT[daemon];
  if (kept === undefined) return undefined;
  const bounds = `--bounding-set=-all,${kept.map((name) => `+${name}`).join(',')}`;
  // What belongs to the service user is read as its group: not everything is open to root without its capabilities.
  const group = ['--regid', String(gid), '--clear-groups'];
  return [...group, '--inh-caps=-all', bounds, ...(ofService ? ['--no-new-privs'] : [])];
}

function whyNot(setpriv: string, args: readonly string[]): string | undefined {
  const { error, status, stderr } = spawnSync(setpriv, [...args, '--', process.execPath, '--version'], {
    encoding: 'utf8',
    timeout: PROBE_MS,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (error !== undefined) return isErrno(error, 'ENOENT') ? 'is not there' : error.message;
  return status === 0 ? undefined : `does not work here (${stderr.trim() || `exit code ${String(status)}`})`;
}
