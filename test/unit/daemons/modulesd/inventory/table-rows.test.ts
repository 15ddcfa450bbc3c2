import { expect } from 'chai';
import fc from 'fast-check';
import type { FinishedRow } from '../../../../../daemons/modulesd/inventory/finished-row.js';
import { deltaMessage, inventorySyncMessage } from '../../../../../daemons/modulesd/inventory/inventory-messages.js';
import { changesBetween, TableRows } from '../../../../../daemons/modulesd/inventory/table-rows.js';
import { compareKeys } from '../../../../../lib/fim/byte-order.js';

const tableOf = fc
  .dictionary(
    fc.oneof(fc.string({ unit: 'grapheme', maxLength: 3 }), fc.constantFrom('a', 'b', '\u{1F600}', '\uFFFD')),
    fc.nat(2),
  )
  .map((entries) =>
    Object.entries(entries)
      .map(([key, checksum]) => ({ key, checksum: String(checksum), text: '{}' }))
      .sort((one, other) => compareKeys(one.key, other.key)),
  );

describe('rows of a table of the inventory', () => {
  it('say what brings one scan to the next', () => {
    fc.assert(
      fc.property(tableOf, tableOf, (before, after) => {
        const manager = new Map(before.map(({ key, checksum }) => [key, checksum]));
        for (const { operation, row } of changesBetween(before, after)) {
          expect(manager.has(row.key)).to.equal(operation !== 'INSERTED');
          if (operation === 'DELETED') manager.delete(row.key);
          else manager.set(row.key, row.checksum);
          if (operation === 'MODIFIED') {
            expect(before.find(({ key }) => key === row.key)?.checksum).to.not.equal(row.checksum);
          }
        }
        expect([...manager].sort()).to.deep.equal(after.map(({ key, checksum }) => [key, checksum]).sort());
        expect([...changesBetween(after, after)]).to.deep.equal([]);
      }),
    );
  });

  it('give ranges in the order of their keys', () => {
    fc.assert(
      fc.property(tableOf, fc.string({ maxLength: 2 }), fc.string({ maxLength: 2 }), (rows, begin, end) => {
        const table = new TableRows();
        table.replace(rows);
        expect([...table.range(begin, end)]).to.deep.equal(
          rows.filter(({ key }) => compareKeys(key, begin) >= 0 && compareKeys(key, end) <= 0),
        );
        expect([table.first(), table.last()]).to.deep.equal([rows[0], rows.at(-1)]);
      }),
    );
  });

  const row: FinishedRow = {
    key: 'caf\u00E9',
    checksum: 'abc',
    text: '{"name":"x \\"scan_time\\":\\"no\\"","scan_time":"2023/11/14 22:13:20","size":1}',
  };

  it('become events', () => {
    expect(deltaMessage('packages', { operation: 'INSERTED', row }, '2024/01/01 00:00:00')).to.equal(
      `{"data":${row.text},"operation":"INSERTED","type":"dbsync_packages"}`,
    );
    expect(deltaMessage('packages', { operation: 'DELETED', row }, '2024/01/01 00:00:00')).to.equal(
      '{"data":{"name":"x \\"scan_time\\":\\"no\\"","scan_time":"2024/01/01 00:00:00","size":1},"operation":"DELETED","type":"dbsync_packages"}',
    );
  });

  it('become messages of the synchronisation, their keys as UTF-8', () => {
    const check = { begin: 'a', end: 'caf\u00E9', checksum: 'x', id: 7 };
    expect(inventorySyncMessage('users', { type: 'state', row })).to.equal(
      `{"component":"syscollector_users","data":{"attributes":${row.text},"index":"caf\xc3\xa9","timestamp":""},"type":"state"}`,
    );
    expect(inventorySyncMessage('users', { type: 'integrity_check_left', check: { ...check, tail: 'd' } })).to.equal(
      '{"component":"syscollector_users","data":{"begin":"a","checksum":"x","end":"caf\xc3\xa9","id":7,"tail":"d"},"type":"integrity_check_left"}',
    );
    expect(inventorySyncMessage('users', { type: 'integrity_check_global', check })).to.equal(
      '{"component":"syscollector_users","data":{"begin":"a","checksum":"x","end":"caf\xc3\xa9","id":7},"type":"integrity_check_global"}',
    );
    expect(inventorySyncMessage('users', { type: 'integrity_clear', id: 7 })).to.equal(
      '{"component":"syscollector_users","data":{"id":7},"type":"integrity_clear"}',
    );
  });
});
