import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import type { FinishedRow } from '../../../../../daemons/modulesd/inventory/finished-row.js';
import { InventorySync } from '../../../../../daemons/modulesd/inventory/inventory-sync.js';
import { TableRows } from '../../../../../daemons/modulesd/inventory/table-rows.js';
import type { InventoryTableName } from '../../../../../lib/events/inventory/inventory-tables.js';
import { compareKeys } from '../../../../../lib/fim/byte-order.js';
import type { SyncClock } from '../../../../../lib/sync/sync-clock.js';
import { eventually } from '../../../../support/eventually.js';
import { FakeInventoryManager } from '../../../../support/modulesd/fake-inventory-manager.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';

const NAMES: readonly InventoryTableName[] = ['users', 'packages'];

function row(key: string, checksum: string): FinishedRow {
  return { key, checksum, text: JSON.stringify({ checksum, user_name: key }) };
}

function sorted(rows: readonly FinishedRow[]): FinishedRow[] {
  return [...rows].sort((one, other) => compareKeys(one.key, other.key));
}

describe('synchronisation of the inventory', () => {
  const logger = new RecordingLogger();
  let now = 1000;
  let naps = 0;
  const clock: SyncClock = {
    now: () => (now += 1),
    elapsed: () => now,
    sleep: () => {
      naps += 1;
      return Promise.resolve();
    },
  };

  function begin(manager: FakeInventoryManager, maxEps = 0) {
    const tables = new Map(NAMES.map((name) => [name, new TableRows()]));
    const outlet = manager.outlet((order) => sync.take(order));
    const sync: InventorySync = new InventorySync({ sources: tables, outlet, clock, maxEps: () => maxEps, logger });
    sync.start();
    return { sync, tables };
  }

  const keys = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 }),
    fc.constantFrom(' ', "it's", '100%', '"', '\u{1F600}', '\uFFFD'),
  );
  // The key of a row is part of what its checksum is made of.
  const rows = fc.uniqueArray(fc.tuple(keys, fc.nat(3)), { selector: ([key]) => key, maxLength: 30 }).map((pairs) =>
    pairs.map(
      ([key, value]) =>
        [
          key,
          createHash('sha1')
            .update(`${key}${String(value)}`)
            .digest('hex'),
        ] as const,
    ),
  );

  it('makes any table of the manager equal, and agrees in the next round', async () => {
    await fc.assert(
      fc.asyncProperty(rows, rows, async (here, there) => {
        const manager = new FakeInventoryManager();
        manager.tables.set(
          'syscollector_users',
          new Map(there.map(([key, checksum]) => [key, { checksum, attributes: {} }])),
        );
        const { sync, tables } = begin(manager);
        tables.get('users')?.replace(sorted(here.map(([key, checksum]) => row(key, checksum))));
        const wanted = here.map(([key, checksum]) => `${key}=${checksum}`).sort();
        const stored = (): string[] =>
          [...(manager.tables.get('syscollector_users') ?? [])]
            .map(([key, { checksum }]) => `${key}=${checksum}`)
            .sort();
        sync.round(['users']);
        await eventually('both are equal', () => JSON.stringify(stored()) === JSON.stringify(wanted));
        await eventually('it is quiet', () => sync.stats['waiting'] === 0);
        sync.round(['users']);
        await eventually('the manager agrees', () => manager.complete.has('syscollector_users'));
        await sync.stop();
        expect(sync.stats).to.include({ failed: 0, malformed: 0, ignored: 0, too_long: 0 });
      }),
      { numRuns: 60 },
    );
    expect(logger.lines).to.deep.equal([]);
  }).timeout(60_000);

  it('has a round of each table, in turn, at the pace that is configured', async () => {
    const manager = new FakeInventoryManager();
    const { sync, tables } = begin(manager, 4);
    tables
      .get('users')
      ?.replace(Array.from({ length: 20 }, (_none, index) => row(String.fromCharCode(97 + index), 'x')));
    naps = 0;
    sync.round(NAMES);
    await eventually('all is there', () => sync.stats['states'] === 20);
    expect(manager.complete).to.deep.equal(new Set(['syscollector_packages']));
    expect(manager.messages).to.have.length(22);
    expect(naps).to.equal(5);
    expect(sync.stats).to.include({ rounds: 2, checks: 2, answers: 1 });
    await sync.stop();
  });

  it('counts answers that are none, or for tables that are not there', async () => {
    const manager = new FakeInventoryManager();
    const { sync } = begin(manager);
    sync.take('syscollector_users dbsync no_data {');
    sync.take('syscollector_nosuch dbsync no_data {"begin":"a","end":"b","id":1}');
    sync.take('syscollector_users');
    sync.take('');
    expect(sync.stats).to.include({ malformed: 1, unknown: 3, answers: 0 });
    await sync.stop();
    sync.take('syscollector_users dbsync no_data {"begin":"a","end":"b","id":1}');
    expect(sync.stats).to.include({ unknown: 4 });
    expect(manager.messages).to.deep.equal([]);
  });
});
