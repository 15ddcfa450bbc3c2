import { parseArgs } from 'node:util';
import { type ChaosReport, runChaos } from './run-chaos.js';

/*
 * Kills the product while events come in, and checks that each acknowledged one has exactly one alert, and each alert what follows
 * from it: a message at a syslog receiver, and a response to those about visitors:
 *
 *   npm run chaos -- [--minutes N] [--kills N] [--seed S] [--sync never|batch|10ms] [--threads N] [--midnight SECONDS] [--keep]
 *
 * Ends after N minutes or N kills (1 minute without either). With --midnight, the clock of the product is ahead so that the day
 * ends so many seconds after the start. Exit code 0 when all is well; else, or with --keep, the
 * home is kept, and beside it driver.log and supervisor.out.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    kills: { type: 'string' },
    seed: { type: 'string' },
    sync: { type: 'string' },
    threads: { type: 'string' },
    midnight: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
const kills = values.kills === undefined ? Infinity : Number(values.kills);
// A kill and what belongs to it takes some 2 s.
const minutes = values.minutes === undefined ? (kills === Infinity ? 1 : kills / 10 + 1) : Number(values.minutes);
const seed = values.seed === undefined ? Math.floor(Math.random() * 1e6) : Number(values.seed);
const threads = values.threads === undefined ? undefined : Number(values.threads);
const midnight = values.midnight === undefined ? undefined : Number(values.midnight);
if (!(minutes > 0) || !(kills > 0) || !Number.isSafeInteger(seed) || !((midnight ?? 1) > 0) || !((threads ?? 1) > 0)) {
  console.error(
    'usage: npm run chaos -- [--minutes N] [--kills N] [--seed S] [--sync never|batch|10ms] [--threads N] [--midnight SECONDS]',
  );
  process.exit(2);
}

const abort = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    abort.abort();
  });
}
console.log(`seed ${String(seed)}`);
try {
  const { sync, keep } = values;
  const report = await runChaos({
    ...{ seed, kills, seconds: minutes * 60, sync, threads, keep, signal: abort.signal },
    ...(midnight === undefined ? {} : { midnightAfter: midnight }),
  });
  print(report);
  process.exitCode = report.problems.length === 0 ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

function print(report: ChaosReport): void {
  const sum = [...report.kills.values()].reduce((a, b) => a + b, 0);
  const list = (map: ReadonlyMap<string | number, number>): string =>
    [...map].map(([what, count]) => `${String(what)} ${String(count)}`).join(', ');
  console.log(`  kills          ${String(sum)}: ${list(report.kills)}`);
  console.log(
    `  power cuts     ${String(report.powerCuts)}, restarts ${String(report.restarts)}, reloads ${String(report.reloads)}`,
  );
  console.log(`  POST /events   ${list(report.statuses)} (0: no answer)`);
  console.log(`  sent           ${String(report.sent)}, acknowledged ${String(report.acknowledged)}`);
  console.log(`  lost           ${String(report.lost.length)}, doubled ${String(report.doubled.length)}`);
  const { forwarded, forwardedAgain, responded, respondedAgain } = report.effects;
  console.log(
    `  effects        ${String(forwarded)} alerts at syslog (${String(forwardedAgain)} came twice), ` +
      `${String(responded)} responses (${String(respondedAgain)} ran twice)`,
  );
  console.log(`  time           ${report.seconds.toFixed(0)} s, alerts of ${String(report.days)} days`);
  for (const problem of report.problems) console.log(`  PROBLEM        ${problem}`);
  if (report.evidence !== '') console.log(report.evidence);
  if (report.kept !== undefined) console.log(`  kept           ${report.kept}`);
}
