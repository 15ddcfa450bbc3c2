import { expect } from 'chai';
import fc from 'fast-check';
import { finishRows } from '../../../../../../daemons/modulesd/inventory/host/finish-rows.js';
import { ScanNotes } from '../../../../../../daemons/modulesd/inventory/host/scan-notes.js';
import { scanTimeOf } from '../../../../../../daemons/modulesd/inventory/host/scan-time.js';
import { MAX_PAYLOAD_BYTES } from '../../../../../../lib/agentlink/link-limits.js';
import { type InventoryTable, inventoryTable } from '../../../../../../lib/events/inventory/inventory-tables.js';
import type { InventoryRow } from '../../../../../../lib/events/inventory/row-marks.js';
import { compareKeys } from '../../../../../../lib/fim/byte-order.js';

function table(name: string): InventoryTable {
  const found = inventoryTable(name);
  if (found === undefined) throw new Error(name);
  return found;
}

describe('finished rows of a scan', () => {
  const scanTime = scanTimeOf(1_700_000_000_999);

  it('carry their marks, and no empty texts', () => {
    const udp = {
      ...{ inode: 186_777, local_ip: '127.0.0.1', local_port: 1614, pid: 1513, process: 'python3', protocol: 'udp' },
      ...{ remote_ip: '0.0.0.0', remote_port: 0, rx_queue: 0, state: '', tx_queue: 0 },
    };
    // As a real agent sent it but for the time (agent-transcript.md 9).
    expect(finishRows(table('ports'), [udp], { scanTime, notes: new ScanNotes() })).to.deep.equal([
      {
        key: 'bd295798c4ea9ca74c1822d9a8078d9afa6f9c4e',
        checksum: '168b5e3c1ddf32d2f49b9515a228df3dfbe4e83e',
        text: '{"checksum":"168b5e3c1ddf32d2f49b9515a228df3dfbe4e83e","inode":186777,"item_id":"bd295798c4ea9ca74c1822d9a8078d9afa6f9c4e","local_ip":"127.0.0.1","local_port":1614,"pid":1513,"process":"python3","protocol":"udp","remote_ip":"0.0.0.0","remote_port":0,"rx_queue":0,"scan_time":"2023/11/14 22:13:20","tx_queue":0}',
      },
    ]);
    const hardware = { board_serial: ' ', cpu_mhz: 2597 };
    expect(finishRows(table('hwinfo'), [hardware], { scanTime, notes: new ScanNotes() })[0]?.text).to.contain(
      '"cpu_mhz":2597.0,',
    );
    const system = finishRows(table('osinfo'), [{ os_name: 'x' }], {
      scanTime,
      notes: new ScanNotes(),
      checksum: '77',
    });
    expect(system[0]).to.include({ key: 'x', checksum: '77' });
  });

  it('are sorted, and each key is there once', () => {
    const notes = new ScanNotes();
    const rows = ['b', 'a', '\u{1F600}', '\uFFFD', 'a'].map((name, index) => ({ group_name: name, group_id: index }));
    const finished = finishRows(table('groups'), rows, { scanTime, notes });
    expect(finished.map(({ key }) => key)).to.deep.equal(['a', 'b', '\uFFFD', '\u{1F600}']);
    expect(finished[0]?.text).to.contain('"group_id":1,');
    expect(notes.all).to.deep.equal([{ kind: 'repeated', count: 1, first: 'groups a' }]);
  });

  it('share the memory of a table that has too much text', () => {
    const notes = new ScanNotes();
    const long = Array.from({ length: 3000 }, (_none, index) => ({
      ...{ name: `p${String(index)}`, version: '1', description: 'x'.repeat(50_000), architecture: ' ', format: 'npm' },
      location: '/x',
    }));
    const rows = finishRows(table('packages'), [{ name: 'short', description: 'y'.repeat(5000) }, ...long], {
      scanTime,
      notes,
    });
    const bytes = rows.reduce((sum, { text }) => sum + text.length, 0);
    expect(rows).to.have.length(3001);
    expect(bytes).to.be.lessThan(68 * 1024 * 1024);
    expect(rows.some(({ text }) => text.includes(`"${'y'.repeat(5000)}"`))).to.equal(true);
    expect(notes.all).to.deep.equal([{ kind: 'cut', count: 3000, first: 'packages' }]);
  });

  it('fit into a message whatever a user has written', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .tuple(fc.constantFrom('\u0001', '"', '\\', 'x', '\u{1F600}', '\uD800'), fc.nat(100_000))
        .map(([part, times]) => part.repeat(times)),
    );
    fc.assert(
      fc.property(
        fc.record({ pid: fc.constant('1'), name: text, cmd: text, argvs: text, state: fc.constant('S') }),
        (row: InventoryRow) => {
          const notes = new ScanNotes();
          const [finished] = finishRows(table('processes'), [row], { scanTime, notes });
          expect(Buffer.byteLength(finished?.text ?? '')).to.be.at.most(MAX_PAYLOAD_BYTES - 512);
          const read = JSON.parse(finished?.text ?? '') as Record<string, string>;
          expect(read).to.include({ pid: '1', state: 'S', scan_time: scanTime });
          if (notes.all.length > 0) return;
          const written = Buffer.from(String(row['cmd'])).toString();
          expect(Buffer.from(read['cmd'] ?? '').toString()).to.equal(written);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('are in the order of the synchronisation', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: 'binary', minLength: 1, maxLength: 4 })), (names) => {
        const rows = finishRows(
          table('groups'),
          names.map((group_name) => ({ group_name })),
          { scanTime, notes: new ScanNotes() },
        );
        for (let at = 1; at < rows.length; at += 1) {
          expect(compareKeys(rows[at - 1]?.key ?? '', rows[at]?.key ?? '')).to.be.below(0);
        }
      }),
    );
  });
});
