import { connect } from 'node:net';

/** Whether somebody answers at a socket path, and if not, why. */
export type ProbeResult = { readonly listening: true } | { readonly listening: false; readonly reason: string };

/**
 * Connects to a socket path and hangs up. libzmq tells a caller neither that the file is missing, nor that nobody
 * listens, nor that permission is missing: it goes on trying. A plain connect says so at once.
 * @param timeoutMs how long to wait for a peer whose backlog is full
 */
export function probeSocket(path: string, timeoutMs: number): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const finish = (result: ProbeResult): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => {
      finish({ listening: false, reason: `'${path}' does not accept connections` });
    }, timeoutMs);
    socket.once('connect', () => {
      finish({ listening: true });
    });
    // `on`, not `once`: a second error after the first must not be an uncaught one.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      finish({ listening: false, reason: describe(path, error) });
    });
  });
}

function describe(path: string, error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'ENOENT':
      return `'${path}' does not exist`;
    case 'ECONNREFUSED':
      return `nobody listens on '${path}'`;
    case 'EACCES':
    case 'EPERM':
      return `permission denied for '${path}'`;
    case 'EAGAIN':
      return `'${path}' does not accept connections`;
    default:
      return `'${path}' cannot be reached: ${error.message}`;
  }
}
