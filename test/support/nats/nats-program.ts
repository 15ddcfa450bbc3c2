import { spawnSync } from 'node:child_process';

/** Why tests with real NATS servers cannot run; undefined where they can. */
const noNatsServer: string | undefined =
  spawnSync('nats-server', ['--version']).status === 0 ? undefined : 'there is no nats-server on this host';

/** Whether the system can end a process with its parent: then no server outlives a killed run of tests. */
const endsWithParent = spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0;

/** The command line of a server. */
export function natsServerCommand(configuration: string): readonly [string, ...string[]] {
  const command = ['nats-server', '-c', configuration] as const;
  return endsWithParent ? ['setpriv', '--pdeathsig', 'KILL', ...command] : command;
}

/** Skips a suite, with a line that says why, where there is no nats-server; to be called first in a hook of it. */
export function skipWithoutNatsServer(suite: Mocha.Context): void {
  if (noNatsServer === undefined) return;
  console.log(`    (skipped: ${noNatsServer})`);
  suite.skip();
}
