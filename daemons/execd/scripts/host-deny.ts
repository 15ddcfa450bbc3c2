import { closeSync, fstatSync, ftruncateSync, readFileSync, writeSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isErrno } from '../../../lib/files/is-errno.js';
import { openRegularFileSync } from '../../../lib/files/regular-file.js';
import { writeFileAtomically } from '../../../lib/files/write-file-atomically.js';
import { describeError } from '../../../lib/log/describe-error.js';
import { LockHeldError, ProcessLock } from '../../../lib/process/process-lock.js';
import type { Outcome, Response, ResponseHost } from './response.js';

const NAME = 'hosts.deny';
/** A file that is larger is not written by people. */
const MAX_BYTES = 16 * 1024 ** 2;
const FILE_MODE = 0o644;
/** The file is another run's for that long at most. */
const LOCK_MS = 20_000;
const LOCK_PAUSE_MS = 20;

/** `host-deny`: an address is refused by what goes by /etc/hosts.deny (daemons-and-config.md 5.4). */
export const HOST_DENY: Response = {
  subject: 'address',
  add: (address, host) =>
    edit(host, (lines) => (lines.includes(lineOf(address)) ? undefined : [...lines, lineOf(address)])),
  remove: (address, host) =>
    edit(host, (lines) => {
      // Without brackets, as other versions wrote IPv6.
      const gone = [lineOf(address), `ALL:${address}`];
      const left = lines.filter((line) => !gone.includes(line.trim()));
      return left.length === lines.length ? undefined : left;
    }),
};

function lineOf(address: string): string {
  return isIPv6(address) ? `ALL:[${address}]` : `ALL:${address}`;
}

/** @param change the lines as they are to be; undefined leaves the file alone */
async function edit(
  host: ResponseHost,
  change: (lines: readonly string[]) => readonly string[] | undefined,
): Promise<Outcome> {
  const path = `${host.etc}/${NAME}`;
  try {
    const lock = await acquire(`${host.home}/active-response/${NAME}.lock`);
    try {
      const { lines, mode, owner } = read(path);
      const changed = change(lines);
      if (changed !== undefined) write(path, changed.map((line) => `${line}\n`).join(''), mode, owner);
      return undefined;
    } finally {
      lock.release();
    }
  } catch (error) {
    return `${path} cannot be changed: ${describeError(error)}`;
  }
}

async function acquire(path: string): Promise<ProcessLock> {
  const before = performance.now() + LOCK_MS;
  for (;;) {
    try {
      return ProcessLock.acquire(path);
    } catch (error) {
      if (!(error instanceof LockHeldError) || performance.now() > before) throw error;
    }
    await delay(LOCK_PAUSE_MS);
  }
}

type FileOwner = { readonly uid: number; readonly gid: number };
type ReadFile = { readonly lines: readonly string[]; readonly mode: number; readonly owner: FileOwner | undefined };

function read(path: string): ReadFile {
  let fd: number;
  try {
    ({ fd } = openRegularFileSync(path));
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return { lines: [], mode: FILE_MODE, owner: undefined };
    throw error;
  }
  try {
    const { size, mode, uid, gid } = fstatSync(fd);
    if (size > MAX_BYTES) throw new Error(`it has ${String(size)} bytes`);
    const text = readFileSync(fd, 'latin1');
    const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
    return { lines, mode: mode & 0o777, owner: { uid, gid } };
  } finally {
    closeSync(fd);
  }
}

function write(path: string, text: string, mode: number, owner: FileOwner | undefined): void {
  const bytes = Buffer.from(text, 'latin1');
  try {
    writeFileAtomically(path, bytes, { mode, durable: true, ...(owner === undefined ? {} : { owner }) });
  } catch (error) {
    // The file alone may be written where it was mounted into a container, or the service manager lets nothing else.
    if (!isErrno(error, 'EBUSY', 'EROFS', 'EACCES', 'EPERM', 'EXDEV')) throw error;
    overwrite(path, bytes);
  }
}

function overwrite(path: string, bytes: Buffer): void {
  const { fd } = openRegularFileSync(path, { access: 'update' });
  try {
    let written = 0;
    while (written < bytes.length) written += writeSync(fd, bytes, written, bytes.length - written, written);
    ftruncateSync(fd, bytes.length);
  } finally {
    closeSync(fd);
  }
}
