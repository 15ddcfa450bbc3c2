import type { Home } from '../../lib/home/home.js';
import { compareDays, type DatedName, datedPath, filesAfter, RESPONSE_FILES } from '../../lib/output/dated-files.js';
import type { LocalDay } from '../../lib/time/local-day.js';

/** Output streams of svc-analysisd that a run compares, by their live names where they have one. */
const OUTPUTS = {
  'alerts.json': { area: 'logs/alerts', stem: 'ossec-alerts', extension: 'json' },
  'alerts.log': { area: 'logs/alerts', stem: 'ossec-alerts', extension: 'log' },
  'archives.json': { area: 'logs/archives', stem: 'ossec-archive', extension: 'json' },
  totals: { area: 'stats/totals', stem: 'ossec-totals', extension: 'log' },
  responses: { area: 'queue/responses', ...RESPONSE_FILES },
} as const;
export type OutputName = keyof typeof OUTPUTS;

const BEFORE_ALL: LocalDay = { year: 0, month: 0, day: 0 };

function datedName(home: Home, output: OutputName): DatedName {
  const { area, stem, extension } = OUTPUTS[output];
  return { directory: home.path(area), stem, extension };
}

/** A part of the output of a day. */
export type OutputPart = { readonly day: LocalDay; readonly part: number };

/** The parts of an output in the order of writing, those of days that are over in whatever form they are. */
export function datedParts(home: Home, output: OutputName): OutputPart[] {
  const parts = new Map<string, OutputPart>();
  // While one is being compressed it is there in both forms.
  for (const found of filesAfter(datedName(home, output), BEFORE_ALL)) {
    parts.set(outputPart(home, output, found), found);
  }
  return [...parts.values()].sort((a, b) => compareDays(a.day, b.day) || a.part - b.part);
}

/** The files of an output in the order of writing, by their plain names. A compressed one is not there under it (`readOutput`). */
export function outputParts(home: Home, output: OutputName): string[] {
  return datedParts(home, output).map((part) => outputPart(home, output, part));
}

/** Path of one of them. */
export function outputPart(home: Home, output: OutputName, { day, part }: OutputPart): string {
  return datedPath(datedName(home, output), day, part);
}
