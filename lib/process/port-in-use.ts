import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { isErrno } from '../files/is-errno.js';

/** What a listener is, for the error of one that cannot be bound. */
export type ListenerPlace = {
  readonly protocol: 'tcp' | 'udp';
  readonly port: number;
  /** Where the port is set, such as `<remote><port> in etc/manager.conf`. */
  readonly setting: string;
};

/** A port that somebody else has: the message names port, setting and, where this user may see it, the process. */
class PortInUseError extends Error {
  override readonly name = 'PortInUseError';
  readonly code = 'port_in_use';
}

/** A port that this user may not open. */
class PortForbiddenError extends Error {
  override readonly name = 'PortForbiddenError';
  readonly code = 'port_forbidden';
}

/**
 * The error of a bind in words: a port that is taken names its setting and who has it, one that only root may open its
 * setting; any other error is as it was.
 */
export function explainPortInUse(error: Error, { protocol, port, setting }: ListenerPlace): Error {
  const named = `port ${port}/${protocol.toUpperCase()} (${setting})`;
  if (isErrno(error, 'EACCES')) {
    const text = `${named} is kept for root (and for programs with CAP_NET_BIND_SERVICE): start as root, or take one from 1024 on`;
    return new PortForbiddenError(text, { cause: error });
  }
  if (!isErrno(error, 'EADDRINUSE')) return error;
  const text = `${named} is in use by ${portHolder(protocol, port)}`;
  return new PortInUseError(text, { cause: error });
}

/** One error of several: of ports that are taken all are named, before anything else the first counts. */
export function joinPortErrors(errors: readonly Error[]): Error {
  const other = errors.find((error) => !(error instanceof PortInUseError));
  return other ?? new PortInUseError(errors.map(({ message }) => message).join('; '), { cause: errors[0] });
}

/**
 * Who listens on a port of this host: `nc (pid 4711)`, or the user where the process may not be seen. Of several processes
 * that share it the first is told.
 */
export function portHolder(protocol: 'tcp' | 'udp', port: number): string {
  const sockets = [...localSockets(protocol, port), ...localSockets(`${protocol}6`, port)];
  const names = new Set(sockets.map(({ inode }) => `socket:[${inode}]`));
  const pid = sockets.length === 0 ? undefined : processWith(names);
  if (pid !== undefined) return `${programName(pid)} (pid ${pid})`;
  const [first] = sockets;
  return first === undefined ? 'another process' : `a process of ${userName(first.uid)} (root sees which)`;
}

/** State of a TCP socket that listens, as /proc/net/tcp writes it. */
const LISTENING = '0A';

function localSockets(table: string, port: number): { readonly inode: string; readonly uid: number }[] {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readText(`/proc/net/${table}`)
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(
      ([, local, , state]) => local?.endsWith(wanted) === true && (table.startsWith('udp') || state === LISTENING),
    )
    .map((fields) => ({ inode: fields[9] ?? '', uid: Number(fields[7]) }));
}

/** A process that has one of these open; those of others are seen by root alone. */
function processWith(sockets: ReadonlySet<string>): number | undefined {
  const pids = list('/proc').filter((name) => /^\d+$/.test(name));
  const pid = pids.find((name) => list(`/proc/${name}/fd`).some((fd) => sockets.has(link(`/proc/${name}/fd/${fd}`))));
  return pid === undefined ? undefined : Number(pid);
}

/** The program's name; of what Node runs that of the script, with the home it works on. */
function programName(pid: number): string {
  const [command = '', ...args] = readText(`/proc/${pid}/cmdline`).split('\0');
  const script = basename(command).startsWith('node')
    ? args.find((arg) => arg !== '' && !arg.startsWith('-'))
    : undefined;
  const home = args[args.indexOf('--home') + 1];
  const name = basename(script ?? command) || readText(`/proc/${pid}/comm`).trim();
  return args.includes('--home') && home !== undefined ? `${name} of ${home}` : name;
}

function userName(uid: number): string {
  const line = readText('/etc/passwd')
    .split('\n')
    .find((entry) => entry.split(':')[2] === String(uid));
  return `user ${line?.split(':', 1)[0] ?? uid}`;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
