import { readOutput } from '../support/read-output.js';
import type { ChaosHome } from './chaos-home.js';

/** Lines of each log that are shown, the newest. */
const MAX_LINES = 80;

/** What happened, and what the product complained of: the home of a run that failed may be gone with the machine that ran it. */
export function evidenceOf(place: ChaosHome): string {
  const happened = linesOf(place.beside('driver.log'));
  const complaints = linesOf(place.beside('supervisor.out')).filter((line) =>
    / (?:WARNING|ERROR|CRITICAL): /.test(line),
  );
  return [...shown('driver.log', happened), ...shown('warnings and errors', complaints)].join('\n');
}

function shown(what: string, lines: readonly string[]): string[] {
  const newest = lines.slice(-MAX_LINES);
  return [`${what}, ${String(newest.length)} of ${String(lines.length)} lines:`, ...newest.map((line) => `  ${line}`)];
}

function linesOf(path: string): string[] {
  return readOutput(path)
    .toString()
    .split('\n')
    .filter((line) => line !== '');
}
