import { expect } from 'chai';
import { RangeHash } from '../../../../../lib/events/sync/range-hash.js';
import { InventoryKit } from '../../../../support/inventory/inventory-kit.js';
import { delta, markedRow, packageRow, SCAN_TIME, state } from '../../../../support/inventory/inventory-messages.js';

const PORT = {
  ...{ inode: 1575, local_ip: '0.0.0.0', local_port: 2024, pid: 0, process: ' ', protocol: 'tcp' },
  ...{ remote_ip: '0.0.0.0', remote_port: 0, rx_queue: 0, state: 'listening', tx_queue: 0 },
};

// integrity-and-inventory.md 5.2, 11.
describe('Store of inventories', () => {
  let kit: InventoryKit;
  beforeEach(async () => {
    kit = await InventoryKit.open();
  });
  afterEach(() => kit.close());

  const names = async (agent: string) => {
    const { items } = await kit.list('packages', [agent], { sort: 'name' });
    return items.map(({ name, version }) => `${String(name)} ${String(version)}`);
  };
  /** What the agent says of all rows that it has. */
  const check = (rows: readonly Record<string, string | number>[], id = 1): string => {
    const marked = rows
      .map((row) => markedRow('packages', row))
      .sort((a, b) => (String(a['item_id']) < String(b['item_id']) ? -1 : 1));
    const hash = new RangeHash();
    for (const { checksum } of marked) hash.add(String(checksum));
    const ends = { begin: marked[0]?.['item_id'], end: marked.at(-1)?.['item_id'] };
    const data = { ...ends, checksum: hash.digest(), id };
    return JSON.stringify({ component: 'syscollector_packages', data, type: 'integrity_check_global' });
  };

  it('keeps what deltas tell: rows that come, change and go', async () => {
    await kit.events('001', delta('packages', 'INSERTED', packageRow('one')), delta('ports', 'INSERTED', PORT));
    await kit.events('001', delta('packages', 'INSERTED', packageRow('two')));
    await kit.events('001', delta('packages', 'MODIFIED', packageRow('one', { vendor: 'Another' })));
    expect(await names('001')).to.deep.equal(['one 1.0-1', 'two 1.0-1']);
    const { items } = await kit.list('packages', ['001'], { filters: { vendor: 'another' } });
    expect(items).to.have.length(1);
    await kit.events('001', delta('packages', 'DELETED', packageRow('two')));
    expect(await names('001')).to.deep.equal(['one 1.0-1']);
    expect((await kit.list('ports', ['001'])).items).to.deep.equal([
      {
        ...{ protocol: 'tcp', local: { ip: '0.0.0.0', port: 2024 }, remote: { ip: '0.0.0.0', port: 0 } },
        ...{ tx_queue: 0, rx_queue: 0, inode: 1575, state: 'listening', pid: 0, process: ' ' },
        ...{ scan: { id: 0, time: SCAN_TIME }, agent_id: '001' },
      },
    ]);
  });

  it('finds the row of a deletion that tells nothing but its key columns', async () => {
    await kit.events('001', delta('packages', 'INSERTED', packageRow('one')));
    const data = { name: 'one', version: '1.0-1', architecture: 'amd64', format: 'deb', location: ' ' };
    await kit.events('001', JSON.stringify({ data, operation: 'DELETED', type: 'dbsync_packages' }));
    expect(await names('001')).to.deep.equal([]);
    const address = { iface: 'eth0', proto: 0, address: '10.0.0.1', netmask: '255.0.0.0', broadcast: ' ' };
    await kit.events('001', delta('network_address', 'INSERTED', address));
    expect((await kit.list('netaddr', ['001'])).items).to.deep.equal([
      { ...address, proto: 'ipv4', scan: { id: 0 }, agent_id: '001' },
    ]);
    const key = { iface: 'eth0', proto: 0, address: '10.0.0.1' };
    await kit.events('001', JSON.stringify({ data: key, operation: 'DELETED', type: 'dbsync_network_address' }));
    expect((await kit.list('netaddr', ['001'])).total).to.equal(0);
  });

  it('applies each event once, and goes on where it was after a start', async () => {
    const operations = ['one', 'two'].map((name, index) => ({
      ...{ position: index, agent: '001', kind: 'inventory' as const, at: 1 },
      message: Buffer.from(delta('packages', 'INSERTED', packageRow(name))),
    }));
    await kit.database.apply({ journal: 'one', operations, upTo: 2 });
    await kit.reopen();
    expect(kit.database.position).to.deep.equal({ journal: 'one', position: 2 });
    const gone = {
      ...operations[0]!,
      position: 2,
      message: Buffer.from(delta('packages', 'DELETED', packageRow('one'))),
    };
    await kit.database.apply({ journal: 'one', operations: [gone], upTo: 3 });
    await kit.database.apply({ journal: 'one', operations: [...operations, gone], upTo: 3 });
    expect(await names('001')).to.deep.equal(['two 1.0-1']);
    expect(kit.database.counters.events).to.deep.equal({ applied: 1, repeated: 3 });
  });

  it('is made equal to the agent by the synchronisation, and changes nothing when it is', async () => {
    const rows = ['a', 'b', 'c', 'd'].map((name) => packageRow(name));
    await kit.events('001', delta('packages', 'INSERTED', packageRow('stale')));
    const first = await kit.sync('001', check(rows));
    expect(first).to.match(/^syscollector_packages dbsync (no_data|checksum_fail) \{/);
    for (const row of rows) expect(await kit.sync('001', state('packages', row))).to.equal(undefined);
    // The row that the agent does not have may lie between two that it has.
    await kit.events('001', delta('packages', 'DELETED', packageRow('stale')));
    const before = kit.database.stats()['writes'];
    expect(await kit.sync('001', check(rows, 2))).to.equal(undefined);
    expect(await names('001')).to.deep.equal(['a 1.0-1', 'b 1.0-1', 'c 1.0-1', 'd 1.0-1']);
    for (const row of rows) await kit.sync('001', state('packages', row));
    const after = kit.database.stats()['writes'] as { changes: number };
    expect(
      after.changes - (before as { changes: number }).changes,
      'the round is noted, no row is written',
    ).to.be.below(6);
    await kit.sync(
      '001',
      JSON.stringify({ component: 'syscollector_packages', data: { id: 3 }, type: 'integrity_clear' }),
    );
    expect(await names('001')).to.deep.equal([]);
    await kit.database.emptied();
  });

  it('refuses what is no row, counts it and says so once', async () => {
    const bad = [
      'no json',
      '{}',
      '{"type":"dbsync_packages","operation":"INSERTED"}',
      '{"type":"dbsync_packages","operation":"INSERTED","data":{}}',
      delta('packages', 'INSERTED', packageRow('one')).replace('INSERTED', 'EXPLODED'),
    ];
    await kit.events('001', ...bad);
    expect(kit.database.counters.refused).to.include({ malformed: bad.length });
    await kit.events('001', '{"type":"program","data":{}}', '{"type":"dbsync_nonsense","data":{}}');
    expect(kit.database.counters.unknown_tables).to.equal(2);
    await kit.events('009', delta('packages', 'INSERTED', packageRow('one')));
    expect(kit.database.counters.refused).to.include({ unknown_agent: 1 });
    const long = packageRow('x'.repeat(70_000));
    await kit.events('001', delta('packages', 'INSERTED', long));
    expect(kit.database.counters.refused).to.include({ row_too_large: 1 });
    expect(kit.logger.lines.filter((line) => line.startsWith('warn'))).to.have.length(2);
    expect(await names('001')).to.deep.equal([]);
    for (const message of [
      '{"component":"syscollector_nonsense","type":"state"}',
      state('packages', {}).slice(0, 40),
    ]) {
      const code = await kit.sync('001', message).catch((error: unknown) => (error as { code: string }).code);
      expect(code).to.equal('bad_message');
    }
  });

  it('finds all rows of a name, be they more than are looked at in one go', async () => {
    const rows = Array.from({ length: 1200 }, (_none, index) => packageRow('same', { version: `1.${String(index)}` }));
    await kit.events('001', ...rows.map((row) => delta('packages', 'INSERTED', row)));
    await kit.events('001', delta('packages', 'INSERTED', packageRow('other')));
    const { items, total } = await kit.list('packages', ['001'], { limit: 2000, filters: { name: 'SAME' } });
    expect([total, new Set(items.map(({ version }) => version)).size]).to.deep.equal([1200, 1200]);
  });

  it('does not take the names of an object for columns', async () => {
    const row = packageRow('__proto__', { constructor: 'x' });
    await kit.events('001', delta('packages', 'INSERTED', row));
    expect(await names('001')).to.deep.equal(['__proto__ 1.0-1']);
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });

  it('forgets agents that are removed, also those that were removed while it was away', async () => {
    await kit.events('001', delta('packages', 'INSERTED', packageRow('one')));
    await kit.events('002', delta('packages', 'INSERTED', packageRow('two')));
    await kit.database.forget(['001']);
    expect(kit.database.holds('001')).to.equal(false);
    expect(await names('001')).to.deep.equal([]);
    kit.known.delete('002');
    await kit.reopen();
    expect(kit.database.holds('002')).to.equal(false);
    await kit.database.emptied();
    expect(kit.database.stats()).to.deep.include({ rows: 0 });
  });
});
