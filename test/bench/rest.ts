import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { callSupervisor } from '../../lib/control/control-client.js';
import { startOrder } from '../../lib/control/daemon-catalogue.js';
import { readDaemonStatus } from '../../lib/daemon/daemon-status.js';
import { Home } from '../../lib/home/home.js';
import { productProgram } from '../support/daemon/product-program.js';
import { TestProgram } from '../support/daemon/run-program.js';
import { calibrate } from '../support/process/measuring.js';
import { type MemoryUsage, memoryUsage } from '../support/process/memory-usage.js';
import { processUsage } from '../support/process/process-usage.js';
import { removeTree } from '../support/remove-tree.js';

/*
 * What the daemons of a manager with the shipped configuration cost while nothing happens: `npm run bench -- rest [SECONDS]`
 * after the start, 60 by default, when the first scans are over. Memory of each in MiB, CPU of its start and of what it did
 * since; then how long `svc-control start` takes, once with everything to be made and once again. Other processes of Node
 * share the program with them: `own` is what does not depend on that.
 */
const seconds = Number(process.argv[2] ?? 60);
const FIXED_PORTS = /<port>(?:1514|1515)<\/port>/g;

type Row = { readonly name: string; readonly memory: MemoryUsage; readonly cpu: number };

async function control(home: Home, ...args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await new TestProgram(productProgram('svc-control'), [...args, '--home', home.root])
    .ended;
  if (code !== 0) throw new Error(`svc-control ${args.join(' ')}: ${stderr || stdout}`);
}

/** @returns milliseconds */
async function timed(work: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** The supervisor and every daemon that runs. */
async function processes(home: Home): Promise<ReadonlyMap<string, number>> {
  const report = await callSupervisor(home, { command: 'status' });
  const found = new Map<string, number>([['supervisor', report?.pid ?? 0]]);
  for (const [name, { pid }] of await readDaemonStatus(home, startOrder('server'))) {
    if (pid !== undefined) found.set(name, pid);
  }
  return found;
}

/** A program of Node that does nothing. */
async function bareNode(): Promise<Row> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 60_000)']);
  await delay(1000);
  const row = rowOf(`node ${process.version} alone`, child.pid ?? 0);
  child.kill();
  return row;
}

function rowOf(name: string, pid: number): Row {
  return { name, memory: memoryUsage(pid), cpu: processUsage(pid).cpu };
}

function print({ name, memory: { resident, proportional, own }, cpu }: Row, started?: number): void {
  const columns = [resident, proportional, own].map((value) => value.toFixed(1).padStart(10));
  const start = started === undefined ? '' : `${started.toFixed(2)} s`;
  console.log(`${name.padEnd(24)}${columns.join('')}${start.padStart(10)}${`${cpu.toFixed(2)} s`.padStart(10)}`);
}

const { sha256Seconds, regExpSeconds } = calibrate();
console.log(`calibration: sha256 ${sha256Seconds.toFixed(2)} s, RegExp ${regExpSeconds.toFixed(2)} s`);
const home = new Home(mkdtempSync(join(tmpdir(), 'svc-rest-')));
try {
  await control(home, 'init');
  const configuration = home.path('etc', 'manager.conf');
  writeFileSync(configuration, readFileSync(configuration, 'utf8').replace(FIXED_PORTS, '<port>0</port>'));
  writeFileSync(home.path('api', 'configuration', 'api.yaml'), "host: ['127.0.0.1']\nport: 0\n");
  const first = await timed(() => control(home, 'start'));
  const atStart = new Map<string, number>();
  for (const [name, pid] of await processes(home)) atStart.set(name, processUsage(pid).cpu);
  await delay(seconds * 1000);
  console.log(
    `${''.padEnd(24)}${['resident', 'proport.', 'own', 'start', 'CPU'].map((each) => each.padStart(10)).join('')}`,
  );
  print(await bareNode());
  const rows = [...(await processes(home))].map(([name, pid]) => rowOf(name, pid));
  for (const row of rows) print(row, atStart.get(row.name));
  const sum = (read: (memory: MemoryUsage) => number): number =>
    rows.reduce((all, { memory }) => all + read(memory), 0);
  print(
    {
      name: 'together',
      memory: {
        resident: sum(({ resident }) => resident),
        proportional: sum(({ proportional }) => proportional),
        own: sum(({ own }) => own),
      },
      cpu: rows.reduce((all, { cpu }) => all + cpu, 0),
    },
    [...atStart.values()].reduce((all, one) => all + one, 0),
  );
  await control(home, 'stop');
  const again = await timed(() => control(home, 'start'));
  console.log(`svc-control start: ${(first / 1000).toFixed(2)} s the first time, ${(again / 1000).toFixed(2)} s again`);
} finally {
  await control(home, 'stop');
  removeTree(home.root);
}
