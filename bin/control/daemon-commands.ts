import { existsSync } from 'node:fs';
import type { Home } from '../../lib/home/home.js';
import { type ControlProgram, homeOf } from './control-program.js';
import { DEFAULT_WATCH_SECONDS, showStats } from './stats-command.js';
import { showStatus } from './status-command.js';
import { reloadSuite, restartSuite, startSuite, stopSuite } from './suite-commands.js';
import { stopStrays } from './supervisor/stray-processes.js';
import { validateConfiguration } from './validate-command.js';

/** Adds what starts, stops and looks at daemons (daemons-and-config.md 3). */
export function addDaemonCommands(program: ControlProgram): void {
  program.withOperand(
    'start [daemon...]',
    'check the configuration and start all daemons, or those named',
    (names: string[], command) => startSuite(program.suite(homeOf(command)), names),
  );
  program.withOperand('stop [daemon...]', 'stop all daemons, or those named', (names: string[], command) =>
    stop(program, homeOf(command), names),
  );
  program.withOperand(
    'restart [daemon...]',
    'stop and start; nothing is stopped when the configuration is bad',
    (names: string[], command) => restartSuite(program.suite(homeOf(command)), names),
  );
  program.withOperand('reload [daemon...]', 're-read configuration and ruleset in place', (names: string[], command) =>
    reloadSuite(program.suite(homeOf(command)), names),
  );
  program.withoutOperand(
    'validate',
    'check the whole configuration and say what of it has no effect; exit code 0 when it is right',
    (command) => validateConfiguration(program.suite(homeOf(command))),
  );
  program
    .withOperand(
      'status [daemon...]',
      'show which daemons run; exit code 0 when all that should do',
      (names: string[], command) =>
        showStatus(program, program.suite(homeOf(command)), names, command.opts<{ table?: true }>().table === true),
    )
    .option('--table', 'a table also where standard output is no terminal');
  program
    .withOperand(
      'stats [daemon...]',
      'show the way of events through the daemons; exit code 0 when all answered',
      (names: string[], command) => {
        const { watch } = command.opts<{ watch?: true | string }>();
        const { terminal, signal } = program.environment;
        return showStats(program.suite(homeOf(command)), names, {
          terminal,
          ...(watch === undefined ? {} : { watch: watch === true ? DEFAULT_WATCH_SECONDS : watchSeconds(watch) }),
          ...(signal === undefined ? {} : { signal }),
        });
      },
    )
    .option('--watch [seconds]', `again and again (default: every ${String(DEFAULT_WATCH_SECONDS)} s)`);
}

/** Also where home or `var/run` was removed under what runs: then processes are found by what they work on. */
async function stop(program: ControlProgram, home: Home, names: readonly string[]): Promise<number> {
  const all = names.length === 0;
  if (all && !existsSync(home.path('var', 'run'))) {
    const ended = await stopStrays(home, program.output);
    if (ended.length > 0) {
      program.output.document({ error: 0, data: ended.map((daemon) => ({ daemon, status: 'stopped' })) });
      return 0;
    }
  }
  const code = await stopSuite(program.suite(home), names);
  if (all) await stopStrays(home, program.output);
  return code;
}

/** @throws Error for anything but 0.1 to 3600 */
function watchSeconds(text: string): number {
  const seconds = /^\d{1,4}(\.\d)?$/.test(text) ? Number(text) : 0;
  if (seconds < 0.1 || seconds > 3600) throw new Error(`--watch ${text}: seconds are a number from 0.1 to 3600`);
  return seconds;
}
