import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';
import { pause } from '../../../../lib/async/pause.js';
import { isErrno } from '../../../../lib/files/is-errno.js';
import { parseAddress } from '../../../../lib/network/ip-expression.js';

/** States of a connection (RFC 9293 3.3.2), as the tables write them: each side has acknowledged the end of the other, or ours alone was. */
const TIME_WAIT = '06';
const FIN_WAIT_2 = '05';
/** Our end is on its way still when the other side's is here: looked at again after so long, milliseconds, */
const LOOK_MS = 20;
/** and no longer than this. */
const MOST_MS = 10_000;

/** The longer a table is, the longer it takes to be read: so many times as long it is left alone then (a fifth of a core). */
const REST = 4;

/** A table of connections, which all who wait for it read at the same time. */
class ConnectionTable {
  readonly #path: string;
  #reading: Promise<string> | undefined;
  /** When it may be read again, `performance.now()`. */
  #freeAt = 0;
  /** Whether it shows connections of this process; it is the same for all of them. */
  #isShown: boolean | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Whether it shows a connection that stands. */
  async shows(ends: string): Promise<boolean> {
    this.#isShown ??= (await this.stateOf(ends)) !== undefined;
    return this.#isShown;
  }

  /** Undefined when it has no such connection. */
  async stateOf(ends: string): Promise<string | undefined> {
    const text = await (this.#reading ??= this.#read());
    const at = text.indexOf(` ${ends} `);
    return at < 0 ? undefined : text.slice(at + ends.length + 2, at + ends.length + 4);
  }

  async #read(): Promise<string> {
    const wait = this.#freeAt - performance.now();
    await pause(Math.max(0, wait));
    // Who asks from here on may ask for what comes later than this.
    this.#reading = undefined;
    const begun = performance.now();
    const text = await readFile(this.#path, 'latin1').catch((error: unknown) => {
      if (isErrno(error, 'ENOENT', 'EACCES')) return '';
      throw error;
    });
    const now = performance.now();
    this.#freeAt = now + REST * (now - begun);
    return text;
  }
}

const TABLES = { IPv4: new ConnectionTable('/proc/net/tcp'), IPv6: new ConnectionTable('/proc/net/tcp6') } as const;

/** A connection as the table of this host has it. */
export type ConnectionEntry = {
  readonly table: ConnectionTable;
  /** Both ends, `0100007F:AA48 0100007F:0202`. */
  readonly ends: string;
};

/** The entry of a connection that stands; undefined where the system has no such table, or does not show it. */
export async function connectionEntry(socket: Socket): Promise<ConnectionEntry | undefined> {
  const { localAddress, localPort, remoteAddress, remotePort, remoteFamily } = socket;
  const local = shown(localAddress, localPort);
  const remote = shown(remoteAddress, remotePort);
  if (local === undefined || remote === undefined) return undefined;
  const entry = { table: TABLES[remoteFamily === 'IPv6' ? 'IPv6' : 'IPv4'], ends: `${local} ${remote}` };
  return (await entry.table.shows(entry.ends)) ? entry : undefined;
}

/**
 * Resolves when the other side has taken in everything up to our end. To be called when the connection is closed: both sides
 * closed it in order then, but a receiver that closed before it had read everything looks the same to us. The system knows: what
 * comes to a connection that nobody reads any more is answered with a reset, which ends it at once.
 * @throws Error when it had not
 */
export async function endAcknowledged(entry: ConnectionEntry): Promise<void> {
  const last = performance.now() + MOST_MS;
  for (;;) {
    const state = await entry.table.stateOf(entry.ends);
    if (state === TIME_WAIT) return;
    const late = performance.now() > last;
    // Over TLS the other side may say that it closes, and do so later.
    if (late && state === FIN_WAIT_2) return;
    if (late || state === undefined) throw new Error('the receiver closed the connection before it had everything');
    await pause(LOOK_MS);
  }
}

/** `0100007F:AA48`: words of four bytes in the order of this host. */
function shown(address: string | undefined, port: number | undefined): string | undefined {
  const numbers = parseAddress((address ?? '').replace(/%.*/, ''));
  if (numbers === undefined || port === undefined) return undefined;
  const isIpv4 = numbers.length === 4;
  const ordered = Buffer.from(isIpv4 ? numbers : numbers.flatMap((group) => [group >> 8, group & 0xff]));
  if (endianness() === 'LE') ordered.swap32();
  return `${ordered.toString('hex')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}
