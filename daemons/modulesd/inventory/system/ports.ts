import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import type { HostFiles } from '../host/host-files.js';
import { known } from '../host/known.js';
import { LISTENING, parseSockets, type Socket, type SocketProtocol } from './sockets.js';

const PROTOCOLS: readonly SocketProtocol[] = ['tcp', 'tcp6', 'udp', 'udp6'];
/**
 * Open files that are looked at: those of one process, those of all, and at least so many of each. A process that opens a million,
 * whose children share them, must not hold up the scan, nor hide the sockets of others.
 */
export type DescriptorLimits = { readonly each: number; readonly all: number; readonly least: number };
/** Of all: some seconds. */
const LIMITS: DescriptorLimits = { each: 65_536, all: 1_000_000, least: 1024 };

/** The process that has a socket. */
export type SocketOwner = { readonly pid: number; readonly name: string };

/**
 * Ports with their processes: table `ports`.
 * @param all connections, too; otherwise ports of TCP that are listened at, and all of UDP
 */
export function readPorts(files: HostFiles, all: boolean, limits: DescriptorLimits = LIMITS): InventoryRow[] {
  const sockets = PROTOCOLS.flatMap((protocol) =>
    parseSockets(files.required(`/proc/net/${protocol}`)?.toString('latin1') ?? '', protocol),
  ).filter(({ protocol, state }) => all || protocol.startsWith('udp') || state === LISTENING);
  const owners = findOwners(files, new Set(sockets.map(({ inode }) => inode)), limits);
  return sockets.map((socket) => portRow(socket, owners.get(socket.inode)));
}

export function portRow(socket: Socket, owner: SocketOwner | undefined): InventoryRow {
  return {
    protocol: socket.protocol,
    local_ip: socket.localAddress,
    local_port: socket.localPort,
    remote_ip: socket.remoteAddress,
    remote_port: socket.remotePort,
    tx_queue: socket.txQueue,
    rx_queue: socket.rxQueue,
    inode: socket.inode,
    state: socket.state,
    pid: owner?.pid ?? 0,
    process: known(owner?.name),
  };
}

/** The process of each socket; of several that share one that with the lowest number. */
function findOwners(
  files: HostFiles,
  inodes: Set<number>,
  { each, all, least }: DescriptorLimits,
): ReadonlyMap<number, SocketOwner> {
  const owners = new Map<number, SocketOwner>();
  // Those that wait for their end belong to nobody any more.
  inodes.delete(0);
  const pids = files.names('/proc').filter((name) => /^\d+$/.test(name));
  let room = all;
  for (const pid of pids.sort((one, other) => Number(one) - Number(other))) {
    if (owners.size === inodes.size) break;
    const directory = `/proc/${pid}/fd`;
    const descriptors = files.names(directory, Math.max(least, Math.min(each, room)));
    room -= descriptors.length;
    for (const descriptor of descriptors) {
      const [, inode] = /^socket:\[(\d{1,15})\]$/.exec(files.link(`${directory}/${descriptor}`) ?? '') ?? [];
      if (inode === undefined || !inodes.has(Number(inode)) || owners.has(Number(inode))) continue;
      owners.set(Number(inode), { pid: Number(pid), name: files.line(`/proc/${pid}/comm`) });
    }
  }
  return owners;
}
