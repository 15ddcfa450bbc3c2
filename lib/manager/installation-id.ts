import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { ifPresentSync } from '../files/if-present.js';
import { isErrno } from '../files/is-errno.js';
import type { Home } from '../home/home.js';

const FORM = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Identity of an installation (`uuid` of `GET /manager/info`): made at the first call, kept in `var/installation-id`.
 * Daemons that ask at the same moment get the same one.
 * @throws Error when the file holds something else, or cannot be read or written
 */
export function installationId(home: Home): string {
  const path = home.path('var', 'installation-id');
  const existing = read(path);
  if (existing !== undefined) return existing;
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, `${randomUUID()}\n`, { mode: 0o640 });
  try {
    // A link, unlike a rename, does not replace what another daemon made meanwhile.
    linkSync(temporary, path);
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  const made = read(path);
  if (made === undefined) throw new Error(`${path} vanished`);
  return made;
}

function read(path: string): string | undefined {
  const text = ifPresentSync(() => readFileSync(path, 'utf8').trim());
  if (text === undefined) return undefined;
  if (!FORM.test(text)) throw new Error(`${path} does not hold an installation id`);
  return text;
}
