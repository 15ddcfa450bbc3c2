import { closeSync, fchmodSync, fchownSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../../lib/files/is-errno.js';
import { openSharedFile } from '../../../lib/files/open-own-file.js';
import { formatLogTime } from '../../../lib/log/log-line.js';

const FILE_MODE = 0o660;

/**
 * One line of logs/active-responses.log: `YYYY/MM/DD HH:MM:SS <program as called>: <text>` (daemons-and-config.md 5.4). The
 * order with its alert is in it whole: the decoder needs all of it. Written at once, so that scripts that run side by side do
 * not mix their lines.
 */
export function appendResponseLog(home: string, called: string, text: string, now = new Date()): void {
  const path = join(home, 'logs', 'active-responses.log');
  const { fd, made } = openSharedFile(path, FILE_MODE);
  try {
    if (made) {
      fchmodSync(fd, FILE_MODE);
      giveToService(fd, join(home, 'logs'));
    }
    // Valid JSON has none of these; other texts could forge a line.
    writeSync(fd, `${formatLogTime(now)} ${called}: ${text.replace(/[\x00-\x1f\x7f]/g, ' ')}\n`);
  } finally {
    closeSync(fd);
  }
}

/** As the other logs it belongs to whom its directory belongs to, who reads and rotates it. */
function giveToService(fd: number, directory: string): void {
  const { uid, gid } = statSync(directory);
  try {
    fchownSync(fd, uid, gid);
  } catch (error) {
    if (!isErrno(error, 'EPERM')) throw error;
  }
}
