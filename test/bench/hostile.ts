import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { warmUp } from '../../daemons/analysisd/warm-up.js';
import { type HostileCase, hostileCase, LARGE_CASE, MIXED_CASE } from '../support/engine/hostile/hostile-case.js';
import { HostileRun } from '../support/engine/hostile/hostile-run.js';
import { calibrate } from '../support/process/measuring.js';
import { heldMilliseconds } from '../support/process/thread-clock.js';

/*
 * For how long an event can hold the engine's thread, with rulesets and messages that are made to be as bad as they can:
 *
 *   npm run bench -- hostile [--seed 1] [--count 10000] [--limit 20] [--tries 5] [--worst 10] [--cold] [--unprepared]
 *                            [--only SEED:INDEX] [--many]
 *
 * `--count` events from the case of `--seed` on, 40 a case; with `--cold` a process for each event; with `--many` 500 a case,
 * of which few are large, so that a million of them takes an hour or less. A process runs what svc-analysisd runs before it
 * takes events, but with `--unprepared`. An event that is over the limit (ms) is taken again in fresh processes, behind those
 * before it and by itself, and the shortest time of each counts, so that noise of the machine is none of its; with `--many` so
 * is the worst of each process. Prints what was over the limit, with its case, and the worst events.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '10000' },
    limit: { type: 'string', default: '20' },
    tries: { type: 'string', default: '5' },
    worst: { type: 'string', default: '10' },
    cold: { type: 'boolean', default: false },
    unprepared: { type: 'boolean', default: false },
    only: { type: 'string' },
    many: { type: 'boolean', default: false },
    child: { type: 'boolean', default: false },
    cases: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    until: { type: 'string', default: String(Infinity) },
  },
});
const shape = values.many ? MIXED_CASE : LARGE_CASE;
/** Cases that a process takes before another one is begun: cold processes are part of it. */
const CASES_A_PROCESS = values.many ? 20 : 25;
/** Events of each process that are taken again with `--many`, whatever they took. */
const WORST_A_PROCESS = 1;
/** Events of a process that are told of: those that took longest. */
const MOST_TOLD = 20;
/** A process that takes longer (ms) hangs in an event. */
const PROCESS_TIME = 240_000;

type Timed = {
  readonly seed: number;
  readonly index: number;
  readonly ms: number;
  readonly steps: number;
  readonly ruleId: number | undefined;
  readonly writtenBytes: number;
};
type Batch = {
  readonly events: Timed[];
  readonly taken: number;
  readonly refused: number;
  readonly failures: string[];
};

function caseOf(seed: number): HostileCase {
  return hostileCase(seed, shape);
}

function takeCases(first: number, cases: number, from: number, until: number): Batch {
  if (!values.unprepared) warmUp();
  const events: Timed[] = [];
  const failures: string[] = [];
  let last: Timed | undefined;
  let taken = 0;
  let refused = 0;
  for (let seed = first; seed < first + cases; seed += 1) {
    // For whoever finds that it never ends.
    process.stderr.write(`case ${String(seed)}\n`);
    const run = HostileRun.load(caseOf(seed));
    if (run === undefined) {
      refused += 1;
      continue;
    }
    for (let index = from; index <= Math.min(until, shape.lines - 1); index += 1) {
      let outcome: ReturnType<HostileRun['take']> | undefined;
      const ms = heldMilliseconds(() => {
        outcome = run.take(index);
      });
      taken += 1;
      if (outcome === undefined) continue;
      last = { seed, index, ms, ...outcome };
      events.push(last);
    }
    failures.push(...run.failures.map((failure) => `case ${String(seed)}: ${failure.slice(0, 500)}`));
  }
  events.sort((a, b) => b.ms - a.ms);
  const worst = events.slice(0, MOST_TOLD);
  // Whoever asks for the events up to one wants to know of that one.
  if (last !== undefined && !worst.includes(last)) worst.push(last);
  return { events: worst, taken, refused, failures };
}

/** Takes cases in a process of their own. */
function inProcess(seed: number, cases: number, from: number, until: number): Promise<Batch> {
  const words = { seed, cases, from, until };
  const options = Object.entries(words).flatMap(([name, value]) => [`--${name}`, String(value)]);
  if (values.unprepared) options.push('--unprepared');
  if (values.many) options.push('--many');
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--child', ...options]);
    let out = '';
    let said = '';
    const timer = setTimeout(() => child.kill('SIGKILL'), PROCESS_TIME);
    child.stdout.on('data', (data: Buffer) => (out += data.toString()));
    child.stderr.on('data', (data: Buffer) => (said = (said + data.toString()).slice(-2000)));
    child.on('close', () => {
      clearTimeout(timer);
      try {
        resolve(JSON.parse(out) as Batch);
      } catch {
        resolve({ events: [], taken: 0, refused: 0, failures: [`process from case ${String(seed)} ended: ${said}`] });
      }
    });
  });
}

/** The shortest time of an event in fresh processes, as many as it takes to be within the limit. */
async function shortest({ seed, index }: Timed, from: number, tries: number, limit: number): Promise<number> {
  let least = Infinity;
  for (let run = 0; run < tries && least > limit; run += 1) {
    const { events } = await inProcess(seed, 1, from, index);
    least = Math.min(least, events.find((event) => event.index === index)?.ms ?? Infinity);
  }
  return least;
}

function describe({ seed, index, ms, steps, ruleId, writtenBytes }: Timed): string {
  const line = caseOf(seed).lines[index];
  const shown = JSON.stringify((line?.message ?? '').slice(0, 60));
  return `${ms.toFixed(1).padStart(7)} ms  ${String(seed)}:${String(index)}  ${String(steps)} steps, rule ${String(ruleId ?? '-')}, ${String(writtenBytes)} bytes written, queue ${line?.queue ?? ''}, ${String(line?.message.length ?? 0)} bytes: ${shown}`;
}

async function main(): Promise<void> {
  const limit = Number(values.limit);
  const tries = Number(values.tries);
  const count = Number(values.count);
  const start = Number(values.seed);
  const worst: Timed[] = [];
  const over = new Map<number, string>();
  const failures: string[] = [];
  let taken = 0;
  let refused = 0;
  let seed = start;
  let index = 0;
  while (taken < count) {
    const batch = values.cold
      ? await inProcess(seed, 1, index, index)
      : await inProcess(seed, CASES_A_PROCESS, 0, Infinity);
    taken += Math.max(batch.taken, values.cold ? 1 : CASES_A_PROCESS);
    refused += batch.refused;
    failures.push(...batch.failures);
    for (const [place, event] of batch.events.entries()) {
      // One of a case is enough: others are mostly over the limit for the same reason.
      if (over.has(event.seed) || (event.ms <= limit && !(values.many && place < WORST_A_PROCESS))) {
        worst.push(event);
        continue;
      }
      const alone = await shortest(event, event.index, tries, limit);
      const warm = await shortest(event, 0, tries, limit);
      worst.push({ ...event, ms: Math.max(warm, alone) });
      if (Math.max(warm, alone) <= limit) continue;
      const again = `again: ${warm.toFixed(1)} ms behind the others, ${alone.toFixed(1)} ms by itself`;
      over.set(event.seed, `${describe(event)}\n         ${again}`);
      console.log(over.get(event.seed));
    }
    worst.sort((a, b) => b.ms - a.ms);
    worst.length = Math.min(worst.length, Number(values.worst));
    seed += values.cold ? 1 : CASES_A_PROCESS;
    index = (index + 1) % shape.lines;
  }
  const { sha256Seconds, regExpSeconds } = calibrate();
  console.log(
    `${String(taken)} events of cases ${String(start)} to ${String(seed - 1)}, ${String(refused)} rulesets refused`,
  );
  console.log(`${String(over.size)} cases with an event over ${String(limit)} ms, ${String(failures.length)} failures`);
  for (const failure of failures) console.log(`  ${failure}`);
  for (const event of worst) console.log(describe(event));
  console.log(`calibration: sha256 ${sha256Seconds.toFixed(2)} s, RegExp ${regExpSeconds.toFixed(2)} s CPU`);
  process.exitCode = over.size + failures.length > 0 ? 1 : 0;
}

if (values.child) {
  console.log(
    JSON.stringify(takeCases(Number(values.seed), Number(values.cases), Number(values.from), Number(values.until))),
  );
} else if (values.only !== undefined) {
  const [seed = 1, index = 0] = values.only.split(':').map(Number);
  const { events, failures } = takeCases(seed, 1, 0, index);
  for (const event of events) console.log(describe(event));
  for (const failure of failures) console.log(failure);
} else {
  await main();
}
