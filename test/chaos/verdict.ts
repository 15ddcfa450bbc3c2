import type { Home } from '../../lib/home/home.js';
import { readOutput } from '../support/read-output.js';
import type { AlertWatch } from './alert-watch.js';
import { type Ledger, SOURCES } from './ledger.js';
import { numberOfAlert } from './numbered-events.js';
import { type OutputName, outputParts } from './output-parts.js';
import { compareWithReference } from './reference-run.js';

/** Offending numbers that are named. */
const MAX_NAMED = 12;

export type Verdict = {
  /** Acknowledged events without an alert. */
  readonly lost: readonly number[];
  /** Events with more than one. */
  readonly doubled: readonly number[];
  /** Everything that is wrong, the above included; empty when all is well. */
  readonly problems: readonly string[];
};

/** Holds the outputs of a stopped product against what was sent to it. */
export function judge(home: Home, ledger: Ledger, watch: AlertWatch): Verdict {
  const problems: string[] = [];
  const times = new Map<number, number>();
  let lastOfStream = 0;
  for (const path of outputParts(home, 'alerts.json')) {
    for (const { text, offset } of jsonLines(path, problems)) {
      const number = numberOfAlert(text);
      if (number === undefined) continue;
      times.set(number, (times.get(number) ?? 0) + 1);
      const source = ledger.sourceOf(number);
      if (source === undefined) problems.push(`${path}, byte ${String(offset)}: nobody sent number ${String(number)}`);
      if (source !== 'stream') continue;
      if (number < lastOfStream) {
        problems.push(`number ${String(number)} of the stream comes after ${String(lastOfStream)}`);
      }
      lastOfStream = number;
    }
  }
  const lost: number[] = [];
  const doubled: number[] = [];
  for (const number of ledger.numbers()) {
    const count = times.get(number) ?? 0;
    if (count === 0 && ledger.isAcknowledged(number)) lost.push(number);
    if (count > 1) doubled.push(number);
  }
  if (lost.length > 0) problems.push(`lost: ${named(lost, ledger)}`);
  if (doubled.length > 0) problems.push(`doubled: ${named(doubled, ledger)}`);
  for (const source of SOURCES) {
    if (ledger.acknowledgedBy(source) === 0) problems.push(`nothing that came by ${source} was acknowledged`);
  }
  problems.push(...watch.changedFiles());
  for (const path of outputParts(home, 'alerts.log')) checkText(path, problems);
  for (const name of ['alerts.json', 'archives.json'] satisfies OutputName[]) {
    for (const path of outputParts(home, name)) if (!endsWhole(path)) problems.push(`${path} ends in a torn line`);
  }
  try {
    problems.push(...compareWithReference(home));
  } catch (error) {
    problems.push(`archives.json cannot be analysed again: ${error instanceof Error ? error.message : String(error)}`);
  }
  return { lost, doubled, problems };
}

function named(numbers: readonly number[], ledger: Ledger): string {
  const shown = numbers.slice(0, MAX_NAMED).map((number) => `${String(number)} (${ledger.sourceOf(number) ?? '?'})`);
  return `${String(numbers.length)} events: ${shown.join(', ')}${numbers.length > MAX_NAMED ? ', ...' : ''}`;
}

function* jsonLines(path: string, problems: string[]): Generator<{ readonly text: string; readonly offset: number }> {
  let offset = 0;
  for (const text of readOutput(path).toString('latin1').split('\n')) {
    if (text !== '') {
      try {
        JSON.parse(text);
        yield { text, offset };
      } catch {
        problems.push(`${path}, byte ${String(offset)}: no JSON: ${text.slice(0, 100)}`);
      }
    }
    offset += text.length + 1;
  }
}

function endsWhole(path: string): boolean {
  const bytes = readOutput(path);
  return bytes.length === 0 || bytes.at(-1) === 0x0a;
}

/** Every alert begins behind an empty line, and its id names the byte where it begins (rules-and-alerts.md 7.4). */
function checkText(path: string, problems: string[]): void {
  const text = readOutput(path).toString('latin1');
  if (text !== '' && !text.endsWith('\n\n')) problems.push(`${path} ends in a torn alert`);
  let offset = 0;
  for (const record of text.split('\n\n')) {
    if (record !== '' && /^\*\* Alert \d+\.(\d+):/.exec(record)?.[1] !== String(offset)) {
      problems.push(`${path}, byte ${String(offset)}: no alert with this offset in its id: ${record.slice(0, 100)}`);
      return;
    }
    offset += record.length + 2;
  }
}
