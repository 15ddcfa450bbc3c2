import { scanInThread } from '../../daemons/modulesd/inventory/host/scan-in-thread.js';
import { InventoryModule } from '../../daemons/modulesd/inventory/inventory-module.js';
import { wantedTables } from '../../daemons/modulesd/inventory/scan-settings.js';
import { initialValues } from '../../lib/config/field.js';
import { type SyscollectorConfig, WODLE_SHAPES } from '../../lib/config/sections/modules.js';
import { HOST_CLOCK } from '../../lib/sync/sync-clock.js';
import { eventually } from '../support/eventually.js';
import { FakeInventoryManager } from '../support/modulesd/fake-inventory-manager.js';
import { FakeRoot } from '../support/modulesd/fake-root.js';
import { processUsage } from '../support/process/process-usage.js';
import { RecordingLogger } from '../support/recording-logger.js';

/*
 * Figures of the inventory: `npm run bench -- inventory [PACKAGES] [PROCESSES]`, 2,000 and 500 by default, of a host that is made up.
 * The event loop's longest hold is what others in svc-modulesd would have waited.
 */
const [first = '2000', second = '500'] = process.argv.slice(2);
const packages = Number(first);
const processes = Number(second);
const PROBE_MS = 2;
const SCANS = 5;

const line = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** What a piece of work takes, and the longest time in which a timer did not come to its turn. */
async function measured(what: string, work: () => Promise<unknown>): Promise<void> {
  let longest = 0;
  let at = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - at - PROBE_MS);
    at = now;
  }, PROBE_MS);
  const began = performance.now();
  const before = processUsage(process.pid);
  await work();
  const seconds = (performance.now() - began) / 1000;
  clearInterval(timer);
  const after = processUsage(process.pid);
  line(
    `${what}: ${seconds.toFixed(2)} s, CPU ${(after.cpu - before.cpu).toFixed(2)} s, ${after.rss.toFixed(0)} MiB, longest hold ${longest.toFixed(0)} ms`,
  );
}

function makeHost(root: FakeRoot): void {
  root.write('/etc/passwd', 'root:x:0:0:root:/root:/bin/sh\n');
  root.write('/etc/group', 'root:x:0:\n');
  const paragraph = (index: number): string =>
    `Package: package-${String(index)}\nStatus: install ok installed\nPriority: optional\nSection: libs\nInstalled-Size: ${String(index)}\nMaintainer: A Maintainer <a@example.org>\nArchitecture: amd64\nVersion: 1.${String(index)}-1\nDepends: ${'libsomething (>= 1.0), '.repeat(8)}\nDescription: package number ${String(index)}\n${' A longer description of it.\n'.repeat(10)}`;
  root.write('/var/lib/dpkg/status', Array.from({ length: packages }, (_none, index) => paragraph(index)).join('\n'));
  for (let index = 1; index <= processes; index += 1) {
    const directory = `/proc/${String(index)}`;
    root.write(
      `${directory}/stat`,
      `${String(index)} (worker) S 1 1 1 0 -1 0 0 0 0 0 4 5 0 0 20 0 1 0 99 1 1 ${'0 '.repeat(30)}`,
    );
    root.write(`${directory}/status`, 'Tgid:\t1\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nVmSize:\t100 kB\nVmRSS:\t50 kB\n');
    root.write(`${directory}/statm`, '100 50 20 1 0 2 0\n');
    root.write(`${directory}/cmdline`, `/usr/bin/worker\0--number\0${String(index)}\0`);
    root.write(`${directory}/comm`, 'worker\n');
    for (let fd = 0; fd < 20; fd += 1) {
      root.link(`${directory}/fd/${String(fd)}`, `socket:[${String(index * 100 + fd)}]`);
    }
  }
}

const config = {
  ...initialValues(WODLE_SHAPES['syscollector'] ?? {}),
  synchronization: { max_eps: 0 },
} as unknown as SyscollectorConfig;
const root = new FakeRoot();
const manager = new FakeInventoryManager();
const logger = new RecordingLogger();
try {
  makeHost(root);
  const scan = (at: string) => async (): Promise<void> => {
    const order = { root: at, tables: wantedTables(config), allPorts: false, now: Date.now(), nice: 0 };
    await scanInThread(order, () => {}, new AbortController().signal);
  };
  await measured('a scan of it', scan(root.path));
  await measured('another scan', scan(root.path));
  await measured('a scan of this host', scan('/'));
  let sent = 0;
  const producer = {
    room: 1000,
    ready: () => Promise.resolve(),
    send: () => {
      sent += 1;
      return Promise.resolve();
    },
  };
  const module: InventoryModule = new InventoryModule({
    ...{ root: root.path, scan: scanInThread, producer, logger, clock: HOST_CLOCK, now: () => Date.now() },
    outlet: manager.outlet((order) => module.take(order)),
    maxEps: () => 1_000_000,
    nice: () => 0,
  });
  const synchronised = (): boolean => (manager.tables.get('syscollector_packages')?.size ?? 0) === packages;
  await measured('the first scan with its synchronisation to an empty manager', async () => {
    await module.follow({ ...config, synchronization: { max_eps: 1_000_000 } });
    await eventually('all is there', synchronised, 600_000);
  });
  const finished = (): number => logger.lines.filter((text) => text.endsWith('Evaluation finished.')).length;
  const every = { interval: { unit: 'second' as const, count: 1 }, synchronization: { max_eps: 1_000_000 } };
  await measured(`${String(SCANS)} scans that find the same`, async () => {
    const before = finished();
    await module.follow({ ...config, ...every });
    await eventually('they are done', () => finished() >= before + SCANS, 600_000);
  });
  line(`events of changes: ${String(sent)}`);
  await module.stop();
} finally {
  root.remove();
}
