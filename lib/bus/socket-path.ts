import { isAbsolute } from 'node:path';
import { BusError } from './bus-error.js';
import { MAX_SOCKET_PATH_BYTES } from './bus-limits.js';

/**
 * Refuses a path no socket can have, before libzmq cuts it or says only "invalid argument".
 * @throws BusError `bad_path`
 */
export function checkSocketPath(path: string): void {
  if (!isAbsolute(path) || path.includes('\0')) throw new BusError('bad_path', `socket path '${path}' is not absolute`);
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_SOCKET_PATH_BYTES) {
    throw new BusError(
      'bad_path',
      `socket path '${path}' has ${bytes} bytes, ${MAX_SOCKET_PATH_BYTES} is the limit: choose a shorter home directory`,
    );
  }
}
