import { readDaemonStatus } from '../../../lib/daemon/daemon-status.js';
import type { Home } from '../../../lib/home/home.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { eventually } from '../eventually.js';
import type { TestProgram } from './run-program.js';

/** A hook has no second try, and on a machine that is very busy several daemons at once take half a minute to start. */
const START_MS = 90_000;

/**
 * Waits until these programs are daemons that run.
 * @returns their addresses, as each has written them
 * @throws Error with what a program said when it ended, and with what all said when they do not run in time
 */
export async function daemonsRun(home: Home, programs: ReadonlyMap<DaemonName, TestProgram>) {
  const names = [...programs.keys()];
  const said = () => [...programs].map(([name, { stderr }]) => `${name}: ${stderr}`).join('\n');
  const look = async () => {
    for (const [name, { child, stderr }] of programs) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${name} ended: ${stderr}`);
    }
    const states = await readDaemonStatus(home, names);
    const run = [...programs].every(([name, { pid }]) => {
      const status = states.get(name);
      return status?.state === 'running' && status.pid === pid;
    });
    return run && new Map(names.map((name) => [name, states.get(name)?.addresses ?? {}]));
  };
  return eventually(`${names.join(' and ')} run`, look, START_MS).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${said()}`, { cause: error });
  });
}
