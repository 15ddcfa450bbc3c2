import { expect } from 'chai';
import fc from 'fast-check';
import { addressOf, broadcastOf } from '../../../../../../daemons/modulesd/inventory/system/address-text.js';
import { portRow, readPorts } from '../../../../../../daemons/modulesd/inventory/system/ports.js';
import { parseSockets } from '../../../../../../daemons/modulesd/inventory/system/sockets.js';
import { inventoryTable } from '../../../../../../lib/events/inventory/inventory-tables.js';
import { itemId, rowChecksum } from '../../../../../../lib/events/inventory/row-marks.js';
import { FakeRoot } from '../../../../../support/modulesd/fake-root.js';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const TCP = `${HEAD}   0: 00000000:07E8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1575 1 0 100 0 0 10 0
   1: 0100007F:0016 0200007F:D431 01 00000010:00000020 00:00000000 00000000  1000        0 777 1 0 20 4 30 10 -1
   2: 0100007F:0017 0200007F:D432 06 00000000:00000000 00:00000000 00000000  1000        0 0 1 0
garbage
`;
const UDP = `${HEAD}  5: 0100007F:064E 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 186777 2 0 0\n`;
const TCP6 = `${HEAD}   0: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 88 1 0\n`;

// agent-transcript.md 9: the first of TCP and that of UDP are what a real agent sent.
describe('sockets', () => {
  const ports = inventoryTable('ports') ?? { columns: [], itemId: [] };

  it('are told as real agents tell them', () => {
    const [tcp] = parseSockets(TCP, 'tcp');
    const [udp] = parseSockets(UDP, 'udp');
    if (tcp === undefined || udp === undefined) throw new Error('no socket');
    expect(rowChecksum(portRow(tcp, undefined), ports)).to.equal('5634607707ec43da465a65f4a13a776c1e3f4504');
    expect(itemId(portRow(tcp, undefined), ports.itemId ?? [])).to.equal('df4a4bd0db9860a72604c4ebff53d27a021e2b6b');
    const python = portRow(udp, { pid: 1513, name: 'python3' });
    expect(rowChecksum(python, ports)).to.equal('168b5e3c1ddf32d2f49b9515a228df3dfbe4e83e');
    expect(itemId(python, ports.itemId ?? [])).to.equal('bd295798c4ea9ca74c1822d9a8078d9afa6f9c4e');
  });

  it('are those that are listened at, or all, with the process that has them', () => {
    const root = new FakeRoot();
    try {
      root.write('/proc/net/tcp', TCP);
      root.write('/proc/net/udp', UDP);
      root.write('/proc/net/tcp6', TCP6);
      root.write('/proc/20/comm', 'sshd\n');
      root.link('/proc/20/fd/3', 'socket:[777]');
      root.link('/proc/20/fd/4', '/dev/null');
      root.write('/proc/9/comm', 'first\n');
      root.link('/proc/9/fd/3', 'socket:[777]');
      root.link('/proc/100/fd/0', 'socket:[88]');
      root.write('/proc/100/comm', 'nginx');
      const shown = (all: boolean): string[] =>
        readPorts(root.files(), all).map((row) =>
          [row['protocol'], row['local_ip'], row['local_port'], row['state'], row['pid'], row['process']].join(' '),
        );
      const few = ['tcp 0.0.0.0 2024 listening 0  ', 'tcp6 ::1 80 listening 100 nginx', 'udp 127.0.0.1 1614  0  '];
      expect(shown(false)).to.deep.equal(few);
      expect(shown(true)).to.have.members([
        ...few,
        'tcp 127.0.0.1 22 established 9 first',
        'tcp 127.0.0.1 23 time_wait 0  ',
      ]);
    } finally {
      root.remove();
    }
  });

  it('have their process though others have opened more than is looked at', () => {
    const root = new FakeRoot();
    try {
      root.write('/proc/net/tcp6', TCP6);
      for (const [pid, opened] of [
        [8, 30],
        [9, 20],
      ] as const) {
        for (let fd = 0; fd < opened; fd += 1) root.link(`/proc/${String(pid)}/fd/${String(fd)}`, '/dev/null');
      }
      root.link('/proc/100/fd/0', 'socket:[88]');
      root.write('/proc/100/comm', 'nginx');
      const [row] = readPorts(root.files(), false, { each: 25, all: 30, least: 10 });
      expect(row).to.include({ local_port: 80, pid: 100, process: 'nginx' });
      // 25 of the first, ten of the second: both have more.
      expect(root.notes).to.deep.equal([{ kind: 'too_many', count: 2, first: '/proc/8/fd' }]);
    } finally {
      root.remove();
    }
  });

  it('have addresses as the system writes them', () => {
    expect(addressOf('0100007F')).to.equal('127.0.0.1');
    expect(addressOf('00000000000000000000000000000000')).to.equal('::');
    expect(addressOf('0000000000000000FFFF00000100007F')).to.equal('::ffff:127.0.0.1');
    expect(addressOf('B80D0120000000006700450001000000')).to.equal('2001:db8::45:67:0:1');
    expect(addressOf('0100')).to.equal(undefined);
    expect(broadcastOf('192.0.2.77', '255.255.255.192')).to.equal('192.0.2.127');
    expect(broadcastOf('192.0.2.77', '255.255.255.254')).to.equal(undefined);
    expect(broadcastOf('192.0.2.77', '')).to.equal(undefined);
  });

  it('survive any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.nat(120), (text, at) => {
        parseSockets(text, 'tcp6');
        parseSockets(TCP.slice(0, HEAD.length + at) + text, 'tcp');
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
        const address = addressOf(Buffer.from(bytes).toString('hex'));
        // The address reads back as what it was made of, whatever form it has.
        const words = Buffer.from(bytes);
        for (let at = 0; at < 16; at += 4) words.subarray(at, at + 4).reverse();
        const read = new URL(`http://[${address}]/`).hostname.slice(1, -1);
        const groups = words.toString('hex').match(/.{4}/g)?.join(':') ?? '';
        expect(read).to.equal(new URL(`http://[${groups}]/`).hostname.slice(1, -1));
      }),
    );
  });
});
