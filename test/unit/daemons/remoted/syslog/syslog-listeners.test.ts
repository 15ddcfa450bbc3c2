import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { EventGate } from '../../../../../daemons/remoted/event-gate.js';
import { FloodGuard } from '../../../../../daemons/remoted/flood-guard.js';
import { DatagramQueue } from '../../../../../daemons/remoted/syslog/datagram-queue.js';
import type { SyslogBlock } from '../../../../../daemons/remoted/syslog/syslog-blocks.js';
import { SyslogConnections } from '../../../../../daemons/remoted/syslog/syslog-connections.js';
import { SyslogCounters } from '../../../../../daemons/remoted/syslog/syslog-counters.js';
import {
  IDLE_TIMEOUT_MS,
  MAX_CONNECTIONS_PER_ADDRESS,
  UNFINISHED_TIMEOUT_MS,
} from '../../../../../daemons/remoted/syslog/syslog-limits.js';
import { SyslogListeners } from '../../../../../daemons/remoted/syslog/syslog-listeners.js';
import { SyslogMessages } from '../../../../../daemons/remoted/syslog/syslog-messages.js';
import { SyslogTcpListener } from '../../../../../daemons/remoted/syslog/syslog-tcp-listener.js';
import type { BusEvent } from '../../../../../lib/bus/bus-event.js';
import { eventually } from '../../../../support/eventually.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';

/** The window of a bus that has room for as many events as the test says. */
class Window {
  room = Infinity;
  pending = 0;
  readonly events: BusEvent[] = [];
  #waiting: (() => void)[] = [];

  get texts(): string[] {
    return this.events.map(({ message }) => message.toString());
  }
  trySend(event: BusEvent): boolean {
    if (this.room <= 0) return false;
    this.room -= 1;
    this.events.push(event);
    return true;
  }
  ready(): Promise<void> {
    return this.room > 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }
  progress(): Promise<void> {
    return new Promise(() => {});
  }
  open(): void {
    this.room = Infinity;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

const BLOCK = {
  connection: 'syslog',
  port: 0,
  ipv6: false,
  local_ip: '127.0.0.1',
  'allowed-ips': ['127.0.0.1'],
  'denied-ips': [],
  rewrite_rfc5424: false,
} as unknown as SyslogBlock;

describe('listeners for syslog', function () {
  this.timeout(20_000);
  let window: Window;
  let counters: SyslogCounters;
  let logger: RecordingLogger;
  let blocks: SyslogBlock[];
  let listeners: SyslogListeners;
  const sockets: Socket[] = [];

  beforeEach(() => {
    window = new Window();
    counters = new SyslogCounters();
    logger = new RecordingLogger();
    listeners = new SyslogListeners({
      gate: new EventGate(window, 0, logger),
      datagrams: new DatagramQueue(window, 4),
      counters,
      log: new FloodGuard(logger),
      block: (place) => blocks[place]!,
    });
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    listeners.stop();
  });

  async function start(...protocols: readonly ('tcp' | 'udp')[]): Promise<number[]> {
    blocks = protocols.map((protocol) => ({ ...BLOCK, protocol: [protocol] }));
    const bound = await listeners.start(blocks);
    return Object.values(bound).map(({ port }) => port ?? 0);
  }
  async function open(port: number): Promise<Socket> {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => {});
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  }
  async function datagrams(port: number, ...texts: readonly string[]): Promise<void> {
    const socket = createSocket('udp4');
    for (const text of texts) {
      await new Promise<void>((resolve, reject) => {
        socket.send(text, port, '127.0.0.1', (error) => (error === null ? resolve() : reject(error)));
      });
    }
    socket.close();
  }
  const came = (count: number) => eventually(`${String(count)} events`, () => window.events.length >= count);

  it('hand on what comes over TCP and UDP with the address of its sender', async () => {
    const [tcp = 0, udp = 0] = await start('tcp', 'udp');
    const socket = await open(tcp);
    socket.write('<134>Mar  7 09:15:02 gate doord: open\n<13>half');
    await came(1);
    await datagrams(udp, '<134>Mar  7 09:15:03 gate doord: shut\n', '<13>\n');
    await came(2);
    socket.end(' a line');
    await came(3);
    expect(window.texts).to.deep.equal([
      'Mar  7 09:15:02 gate doord: open',
      'Mar  7 09:15:03 gate doord: shut',
      'half a line',
    ]);
    for (const { queue, location, agent, receivedAt } of window.events) {
      expect({ queue, location, agent }).to.deep.equal({ queue: '2', location: '127.0.0.1', agent: undefined });
      expect(Date.now() - receivedAt).to.be.within(0, 20_000);
    }
    await eventually('the empty one is counted', () => counters.empty === 1);
    expect(counters).to.include({ messages: 3, refused: 0, tooLong: 0, dropped: 0 });
  });

  it('refuse senders that are not allowed, with one line, until a reload allows them', async () => {
    const [tcp = 0, udp = 0] = await start('tcp', 'udp');
    const before = blocks;
    blocks = blocks.map((block) => ({ ...block, 'denied-ips': ['127.0.0.0/8'] }));
    await datagrams(udp, 'one', 'two');
    const refused = await open(tcp);
    refused.resume();
    await once(refused, 'close');
    await eventually('all are counted', () => counters.refused === 3);
    expect(logger.lines).to.deep.equal([
      "warning: (1213): Message from '127.0.0.1' not allowed.".replace('warning', 'warn'),
    ]);
    expect(window.events).to.deep.equal([]);
    blocks = before;
    await datagrams(udp, 'three');
    await came(1);
    expect(window.texts).to.deep.equal(['three']);
  });

  it('let a connection stand still while the bus has no room, and lose nothing of it', async () => {
    const [tcp = 0] = await start('tcp');
    window.room = 2;
    const socket = await open(tcp);
    const lines = Array.from({ length: 50_000 }, (_, index) => `line ${String(index)}`);
    socket.write(`${lines.join('\n')}\n`);
    await came(2);
    await eventually('the sender is held back', () => counters.receivedBytes > 0 && window.room === 0);
    expect(window.texts).to.deep.equal(['line 0', 'line 1']);
    // The window settles what it takes at once, so that no connection is too far ahead.
    window.pending = 0;
    window.open();
    await came(lines.length);
    expect(window.texts).to.deep.equal(lines);
  });

  it('count the datagrams that find no place, and tell it', async () => {
    const [udp = 0] = await start('udp');
    window.room = 0;
    await datagrams(udp, '1', '2', '3', '4', '5');
    await eventually('three are lost', () => counters.dropped === 3);
    expect(logger.lines.join()).to.include("Syslog datagrams of '127.0.0.1' are lost");
    window.open();
    await came(2);
    expect(window.texts).to.deep.equal(['1', '2']);
  });

  it('name every port that is taken', async () => {
    const [tcp = 0] = await start('tcp');
    const second = new SyslogListeners({
      gate: new EventGate(window, 0, logger),
      datagrams: new DatagramQueue(window),
      counters,
      log: new FloodGuard(logger),
      block: (place) => blocks[place]!,
    });
    const failure = await second.start([{ ...BLOCK, protocol: ['tcp'], port: tcp }]).catch((error: unknown) => error);
    second.stop();
    expect(String(failure)).to.include(
      `port ${String(tcp)}/TCP (<remote><port> of syslog in etc/manager.conf) is in use`,
    );
  });

  describe('over TCP', () => {
    let now: number;
    let listener: SyslogTcpListener;
    let port: number;

    beforeEach(async () => {
      now = 0;
      const log = new FloodGuard(logger);
      const gate = new EventGate(window, 0, logger);
      listener = new SyslogTcpListener({
        messages: new SyslogMessages({ block: () => BLOCK, counters, log, now: () => 0 }),
        offer: (event, holder) => gate.offer(event, holder),
        all: new SyslogConnections(),
        counters,
        log,
        now: () => now,
      });
      port = (await listener.start('127.0.0.1', 0)).port ?? 0;
    });
    afterEach(() => {
      listener.stop();
    });

    it('end a connection in the middle of a message, and take what came of it', async () => {
      const socket = await open(port);
      socket.resume();
      socket.write('<13>one\n<13>tw');
      await came(1);
      await eventually('it is read', () => counters.receivedBytes === 14);
      listener.sweep();
      now = UNFINISHED_TIMEOUT_MS;
      listener.sweep();
      await once(socket, 'close');
      expect(window.texts).to.deep.equal(['one', 'tw']);
      expect(counters.connections.timedOut).to.equal(1);
    });

    it('leave a silent connection alone for a day', async () => {
      const socket = await open(port);
      socket.resume();
      socket.write('<13>one\n');
      await came(1);
      now = IDLE_TIMEOUT_MS - 1;
      listener.sweep();
      socket.write('<13>two\n');
      await came(2);
      now += IDLE_TIMEOUT_MS;
      listener.sweep();
      await once(socket, 'close');
      expect(counters.connections.timedOut).to.equal(1);
    });

    it('end a connection whose lengths are none', async () => {
      const socket = await open(port);
      socket.resume();
      socket.write('7 <13>one<13>two');
      await once(socket, 'close');
      expect(window.texts).to.deep.equal(['one']);
      expect(counters.malformed).to.equal(1);
      expect(logger.lines.join()).to.include("Syslog connection of '127.0.0.1' closed");
    });

    it('refuse one connection too many of an address', async () => {
      for (let n = 0; n < MAX_CONNECTIONS_PER_ADDRESS; n += 1) await open(port);
      await eventually('all are accepted', () => counters.connections.accepted === MAX_CONNECTIONS_PER_ADDRESS);
      const refused = await open(port);
      refused.resume();
      await once(refused, 'close');
      expect(counters.connections.refused).to.equal(1);
    });

    it('read to the end what was sent before a stop', async () => {
      const socket = await open(port);
      socket.resume();
      await eventually('it is accepted', () => counters.connections.accepted === 1);
      socket.write('<13>one\n<13>two\n');
      await listener.finish(5000);
      await came(2);
    });
  });
});
