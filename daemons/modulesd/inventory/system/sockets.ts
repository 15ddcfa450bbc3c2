import { orNone } from '../host/known.js';
import { addressOf } from './address-text.js';

export type SocketProtocol = 'tcp' | 'tcp6' | 'udp' | 'udp6';

/** A socket of `/proc/net/tcp` and its like. */
export type Socket = {
  readonly protocol: SocketProtocol;
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly txQueue: number;
  readonly rxQueue: number;
  readonly inode: number;
  /** Of TCP alone. */
  readonly state: string;
};

export const LISTENING = 'listening';

/** States of TCP as the kernel numbers them, from 1 on. */
const STATES = [
  '',
  'established',
  'syn_sent',
  'syn_recv',
  'fin_wait1',
  'fin_wait2',
  'time_wait',
  'close',
  'close_wait',
  'last_ack',
  LISTENING,
  'closing',
];

/** The sockets of one table; lines that are none are left out. */
export function parseSockets(text: string, protocol: SocketProtocol): Socket[] {
  return text.split('\n').flatMap((line) => orNone(socketOf(line, protocol)));
}

function socketOf(line: string, protocol: SocketProtocol): Socket | undefined {
  const [, local = '', remote = '', state = '', queues = '', , , , , inode = ''] = line.trim().split(/\s+/);
  const from = endOf(local);
  const to = endOf(remote);
  const [, tx, rx] = /^([0-9A-Fa-f]{1,8}):([0-9A-Fa-f]{1,8})$/.exec(queues) ?? [];
  if (from === undefined || to === undefined || tx === undefined || rx === undefined || !/^\d{1,15}$/.test(inode)) {
    return undefined;
  }
  return {
    protocol,
    localAddress: from.address,
    localPort: from.port,
    remoteAddress: to.address,
    remotePort: to.port,
    txQueue: Number.parseInt(tx, 16),
    rxQueue: Number.parseInt(rx, 16),
    inode: Number(inode),
    state: protocol.startsWith('tcp') ? (STATES[Number.parseInt(state, 16)] ?? '') : '',
  };
}

function endOf(text: string): { readonly address: string; readonly port: number } | undefined {
  const [, hex = '', port = ''] = /^([0-9A-Fa-f]+):([0-9A-Fa-f]{4})$/.exec(text) ?? [];
  const address = addressOf(hex);
  return address === undefined ? undefined : { address, port: Number.parseInt(port, 16) };
}
