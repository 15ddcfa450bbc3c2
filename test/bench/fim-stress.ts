import { runFimStress } from '../fim-stress/run-fim-stress.js';

/*
 * `npm run bench -- fim-stress [OPERATIONS [SEED [sync]]]`: 50,000 creations, modifications, renames and deletions of files
 * by default, while scans run, svc-syscheckd is killed twice, and svc-analysisd and svc-db once. What alerts.json and the API
 * tell of each path is compared with what is on the disk, and each alert with the one before it. With `sync`, svc-db hears
 * of the files by synchronisation as well. Ends with 1 when anything is missing or told twice.
 */
const [operations = '50000', seed = String(Date.now() % 1_000_000), sync] = process.argv.slice(2);
const line = (name: string, value: string) => process.stdout.write(`${name.padEnd(40)} ${value}\n`);
line('seed', seed);
const started = performance.now();
const report = await runFimStress({
  seed: Number(seed),
  files: 5000,
  operations: Number(operations),
  rounds: 10,
  kills: ['svc-syscheckd', 'svc-analysisd', 'svc-db', 'svc-syscheckd'],
  pauseMs: 5,
  frequency: 5,
  synchronization: sync === 'sync',
  patienceMs: 300_000,
  say: (text) => process.stdout.write(`${text}\n`),
});
line('operations', String(report.operations));
for (const [kind, count] of [...report.kinds].sort(([, a], [, b]) => b - a)) line(`  ${kind}`, String(count));
line('alerts', String(report.alerts));
for (const [mode, count] of report.modes) line(`  ${mode}`, String(count));
line('files in the end', String(report.files));
line('kills', String(report.kills));
line('most memory of svc-syscheckd', `${report.peakMemory.toFixed(0)} MiB`);
line('seconds', ((performance.now() - started) / 1000).toFixed(0));
line('missed or doubled', report.problems.length === 0 ? '0' : 'see below');
for (const problem of report.problems) process.stdout.write(`${problem}\n`);
if (report.kept !== undefined) line('kept', report.kept);
process.exitCode = report.problems.length === 0 ? 0 : 1;
