import type { LineTransform } from './single-line.js';

/**
 * The format `nmapg`: a line of nmap's grepable output becomes `Host: <ip>, open ports: <port>(<protocol>) ...`
 * (daemons-and-config.md 6.2); lines without open ports are no event.
 */
export const nmapLine: LineTransform = (bytes) => {
  const line = bytes.toString('latin1');
  const match = /^Host: (\S+) .*?\tPorts: ([^\t]*)/.exec(line);
  if (match === null) {
    return undefined;
  }
  const ports = (match[2] ?? '').split(', ').flatMap((entry) => {
    const [port, state, protocol] = entry.trim().split('/');
    return state === 'open' && port !== undefined && protocol !== undefined ? [`${port}(${protocol})`] : [];
  });
  return ports.length === 0
    ? undefined
    : Buffer.from(`Host: ${match[1] ?? ''}, open ports: ${ports.join(' ')}`, 'latin1');
};
