import { join } from 'node:path';
import type { Home } from '../../lib/home/home.js';
import { compareDays, type DatedName, datedPath, filesAfter } from '../../lib/output/dated-files.js';
import type { LocalDay } from '../../lib/time/local-day.js';

/** Output streams of svc-analysisd that a run compares, by their live names. */
const OUTPUTS = {
  'alerts.json': { area: 'alerts', stem: 'ossec-alerts', extension: 'json' },
  'alerts.log': { area: 'alerts', stem: 'ossec-alerts', extension: 'log' },
  'archives.json': { area: 'archives', stem: 'ossec-archive', extension: 'json' },
} as const;
export type OutputName = keyof typeof OUTPUTS;

const BEFORE_ALL: LocalDay = { year: 0, month: 0, day: 0 };

function datedName(home: Home, output: OutputName): DatedName {
  const { area, stem, extension } = OUTPUTS[output];
  return { directory: join(home.root, 'logs', area), stem, extension };
}

/** The dated files of an output in the order of writing. */
export function outputParts(home: Home, output: OutputName): string[] {
  const name = datedName(home, output);
  return filesAfter(name, BEFORE_ALL)
    .filter(({ isCompressed }) => !isCompressed)
    .sort((a, b) => compareDays(a.day, b.day) || a.part - b.part)
    .map(({ day, part }) => datedPath(name, day, part));
}

/** Path of one of them. */
export function outputPart(home: Home, output: OutputName, { day, part }: { day: LocalDay; part: number }): string {
  return datedPath(datedName(home, output), day, part);
}
