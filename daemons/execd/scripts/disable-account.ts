import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Outcome, Response, ResponseHost } from './response.js';

/** Where it is remembered which accounts were locked before anybody asked, below the home; root's alone. */
const KEPT = 'active-response/locked-before';

/**
 * `disable-account`: an account cannot be logged in to with its password (daemons-and-config.md 5.4). Accounts with the rights
 * of root are refused. One that was locked already stays locked when the response is undone: its lock is somebody else's.
 */
export const DISABLE_ACCOUNT: Response = {
  subject: 'user',
  add(user, host) {
    if (isRoot(user, host)) return `Account '${user}' has the rights of root and is not disabled`;
    try {
      if (isLocked(user, host)) remember(user, host);
    } catch (error) {
      return describeError(error);
    }
    return lock(user, host, { passwd: '-l', usermod: '-L' });
  },
  remove(user, host) {
    if (isRoot(user, host)) return undefined;
    const kept = keptPath(user, host);
    if (existsSync(kept)) {
      rmSync(kept, { force: true });
      return undefined;
    }
    return lock(user, host, { passwd: '-u', usermod: '-U' });
  },
};

function lock(
  user: string,
  { tools }: ResponseHost,
  flags: { readonly passwd: string; readonly usermod: string },
): Outcome {
  const passwd = tools.find('passwd');
  const usermod = tools.find('usermod');
  if (passwd === undefined && usermod === undefined) return 'There is neither passwd nor usermod';
  const { ok, problem } =
    passwd === undefined ? tools.run(usermod ?? '', [flags.usermod, user]) : tools.run(passwd, [flags.passwd, user]);
  return ok ? undefined : problem;
}

/** By `passwd -S`: `user L ...` or, on other systems, `user LK ...`. */
function isLocked(user: string, { tools }: ResponseHost): boolean {
  const passwd = tools.find('passwd');
  if (passwd === undefined) return false;
  const { ok, output } = tools.run(passwd, ['-S', user]);
  return ok && /^L/.test(output.trim().split(/\s+/)[1] ?? '');
}

function isRoot(user: string, { etc }: ResponseHost): boolean {
  if (user === 'root') return true;
  try {
    return readFileSync(join(etc, 'passwd'), 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .some(([name, , uid]) => name === user && Number(uid) === 0);
  } catch {
    return false;
  }
}

function keptPath(user: string, { home }: ResponseHost): string {
  return join(home, KEPT, user);
}

function remember(user: string, host: ResponseHost): void {
  mkdirSync(join(host.home, KEPT), { recursive: true, mode: 0o700 });
  writeFileSync(keptPath(user, host), '', { mode: 0o600 });
}
