import { addClusterCommands } from './cluster/cluster-commands.js';
import { ControlOutput } from './control-output.js';
import { type ControlEnvironment, ControlProgram } from './control-program.js';
import { addDaemonCommands } from './daemon-commands.js';
import { addHomeCommands } from './home-commands.js';
import { addInfoCommands } from './info-commands.js';
import { addInstallCommands } from './install-commands.js';

/**
 * `svc-control` (daemons-and-config.md 3.1, 12).
 * @param args of the command line, without node and script
 * @returns the exit code
 */
export async function runControl(args: readonly string[], environment: ControlEnvironment): Promise<number> {
  // `-j` counts in any place, also where a command takes names.
  const json = args.includes('-j');
  const output = new ControlOutput(json, environment.write, environment.writeError);
  const program = new ControlProgram(environment, output);
  for (const add of [addDaemonCommands, addInfoCommands, addHomeCommands, addInstallCommands, addClusterCommands]) {
    add(program);
  }
  return program.run(args.filter((argument) => argument !== '-j'));
}
