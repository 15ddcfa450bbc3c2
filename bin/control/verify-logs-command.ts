import { createHash, type Hash } from 'node:crypto';
import { createReadStream, existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Home } from '../../lib/home/home.js';
import { describeError } from '../../lib/log/describe-error.js';
import { MONTH_NAMES } from '../../lib/time/local-day.js';
import type { ControlOutput } from './control-output.js';

/** Outputs of svc-analysisd, of whose days svc-monitord writes sums (daemons-and-config.md 4.3). */
const KINDS = ['alerts', 'archives', 'firewall'];
const SUM_NAME = /^(ossec-[a-z]+-\d{2})\.(log|json)\.sum$/;
/** Largest sum file that is read; they have some 700 bytes. */
const MAX_SUM_BYTES = 64 * 1024;
const NONE = 'none';

/** What is wrong with the files of a day. */
type SumProblem = { readonly sum: string; readonly problem: string };

/** Sums as a file has them; undefined where it is none. */
type ReadSum = { readonly current: string; readonly previous: string; readonly chained: string };

/**
 * `svc-control verify-logs`: holds alerts, archives and firewall events of past days against their sums, and each sum against the
 * one of the day after it.
 * @returns 1 when something was changed or is missing
 */
export async function verifyLogs({
  home,
  output,
}: {
  readonly home: Home;
  readonly output: ControlOutput;
}): Promise<0 | 1> {
  const problems: SumProblem[] = [];
  let checked = 0;
  for (const sum of sumFiles(home)) {
    checked += 1;
    for (const problem of await problemsOf(home, sum)) problems.push({ sum, problem });
  }
  for (const { sum, problem } of problems) output.line(`${sum}: ${problem}`);
  const days = `${String(checked)} ${checked === 1 ? 'sum' : 'sums'}`;
  output.line(
    problems.length === 0 ? `${days}: everything is as it was.` : `${days}, ${String(problems.length)} problems.`,
  );
  output.document({ error: problems.length === 0 ? 0 : 1, data: { checked, problems } });
  return problems.length === 0 ? 0 : 1;
}

/** Relative to the home, in the order of their days. */
function* sumFiles(home: Home): Generator<string> {
  for (const kind of KINDS) {
    for (const year of names(home, `logs/${kind}`).filter((name) => /^\d{4}$/.test(name))) {
      for (const month of MONTH_NAMES) {
        const directory = `logs/${kind}/${year}/${month}`;
        for (const name of names(home, directory)) if (SUM_NAME.test(name)) yield `${directory}/${name}`;
      }
    }
  }
}

async function problemsOf(home: Home, sum: string): Promise<string[]> {
  try {
    const read = readSum(home.path(sum));
    if (read === undefined) return ['it is no file of sums'];
    const problems: string[] = [];
    const files = partsOf(home, sum);
    if (files.length === 0 && read.current !== NONE) problems.push('its files are gone');
    else if ((await sumOf(files)) !== read.current) problems.push('its files were changed');
    // The first of them all, or the first that is kept, follows on nothing.
    const previous = home.path(read.previous);
    if (read.chained === NONE) return problems;
    if (existsSync(previous)) {
      if ((await sumOf([previous])) !== read.chained) problems.push(`the sum before it was changed (${read.previous})`);
    }
    return problems;
  } catch (error) {
    return [`it cannot be checked: ${describeError(error)}`];
  }
}

function readSum(path: string): ReadSum | undefined {
  if (lstatSync(path).size > MAX_SUM_BYTES) return undefined;
  const lines = [...readFileSync(path, 'utf8').matchAll(/^SHA256 \((.+)\) = (none|[0-9a-f]{64})$/gm)];
  const [current, chained] = lines;
  const [, previous = ''] = chained ?? [];
  // The name of the day before is the file's: it leads to nothing but sums.
  if (current === undefined || chained === undefined || !/^logs\/[\w/-]+\.(?:log|json)\.sum$/.test(previous)) {
    return undefined;
  }
  return { current: current[2] ?? NONE, previous, chained: chained[2] ?? NONE };
}

/** The file of the day and its rotated parts in order, each plain or compressed. */
function partsOf(home: Home, sum: string): string[] {
  const [, stem = '', extension = ''] = SUM_NAME.exec(basename(sum)) ?? [];
  const pattern = new RegExp(`^${stem}(-\\d{3})?\\.${extension}(?:\\.gz)?$`);
  const found = new Map<string, string>();
  for (const name of names(home, dirname(sum))) {
    const match = pattern.exec(name);
    if (match === null) continue;
    const part = match[1] ?? '';
    // Both are there for a moment while one is compressed: they have the same content.
    if (!found.has(part) || !name.endsWith('.gz')) found.set(part, home.path(dirname(sum), name));
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, path]) => path);
}

async function sumOf(paths: readonly string[]): Promise<string> {
  if (paths.length === 0) return NONE;
  const hash = createHash('sha256');
  for (const path of paths) await addTo(hash, path);
  return hash.digest('hex');
}

async function addTo(hash: Hash, path: string): Promise<void> {
  const take = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) hash.update(chunk);
  };
  const file = createReadStream(path, { highWaterMark: 1 << 20 });
  if (path.endsWith('.gz')) await pipeline(file, createGunzip(), take);
  else await pipeline(file, take);
}

function names(home: Home, directory: string): string[] {
  const path = join(home.path(directory));
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(path).sort() : [];
}
