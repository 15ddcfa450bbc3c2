import { productCatalogue, stopOrder } from '../../../lib/control/daemon-catalogue.js';
import { readRunRecord } from '../../../lib/daemon/run-record.js';
import type { Home } from '../../../lib/home/home.js';
import { eventually } from '../eventually.js';
import type { TestProgram } from './run-program.js';

const WAIT_MS = 30_000;

/** The host of an agent loses its power: ends the supervisor of its home and all daemons, by SIGKILL. */
export async function killSupervised(home: Home, supervisor: TestProgram): Promise<void> {
  const daemons = stopOrder('agent').filter((name) => productCatalogue().program(name) !== undefined);
  const running = (): number[] =>
    daemons.map((name) => readRunRecord(home.path('var', 'run', `${name}.json`))?.pid).filter(isAlive);
  // One that is about to be started could not be found, and would live on.
  const all = await eventually('all daemons run', () => running().length === daemons.length, WAIT_MS).catch(
    () => false,
  );
  supervisor.signal('SIGKILL');
  for (const pid of running()) process.kill(pid, 'SIGKILL');
  // Its daemons hold its output.
  if (all) await supervisor.ended;
}

function isAlive(pid: number | undefined): pid is number {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
}
