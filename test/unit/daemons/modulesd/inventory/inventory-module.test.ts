import { expect } from 'chai';
import { scanInThread } from '../../../../../daemons/modulesd/inventory/host/scan-in-thread.js';
import { InventoryModule, type ScanRun } from '../../../../../daemons/modulesd/inventory/inventory-module.js';
import type { BusEvent } from '../../../../../lib/bus/bus-event.js';
import type { SyscollectorConfig } from '../../../../../lib/config/sections/modules.js';
import { HOST_CLOCK, type SyncClock } from '../../../../../lib/sync/sync-clock.js';
import { ThreadDeadlineError } from '../../../../../lib/thread/run-in-thread.js';
import { eventually } from '../../../../support/eventually.js';
import { FakeInventoryManager } from '../../../../support/modulesd/fake-inventory-manager.js';
import { FakeRoot } from '../../../../support/modulesd/fake-root.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';

const CONFIG: SyscollectorConfig = {
  ...{ disabled: false, scan_on_start: true, interval: { unit: 'second', count: 3600 } },
  ...{ day: undefined, wday: undefined, time: undefined },
  ...{ hardware: false, os: false, network: false, packages: true, ports: { enabled: false, all: false } },
  ...{ processes: false, users: false, groups: true, services: false, browser_extensions: false, hotfixes: true },
  synchronization: { max_eps: 1000 },
};

/** Pauses are shorter. */
const QUICK_CLOCK: SyncClock = {
  ...HOST_CLOCK,
  sleep: (milliseconds, signal) => HOST_CLOCK.sleep(milliseconds / 20, signal),
};

const status = (...packages: readonly string[]): string =>
  packages
    .map((one) => {
      const [name, version] = one.split(' ');
      return `Package: ${String(name)}\nStatus: install ok installed\nVersion: ${String(version)}\nArchitecture: amd64\n`;
    })
    .join('\n');

type Delta = { readonly operation: string; readonly type: string; readonly data: Record<string, unknown> };

describe('inventory of a host', function () {
  this.timeout(30_000);
  let root: FakeRoot;
  let logger: RecordingLogger;
  let manager: FakeInventoryManager;
  let module: InventoryModule;
  let events: BusEvent[];
  let room = 1000;

  beforeEach(() => {
    root = new FakeRoot();
    root.write('/etc/passwd', 'root:x:0:0:root:/root:/bin/sh\n');
    root.write('/etc/group', 'root:x:0:\n');
    root.write('/var/lib/dpkg/status', status('nginx 1', 'zlib 2'));
    logger = new RecordingLogger();
    manager = new FakeInventoryManager();
    events = [];
    room = 1000;
    make(scanInThread);
  });
  afterEach(async () => {
    await module.stop();
    root.remove();
  });

  function make(scan: ScanRun): void {
    const producer = {
      get room() {
        return room;
      },
      ready: () => new Promise<void>(() => {}),
      send: (event: BusEvent) => {
        events.push(event);
        return Promise.resolve();
      },
    };
    module = new InventoryModule({
      ...{ root: root.path, scan, producer, logger, clock: QUICK_CLOCK, now: () => Date.now() },
      outlet: manager.outlet((order) => module.take(order)),
      maxEps: () => 1000,
      nice: () => 0,
    });
  }

  const deltas = (): Delta[] => events.map(({ message }) => JSON.parse(message.toString()) as Delta);
  const shown = (): string[] =>
    deltas().map(
      ({ operation, type, data }) =>
        `${operation} ${type} ${String(data['name'] ?? data['group_name'])} ${String(data['version'])}`,
    );
  const scans = (count: number) =>
    eventually(
      `${String(count)} scans`,
      () => logger.lines.filter((line) => line.endsWith('Evaluation finished.')).length >= count,
    );
  /** Another scan: the configuration is another one, and it begins at once. */
  let seconds = 3600;
  async function again(count: number, config: Partial<SyscollectorConfig> = {}): Promise<void> {
    seconds += 1;
    await module.follow({ ...CONFIG, interval: { unit: 'second', count: seconds }, ...config });
    await scans(count);
  }
  const stored = (component: string): string[] =>
    [...(manager.tables.get(component)?.values() ?? [])].map(({ attributes }) => String(attributes['name'])).sort();

  it('brings the first scan by synchronisation alone, and then tells what changes', async () => {
    await module.follow(CONFIG);
    await eventually('the manager has it', () => stored('syscollector_packages').length === 2);
    expect(events).to.deep.equal([]);
    root.write('/var/lib/dpkg/status', status('nginx 1', 'curl 8'));
    root.write('/etc/group', 'root:x:0:ann\n');
    await again(2);
    expect(shown()).to.have.members([
      'INSERTED dbsync_packages curl 8',
      'DELETED dbsync_packages zlib 2',
      'MODIFIED dbsync_groups root undefined',
    ]);
    expect(events[0]).to.include({ queue: 'd', location: 'syscollector' });
    const curl = deltas().find(({ data }) => data['name'] === 'curl');
    expect(curl?.data).to.include({ format: 'deb', architecture: 'amd64', size: 0, source: ' ' });
    expect(curl?.data).to.have.all.keys(
      ...[
        'architecture',
        'checksum',
        'description',
        'format',
        'groups',
        'install_time',
        'item_id',
        'location',
        'multiarch',
      ],
      ...['name', 'priority', 'scan_time', 'size', 'source', 'vendor', 'version'],
    );
    await eventually('the manager follows', () => stored('syscollector_packages').join() === 'curl,nginx');
    expect(module.stats).to.deep.include({
      rows: { packages: 2, groups: 1 },
      deltas: { inserted: 1, modified: 1, deleted: 1, too_long: 0, lost: 0 },
    });
  });

  it('keeps what it knows of a table that cannot be read, and says so', async () => {
    await module.follow(CONFIG);
    await scans(1);
    root.remove();
    root.write('/etc/passwd', 'root:x:0:0:root:/root:/bin/sh\n');
    root.write('/etc/group', 'root:x:0:\n');
    root.write('/var/lib/dpkg/status/none', '');
    await again(2);
    expect(events).to.deep.equal([]);
    expect(logger.lines.filter((line) => line.startsWith('warn'))).to.have.length(1);
    expect(logger.lines.join('\n')).to.match(/warn: The inventory keeps what it has of packages: .*not a regular file/);
    expect(module.stats).to.deep.include({ failed: 1, rows: { packages: 2, groups: 1 } });
  });

  it('goes on after a scan that broke off', async () => {
    let fails = true;
    make(async (order, onNews, signal) => {
      const summary = await scanInThread(order, onNews, signal);
      if (fails) throw new Error('the thread is gone');
      return summary;
    });
    await module.follow(CONFIG);
    await scans(1);
    expect(logger.lines).to.include('error: The inventory of this host could not be taken whole: the thread is gone');
    fails = false;
    root.write('/var/lib/dpkg/status', status('nginx 1'));
    await again(2);
    expect(shown()).to.deep.equal(['DELETED dbsync_packages zlib 2']);
  });

  it('tells again what it was telling when it was called off', async () => {
    await module.follow(CONFIG);
    await scans(1);
    root.write('/var/lib/dpkg/status', status('nginx 2', 'zlib 3', 'curl 8'));
    room = 0;
    await module.follow({ ...CONFIG, interval: { unit: 'second', count: 77 } });
    await eventually(
      'it waits for room',
      () => logger.lines.filter((line) => line.endsWith('Starting evaluation.')).length === 2,
    );
    room = 1000;
    await again(2);
    expect(shown()).to.have.length(5);
  });

  it('forgets tables that are switched off, and begins them anew', async () => {
    await module.follow(CONFIG);
    await scans(1);
    await again(2, { packages: false });
    expect(module.stats).to.deep.include({ rows: { groups: 1 } });
    root.write('/var/lib/dpkg/status', status('curl 8'));
    await again(3);
    expect(events).to.deep.equal([]);
    await eventually('the manager follows', () => stored('syscollector_packages').join() === 'curl');
    await module.follow({ ...CONFIG, disabled: true });
    expect(logger.lines.at(-1)).to.equal('info: Module disabled. Exiting...');
    expect(module.stats).to.deep.include({ enabled: false, rows: {} });
    await module.follow(undefined);
    expect(module.stats).to.deep.include({ enabled: false });
  });

  it('says once what it could not take whole, and counts it', async () => {
    root.write('/usr/lib/node_modules/\u001bx/package.json', '{');
    await module.follow(CONFIG);
    await scans(1);
    await again(2);
    const lines = logger.lines.filter((line) => line.includes('In the inventory'));
    expect(lines.map((line) => line.replace(root.path, ''))).to.deep.equal([
      'info: In the inventory, not what it should be: /usr/lib/node_modules/?x/package.json. Later ones are counted in its statistics alone.',
      'debug: In the inventory, not what it should be: /usr/lib/node_modules/?x/package.json',
    ]);
    expect(module.stats).to.deep.include({ notes: { malformed: 2 } });
  });

  it('gives up where scans do not come back', async () => {
    let scansBegun = 0;
    make((order) => {
      scansBegun += 1;
      // The first one is only slow.
      return Promise.reject(Object.assign(new ThreadDeadlineError('The scan', order.now), { isLeft: scansBegun > 1 }));
    });
    await module.follow({ ...CONFIG, interval: { unit: 'second', count: 1 } });
    await eventually('it gives up', () => logger.lines.some((line) => line.startsWith('error: No further inventory')));
    expect(module.stats).to.include({ scans: 4, stuck: 3 });
  });

  it('does not clear what the manager has of a table that is switched off', async () => {
    const slowly = { ...CONFIG, synchronization: { max_eps: 1 } };
    await module.follow(slowly);
    await scans(1);
    // The round of the groups waits for its turn.
    await module.follow({ ...slowly, groups: false });
    await scans(2);
    const checks = (): number => (module.stats['synchronization'] as { checks: number }).checks;
    await eventually('another round', () => checks() === 2 && stored('syscollector_packages').length === 2);
    expect(manager.messages.filter((message) => message.includes('integrity_clear'))).to.deep.equal([]);
  });

  it('waits for its interval where it is told to', async () => {
    await module.follow({ ...CONFIG, scan_on_start: false });
    expect(logger.lines).to.deep.equal(['info: Module started.']);
    expect(module.stats).to.include({ enabled: true, scans: 0 });
  });

  it('does not hold the daemon up', async function () {
    root.write(
      '/var/lib/dpkg/status',
      status(...Array.from({ length: 5000 }, (_none, index) => `package-${String(index)} 1.0`)),
    );
    let longest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    await module.follow({ ...CONFIG, synchronization: { max_eps: 1_000_000 } });
    await eventually(
      'the manager has all',
      () => (manager.tables.get('syscollector_packages')?.size ?? 0) === 5000,
      20_000,
    );
    clearInterval(timer);
    // The manager of this test is part of it; a turn of its own takes some milliseconds.
    expect(longest).to.be.below(500);
    expect(module.stats).to.deep.include({ rows: { packages: 5000, groups: 1 } });
  });
});
