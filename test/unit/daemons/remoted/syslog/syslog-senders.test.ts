import { expect } from 'chai';
import { AllowedSenders } from '../../../../../daemons/remoted/syslog/allowed-senders.js';
import { DatagramQueue } from '../../../../../daemons/remoted/syslog/datagram-queue.js';
import { sumDrops } from '../../../../../daemons/remoted/syslog/lost-datagrams.js';
import type { SyslogConnection } from '../../../../../daemons/remoted/syslog/syslog-connection.js';
import { SyslogConnections } from '../../../../../daemons/remoted/syslog/syslog-connections.js';
import {
  BUSY_MS,
  MAX_CONNECTIONS_PER_ADDRESS,
  MAX_SYSLOG_CONNECTIONS,
} from '../../../../../daemons/remoted/syslog/syslog-limits.js';
import type { BusEvent } from '../../../../../lib/bus/bus-event.js';

describe('who may send syslog', () => {
  it('is in the allowed addresses and not in the denied ones, nobody without the first', () => {
    let lists = { 'allowed-ips': ['192.0.2.0/24', '2001:db8::/32'], 'denied-ips': ['192.0.2.9'] };
    const senders = new AllowedSenders(() => lists);
    const allowed = (...addresses: string[]) => addresses.map((address) => senders.allows(address));
    expect(allowed('192.0.2.7', '192.0.2.9', '192.0.3.1')).to.deep.equal([true, false, false]);
    expect(allowed('2001:0DB8:0000:0000:0000:0000:0000:0001', 'nonsense', '')).to.deep.equal([true, false, false]);
    lists = { 'allowed-ips': ['192.0.3.0/24'], 'denied-ips': [] };
    expect(allowed('192.0.2.7', '192.0.3.1')).to.deep.equal([false, true]);
    lists = { 'allowed-ips': [], 'denied-ips': [] };
    expect(allowed('192.0.2.7', '127.0.0.1')).to.deep.equal([false, false]);
  });
});

describe('datagrams that wait', () => {
  class Window {
    room = 0;
    readonly sent: string[] = [];
    #waiting: (() => void)[] = [];
    trySend({ message }: BusEvent): boolean {
      if (this.room <= 0) return false;
      this.room -= 1;
      this.sent.push(message.toString());
      return true;
    }
    ready(): Promise<void> {
      if (this.room > 0) return Promise.resolve();
      return new Promise((resolve) => this.#waiting.push(resolve));
    }
    open(room: number): void {
      this.room += room;
      for (const resolve of this.#waiting.splice(0)) resolve();
    }
  }
  const event = (location: string, text: string): BusEvent => ({
    queue: '2',
    location,
    message: Buffer.from(text),
    receivedAt: 0,
  });

  it('are handed on in their order when there is room, whatever it is', async () => {
    const window = new Window();
    const queue = new DatagramQueue(window);
    window.room = 1;
    expect(queue.offer(event('a', '0'))).to.equal(true);
    for (const text of ['1', '2', '3', '4', '5']) expect(queue.offer(event('a', text))).to.equal(true);
    expect(queue.size).to.equal(5);
    const empty = queue.empty();
    window.open(3);
    await Promise.resolve();
    window.open(10);
    await empty;
    expect(window.sent).to.deep.equal(['0', '1', '2', '3', '4', '5']);
  });

  it('leave a place for another sender', () => {
    const queue = new DatagramQueue(new Window(), 12);
    const taken = (sender: string): number => {
      let count = 0;
      while (queue.offer(event(sender, 'x'))) count += 1;
      return count;
    };
    expect(taken('flood')).to.equal(6);
    expect(taken('second')).to.equal(4);
    expect(taken('third')).to.equal(2);
    expect(queue.size).to.equal(12);
    expect(taken('fourth')).to.equal(0);
  });
});

describe('connections of syslog', () => {
  const connection = (source: string): SyslogConnection & { ended: boolean } => {
    const made = { source, activeAt: 0, held: false, ended: false, close: () => (made.ended = true) };
    return made as unknown as SyslogConnection & { ended: boolean };
  };

  it('are refused when an address has too many that are busy, and replace silent ones', () => {
    const all = new SyslogConnections();
    const first = Array.from({ length: MAX_CONNECTIONS_PER_ADDRESS }, () => connection('192.0.2.7'));
    for (const each of first) expect(all.open(each, 0)).to.equal(true);
    expect(all.open(connection('192.0.2.7'), 1)).to.equal(false);
    expect(all.open(connection('192.0.2.8'), 1)).to.equal(true);
    all.active(first[0]!, BUSY_MS);
    expect(all.open(connection('192.0.2.7'), BUSY_MS)).to.equal(true);
    expect(first.map(({ ended }) => ended).indexOf(true)).to.equal(1);
    expect(all.size).to.equal(MAX_CONNECTIONS_PER_ADDRESS + 1);
  });

  it('are so many altogether', () => {
    const all = new SyslogConnections();
    for (let n = 0; n < MAX_SYSLOG_CONNECTIONS; n += 1) {
      expect(all.open(connection(`10.0.${String(n >> 4)}.${String(n % 16)}`), n)).to.equal(true);
    }
    expect(all.open(connection('192.0.2.7'), BUSY_MS - 1)).to.equal(false);
    expect(all.open(connection('192.0.2.7'), BUSY_MS)).to.equal(true);
    expect(all.size).to.equal(MAX_SYSLOG_CONNECTIONS);
  });
});

describe('datagrams that the system lost', () => {
  it('are counted by local port', () => {
    const table = `   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
  374: 0100007F:0202 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4711 2 0000000000000000 17
  375: 00000000:0203 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4712 2 0000000000000000 4
  376: 00000000:0204 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4713 2 0000000000000000 9
`;
    expect(sumDrops(table, new Set([514, 515]))).to.equal(21);
    expect(sumDrops('', new Set([514]))).to.equal(0);
  });
});
