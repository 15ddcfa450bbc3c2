import { expect } from 'chai';
import { inventoryTable } from '../../../../../lib/events/inventory/inventory-tables.js';
import { type InventoryRow, itemId, rowChecksum } from '../../../../../lib/events/inventory/row-marks.js';

/** The checksum of a row of a table. */
function checksum(table: string, row: InventoryRow): string {
  return rowChecksum(row, inventoryTable(table) ?? { columns: [] });
}

function id(table: string, row: InventoryRow): string {
  return itemId(row, inventoryTable(table)?.itemId ?? []);
}

// integrity-and-inventory.md 11.3, and what a real agent sent (agent-transcript.md 9).
describe('marks of inventory rows', () => {
  it('sums up a row as agents do, numbers with a fraction included', () => {
    const hardware = { ...{ board_serial: 'SN-1', cpu_cores: 4, cpu_mhz: 2400, cpu_name: 'Demo CPU' } };
    expect(checksum('hwinfo', { ...hardware, ram_free: 1000, ram_total: 4000, ram_usage: 75 })).to.equal(
      'c0a91cd1ac6f434d40f56eabf6fc84132cebbeef',
    );
    const seen = { ...{ board_serial: ' ', cpu_cores: 2, cpu_mhz: 2597, cpu_name: 'AMD EPYC' } };
    expect(checksum('hwinfo', { ...seen, ram_free: 24211316, ram_total: 24684096, ram_usage: 2 })).to.equal(
      'a5895d4e5ef14163e90d0b8787db505e9ab92115',
    );
  });

  it('sums up what a real agent sent of a group and of a port', () => {
    expect(
      checksum('groups', {
        ...{ group_description: ' ', group_id: 2, group_id_signed: 2, group_is_hidden: 0, group_name: 'bin' },
        ...{ group_users: 'bin', group_uuid: ' ' },
      }),
    ).to.equal('451fcd66f348da623f818b8322c241db192d71e2');
    const listening = {
      ...{ inode: 1575, local_ip: '0.0.0.0', local_port: 2024, pid: 0, process: ' ', protocol: 'tcp' },
      ...{ remote_ip: '0.0.0.0', remote_port: 0, rx_queue: 0, state: 'listening', tx_queue: 0 },
    };
    expect(checksum('ports', listening)).to.equal('5634607707ec43da465a65f4a13a776c1e3f4504');
    expect(id('ports', listening)).to.equal('df4a4bd0db9860a72604c4ebff53d27a021e2b6b');
  });

  it('makes the key of a row of its key columns', () => {
    const nginx = { name: 'nginx', version: '1.24.0-2', architecture: 'amd64', format: 'deb', location: ' ' };
    expect(id('packages', nginx)).to.equal('8a67ba62f7bd266c854668e6d6756ef4fd3ed869');
    expect(id('ports', { inode: 4026, protocol: 'tcp', local_ip: '0.0.0.0', local_port: 22 })).to.equal(
      '4ccebda34c8b53514f1a82075e8fab62bd063378',
    );
  });
});
