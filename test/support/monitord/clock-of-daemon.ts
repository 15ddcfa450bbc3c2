import { renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Home } from '../../../lib/home/home.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { RunningDaemon } from '../daemon/running-daemon.js';

const CLOCK = fileURLToPath(new URL('dist/test/support/monitord/moved-clock.js', productRoot()));

/** Sets the calendar of daemons of a home that {@link startWithClock} started, or will. @param time local, `2026-11-20T12:00:00` */
export function setClock(home: Home, time: string): void {
  writeFileSync(home.path('clock.new'), String(new Date(time).getTime() - Date.now()));
  renameSync(home.path('clock.new'), home.path('clock'));
}

/** What has a process go by a calendar that is ahead of the host's by as many milliseconds as a file has. */
export function clockEnvironment(file: string): NodeJS.ProcessEnv {
  const { NODE_OPTIONS = '' } = process.env;
  return { NODE_OPTIONS: `${NODE_OPTIONS} --import=${pathToFileURL(CLOCK).href}`.trimStart(), SVC_TEST_CLOCK: file };
}

/** A real daemon whose calendar {@link setClock} has set. */
export async function startWithClock(name: DaemonName, home: Home): Promise<RunningDaemon> {
  const { NODE_OPTIONS } = process.env;
  Object.assign(process.env, clockEnvironment(home.path('clock')));
  try {
    // It takes its environment before anything is waited for.
    return RunningDaemon.start(name, home);
  } finally {
    delete process.env['SVC_TEST_CLOCK'];
    if (NODE_OPTIONS === undefined) delete process.env['NODE_OPTIONS'];
    else process.env['NODE_OPTIONS'] = NODE_OPTIONS;
  }
}
