import { expect } from 'chai';
import fc from 'fast-check';
import { InventoryBatch } from '../../../../../daemons/db/inventory/inventory-batch.js';
import { inventoryComponent } from '../../../../../daemons/db/inventory/inventory-component.js';
import { MAX_TABLE_BYTES } from '../../../../../daemons/db/inventory/inventory-limits.js';
import { SyncBudget } from '../../../../../daemons/db/rows/table-sync.js';
import { inventoryMethods } from '../../../../../lib/bus/contracts/db-inventory.js';
import { INVENTORY_TABLES, inventoryTable } from '../../../../../lib/events/inventory/inventory-tables.js';
import { readDelta, readInventoryState } from '../../../../../lib/events/inventory/read-row.js';
import { readJson } from '../../../../../lib/events/sync/read-json.js';
import { InventoryKit } from '../../../../support/inventory/inventory-kit.js';
import { delta, packageRow, state } from '../../../../support/inventory/inventory-messages.js';

const CHECKSUM = 'a'.repeat(40);

function global(begin: string, end: string, checksum = CHECKSUM): string {
  const data = { begin, end, checksum, id: 1 };
  return JSON.stringify({ component: 'syscollector_packages', data, type: 'integrity_check_global' });
}
const CLEAR = JSON.stringify({ component: 'syscollector_packages', data: { id: 3 }, type: 'integrity_clear' });

/** How often the event loop comes round while something is done. */
async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isDone = true;
  return turns;
}

// integrity-and-inventory.md 5.2, 11.
describe('Agents that mean harm to the store of inventories', () => {
  let kit: InventoryKit;
  beforeEach(async () => {
    kit = await InventoryKit.open();
  });
  afterEach(() => kit.close());

  it('cannot have numbers stored that no answer can carry', async () => {
    await kit.handlers['inventory.follow']({ follower: 'copy' });
    const text = delta('hwinfo', 'INSERTED', { board_serial: 'x', cpu_cores: 7777, cpu_mhz: 8888, ram_total: 1 });
    await kit.events('001', text.replace('7777', '1e999').replace('8888', '-1e999'));
    const { items } = await kit.list('hardware', ['001']);
    expect(items[0]).to.deep.include({ board_serial: 'x' });
    expect(JSON.stringify(items)).to.not.contain('null');
    const changes = await kit.handlers['inventory.changes']({ follower: 'copy', after: 1, limit: 10 });
    expect(inventoryMethods['inventory.changes'].result.parse(changes).changes.at(-1)?.row).to.deep.equal({
      board_serial: 'x',
      ram_total: 1,
    });
  });

  it('do not use up the slots of the store by saying over and over that they have nothing', async () => {
    await kit.sync('001', CLEAR);
    const slot = (): number => kit.database.reader.memory.state.nextSlot;
    const before = slot();
    for (let round = 0; round < 5; round += 1) {
      await kit.sync('001', state('packages', packageRow('one')));
      await kit.sync('001', CLEAR);
      await kit.sync('001', CLEAR);
      expect((await kit.list('packages', ['001'])).total).to.equal(0);
    }
    expect(slot()).to.equal(before);
    // A large table is let go of at once.
    await Promise.all(
      Array.from({ length: 600 }, (_none, index) =>
        kit.sync('001', state('packages', packageRow(`p${String(index)}`))),
      ),
    );
    expect((await kit.list('packages', ['001'])).total).to.equal(600);
    await kit.sync('001', CLEAR);
    expect((await kit.list('packages', ['001'])).total).to.equal(0);
    expect(slot()).to.equal(before + 1);
    await kit.database.emptied();
  });

  it('are refused checks when theirs have summed up too much in one call', async () => {
    for (const name of ['one', 'two', 'three']) await kit.sync('001', state('packages', packageRow(name)));
    const budget = new SyncBudget(5);
    const ask = (agent: string): Promise<string> =>
      kit.database.sync.take(agent, Buffer.from(global('0', 'g')), budget).then(
        ({ answer }) => answer,
        (error: unknown) => (error as { code: string }).code,
      );
    expect([await ask('001'), await ask('001'), await ask('001')]).to.deep.equal([
      'checksum_fail',
      'checksum_fail',
      'busy',
    ]);
    // Others, and the next call, have their own.
    const messages = [Buffer.from(global('0', 'g'))];
    const { answers } = await kit.handlers['inventory.sync_all']({ agents: [{ agent: '001', messages }] });
    expect(answers[0]).to.include({ failed: 0 });
  });

  it('and a hundred thousand that are harmless do not hold the event loop in a list', async () => {
    const ids = Array.from({ length: 1500 }, (_none, index) => String(index + 1).padStart(3, '0'));
    for (const id of ids) kit.known.add(id);
    const row = { os_name: 'Debian', hostname: 'a', os_version: '12' };
    await Promise.all(ids.map((id) => kit.sync(id, state('osinfo', row))));
    const turns = await turnsOf(() => kit.list('os', 'all', { q: 'os.name=Debian' }));
    expect(turns).to.be.at.least(4);
  });

  it('cannot fill the disk with few rows that are long', async () => {
    const component = inventoryComponent('001', 'packages');
    const { tables, memory } = kit.database.reader;
    const bytes = (): number | undefined => memory.components.get(component)?.bytes;
    const stored = (): number =>
      [...tables.rows.entries({ from: Buffer.alloc(4), to: Buffer.alloc(4, 255) })]
        .map(({ value }) => value.length)
        .reduce((sum, length) => sum + length, 0);
    await kit.events(
      '001',
      delta('packages', 'INSERTED', packageRow('one')),
      delta('packages', 'INSERTED', packageRow('two')),
    );
    await kit.sync('001', state('packages', packageRow('one', { description: 'longer than before' })));
    await kit.sync(
      '001',
      state('packages', packageRow('one', { description: 'longer than before' }), '2026/11/21 01:00:2'),
    );
    expect([bytes(), stored() > 0]).to.deep.equal([stored(), true]);
    await kit.events(
      '001',
      delta('packages', 'DELETED', packageRow('one')),
      delta('packages', 'DELETED', packageRow('two')),
    );
    expect(bytes()).to.equal(0);

    const batch = new InventoryBatch(tables, memory);
    batch.setComponent(component, { ...batch.ensureComponent(component), bytes: MAX_TABLE_BYTES - 500 });
    const table = inventoryTable('packages');
    if (table === undefined) throw new Error('no table');
    const row = { cells: table.columns.map(() => 'x'.repeat(50)), checksum: CHECKSUM, scanTime: '' };
    const short = { ...row, cells: table.columns.map(() => 'x') };
    expect(batch.putRow(component, table, Buffer.from('a'), row)).to.equal('too_many_rows');
    expect(batch.putRow(component, table, Buffer.from('a'), short)).to.equal(undefined);
  });

  it('leave nothing behind when they are removed while they talk', async () => {
    const messages = [state('packages', packageRow('one')), CLEAR, global('0', 'g')];
    const taken = Promise.allSettled(messages.map((message) => kit.sync('001', message)));
    kit.known.delete('001');
    await kit.database.forget(['001']);
    await taken;
    expect(kit.database.holds('001')).to.equal(false);
    expect(kit.database.counters.refused.unknown_agent).to.equal(1);
  });

  it('are forgotten some at a time when very many are removed', async () => {
    const ids = Array.from({ length: 600 }, (_none, index) => String(index + 1).padStart(3, '0'));
    for (const id of ids) kit.known.add(id);
    await Promise.all(ids.map((id) => kit.sync(id, state('osinfo', { os_name: 'Debian', hostname: 'a' }))));
    const commits = (): number => (kit.database.stats()['writes'] as { commits: number }).commits;
    const before = commits();
    for (const id of ids) kit.known.delete(id);
    await kit.database.forget(ids);
    expect(ids.filter((id) => kit.database.holds(id))).to.deep.equal([]);
    expect(commits() - before).to.be.at.least(3);
  });

  it('fill no memory with the rows in front of a page', async () => {
    await Promise.all(['one', 'two', 'three'].map((name) => kit.sync('001', state('packages', packageRow(name)))));
    const { items, total } = await kit.list('packages', ['001'], { q: 'name~o', offset: 1, limit: 1 });
    expect([items.length, total]).to.deep.equal([1, 2]);
    const all = await kit.list('packages', ['001'], { q: 'name~o' });
    expect(items).to.deep.equal([all.items[1]]);
    expect(await kit.list('packages', ['001'], { q: 'name~o', offset: 4_000_000_000 })).to.deep.equal({
      items: [],
      total: 2,
    });
  });

  describe('with messages of any form', () => {
    const piece = fc.oneof(
      fc.constantFrom('"', '{', '}', '[]', 'null', '-0', '1e999', '\\u0000', '\\ud800', '99999999999999999999', 'true'),
      fc.string(),
    );
    const edits = fc.array(fc.tuple(fc.nat(), fc.nat(20), piece), { maxLength: 4 });
    const edited = (message: string, changes: readonly (readonly [number, number, string])[]): Buffer => {
      let text = message;
      for (const [at, length, inserted] of changes) {
        const from = at % (text.length + 1);
        text = text.slice(0, from) + inserted + text.slice(from + length);
      }
      return Buffer.from(text);
    };
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom('1e308', 'NaN', '-0', '0x10', ' ', '9'.repeat(20)));
    const table = fc.constantFrom(...INVENTORY_TABLES);

    it('are rows of plain values, or refused', () => {
      const column = fc.oneof(
        fc.constantFrom(...new Set(INVENTORY_TABLES.flatMap(({ columns }) => columns.map(({ name }) => name)))),
        fc.constantFrom('__proto__', 'constructor', 'item_id', 'checksum', 'scan_time'),
      );
      fc.assert(
        fc.property(table, fc.array(fc.tuple(column, value)), fc.string(), edits, (where, members, index, changes) => {
          const inside = members.map(([name, member]) => `${JSON.stringify(name)}:${JSON.stringify(member)}`).join(',');
          const texts = [
            `{"type":"dbsync_${where.name}","operation":"INSERTED","data":{${inside}}}`,
            `{"type":"state","data":{"index":${JSON.stringify(index)},"attributes":{${inside}}}}`,
          ];
          for (const bytes of texts.flatMap((text) => [Buffer.from(text), edited(text, changes)])) {
            const message = readJson(bytes);
            for (const read of message === undefined ? [] : [readDelta(message), readInventoryState(where, message)]) {
              if (typeof read !== 'object' || read.row === undefined) continue;
              expect(read.row.cells).to.have.length(read.table.columns.length);
              for (const cell of read.row.cells) {
                const isPlain = cell === undefined || typeof cell === 'string' || Number.isFinite(cell);
                expect(isPlain, String(cell)).to.equal(true);
              }
            }
          }
        }),
      );
    });

    it('leave a store that answers', async () => {
      await kit.handlers['inventory.follow']({ follower: 'copy' });
      const key = fc.oneof(fc.string(), fc.constantFrom('', '\u0000', '\uD800', 'z'.repeat(3000), 'f'.repeat(40)));
      const check = fc
        .record({
          type: fc.constantFrom('integrity_check_global', 'integrity_check_left', 'integrity_check_right'),
          data: fc.record(
            { begin: key, end: key, tail: key, checksum: fc.constantFrom(CHECKSUM, ''), id: value },
            { requiredKeys: ['begin', 'end', 'checksum'] },
          ),
        })
        .map((message) => JSON.stringify({ component: 'syscollector_packages', ...message }));
      const whole = fc.oneof(
        check,
        fc.constantFrom(CLEAR, state('packages', packageRow('one')), delta('packages', 'DELETED', packageRow('one'))),
        fc.tuple(table, fc.string()).map(([{ name }, text]) => state(name, { pid: text, os_name: text })),
      );
      const message = fc.tuple(whole, edits).map(([text, changes]) => edited(text, changes));
      await fc.assert(
        fc.asyncProperty(fc.array(message, { maxLength: 20 }), async (messages) => {
          const { answers } = await kit.handlers['inventory.sync_all']({ agents: [{ agent: '001', messages }] });
          expect(answers).to.have.length(1);
          await kit.events('001', ...messages.map((bytes) => bytes.toString()));
          const { items, total } = await kit.list('packages', ['001']);
          expect(items).to.have.length(total);
        }),
        { numRuns: 60 },
      );
      const changes = await kit.handlers['inventory.changes']({ follower: 'copy', after: 1, limit: 1000 });
      inventoryMethods['inventory.changes'].result.parse(changes);
    });
  });
});
