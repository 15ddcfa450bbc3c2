import { selectDaemons, stopOrder } from '../../lib/control/daemon-catalogue.js';
import type { ControlProgram } from './control-program.js';
import { noEffectItems, noEffectLines, readNoEffect } from './no-effect-report.js';
import { readStatusReport, statusItems, statusTable } from './status-report.js';
import { cleanStalePidFiles, type Suite } from './suite-commands.js';
import { restartDue } from './supervisor/restart-due.js';

const WITHOUT_EFFECT = 'Configured, without effect';

/**
 * `svc-control status`: which daemons run.
 * @param typed names as given; none for all
 * @param table also where standard output is no terminal
 * @returns 0 when all that should run do
 */
export async function showStatus(
  { environment }: ControlProgram,
  suite: Suite,
  typed: readonly string[],
  table: boolean,
): Promise<number> {
  const { home, record, catalogue, output } = suite;
  const full = await readStatusReport(home, record, catalogue);
  const names = typed.length === 0 ? undefined : selectDaemons(stopOrder(record.role), typed);
  const report =
    names === undefined ? full : { ...full, daemons: full.daemons.filter(({ daemon }) => names.includes(daemon)) };
  const noEffect = names === undefined ? readNoEffect(home, record.role) : [];
  if (output.json) {
    const { supervisor } = report;
    output.document({
      error: 0,
      data: statusItems(report),
      home: home.root,
      role: record.role,
      supervisor: supervisor === undefined ? null : { pid: supervisor.pid, startedAt: supervisor.startedAt },
      restart_due: restartDue(report.daemons),
      no_effect: noEffectItems(noEffect),
    });
  } else if (table || environment.terminal) {
    for (const line of statusTable(report)) output.line(line);
    if (noEffect.length > 0) output.line(`\n${WITHOUT_EFFECT}:`);
    for (const line of noEffectLines(noEffect)) output.line(`  ${line}`);
  } else {
    cleanStalePidFiles(
      suite,
      (_path, daemon, pid) => `${daemon}: Process ${pid} not used by Security Manager, removing...`,
    );
    for (const { daemon, running } of report.daemons) {
      output.line(running ? `${daemon} is running...` : `${daemon} not running...`);
    }
    for (const { daemon, problem } of report.daemons) {
      if (problem !== undefined) output.problem(`${daemon}: ${problem}`);
    }
    for (const line of noEffectLines(noEffect)) output.problem(`${WITHOUT_EFFECT}: ${line}`);
  }
  return report.daemons.every(({ running, wanted }) => running || !(wanted || names !== undefined)) ? 0 : 1;
}
