import { writeFileAtomically } from '../files/write-file-atomically.js';
import type { Home } from '../home/home.js';
import type { HomeRecord } from '../home/home-record.js';
import type { KeyText } from './key-text.js';

/** Mode of the key file (daemons-and-config.md 3.11). */
const KEYS_MODE = 0o640;

/**
 * Makes a key the only one of an agent's home, durably: an agent that lost it after its enrolment would have to wait
 * until the manager lets it be replaced.
 * @throws the file system's error; the old key then stays
 */
export function storeOwnKey(home: Home, { uid, gid }: HomeRecord, { id, name, ip, key }: KeyText): void {
  const own = process.geteuid?.() === 0 && uid !== undefined && gid !== undefined ? { owner: { uid, gid } } : {};
  const line = `${id} ${name} ${ip} ${key}\n`;
  writeFileAtomically(home.path('etc', 'client.keys'), line, { mode: KEYS_MODE, durable: true, ...own });
}
