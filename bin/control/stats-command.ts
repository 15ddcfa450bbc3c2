import { pause } from '../../lib/async/pause.js';
import { selectDaemons, stopOrder } from '../../lib/control/daemon-catalogue.js';
import { wantedDaemons } from '../../lib/control/wanted-daemons.js';
import { homeRuns, whyUnavailable } from '../terminal/why-unavailable.js';
import { type DaemonStats, readDaemonStats } from './daemon-stats.js';
import { type EarlierStats, statsLines } from './stats-table.js';
import type { Suite } from './suite-commands.js';

/** Cursor home, clear to the end: the table is drawn over the one before. */
const CLEAR = '\u001b[H\u001b[2J';
/** Pause between two tables when none is given, seconds. */
export const DEFAULT_WATCH_SECONDS = 2;

export type StatsOptions = {
  /** Seconds between two answers; without it one is shown. */
  readonly watch?: number;
  /** A terminal is drawn over, other outputs get one table after the other. */
  readonly terminal: boolean;
  /** Ends a watch. */
  readonly signal?: AbortSignal;
};

/**
 * `svc-control stats`: the way of events through the daemons.
 * @param typed names as given: they are shown with everything they count; none for all that should run
 * @returns 0 when every daemon answered
 */
export async function showStats(suite: Suite, typed: readonly string[], options: StatsOptions): Promise<0 | 1> {
  const { home, record, catalogue, output } = suite;
  const { watch, terminal, signal } = options;
  const order = [...stopOrder(record.role)].reverse();
  const wanted = wantedDaemons(home, catalogue, order);
  const names = typed.length > 0 ? selectDaemons(order, typed) : order.filter((name) => wanted.has(name));
  let earlier: EarlierStats | undefined;
  for (;;) {
    const begin = performance.now();
    const daemons = await readDaemonStats(home, names);
    const lines = statsLines(daemons, typed.length > 0, earlier);
    if (terminal && watch !== undefined) output.line(CLEAR.concat(new Date().toLocaleString('sv')));
    else if (earlier !== undefined) output.line('');
    const [first] = names;
    if (first !== undefined && daemons.every(isSilent) && !homeRuns(home)) {
      output.problem(whyUnavailable(home, first, 'no daemon runs'));
    } else {
      for (const line of lines) output.line(line);
    }
    output.document({ error: daemons.some(isSilent) ? 1 : 0, data: daemons.map(item) });
    if (watch === undefined) return daemons.some(isSilent) ? 1 : 0;
    await pause(watch * 1000, signal);
    if (signal?.aborted === true) return 0;
    earlier = { daemons, seconds: (performance.now() - begin) / 1000 };
  }
}

function isSilent({ stats }: DaemonStats): boolean {
  return stats === undefined;
}

function item({ daemon, state, stats, problem }: DaemonStats): Record<string, unknown> {
  return { daemon, state, ...(stats === undefined ? {} : { stats }), ...(problem === undefined ? {} : { problem }) };
}
