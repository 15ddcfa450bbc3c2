import { once } from 'node:events';
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { expect } from 'chai';
import { FloodGuard } from '../../../../daemons/remoted/flood-guard.js';
import { RemotedCounters } from '../../../../daemons/remoted/remoted-counters.js';
import {
  AGENT_CONNECTIONS,
  FRAME_TIMEOUT_MS,
  UNPROVEN_TIMEOUT_MS,
} from '../../../../daemons/remoted/remoted-limits.js';
import type { MessageDisposition, TcpConnection } from '../../../../daemons/remoted/tcp-connection.js';
import { TcpListener } from '../../../../daemons/remoted/tcp-listener.js';
import { encodeFrame } from '../../../../lib/agentlink/frame-decoder.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { ConnectionFlood } from '../../../support/remoted/connection-flood.js';

describe('the listener for agents', function () {
  this.timeout(20_000);
  let listener: TcpListener;
  let counters: RemotedCounters;
  let logger: RecordingLogger;
  let now: number;
  let port: number;
  let messages: string[];
  let connections: TcpConnection[];
  let take: (connection: TcpConnection, text: string) => MessageDisposition;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    counters = new RemotedCounters();
    logger = new RecordingLogger();
    now = 0;
    messages = [];
    connections = [];
    take = () => 'next';
    listener = new TcpListener({
      messages: {
        takeTcp: (connection, message) => {
          if (!connections.includes(connection)) connections.push(connection);
          messages.push(message.toString());
          return take(connection, message.toString());
        },
        gone: () => {},
      },
      counters,
      log: new FloodGuard(logger),
      sendBuffer: 4096,
      keepAliveMs: 30_000,
      now: () => now,
    });
    port = (await listener.start('127.0.0.1', 0)).port ?? 0;
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    listener.stop();
  });

  async function open(options: Partial<TcpNetConnectOpts> = {}): Promise<Socket> {
    const socket = connect({ port, host: '127.0.0.1', ...options });
    socket.on('error', () => {});
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  }
  const frame = (text: string) => encodeFrame(Buffer.from(text));
  const came = (count: number) => eventually(`${String(count)} messages`, () => messages.length === count);
  /** Marks the connection as that of an agent. */
  const prove = (connection: TcpConnection): MessageDisposition => {
    connection.agent = {} as never;
    return 'next';
  };

  it('ends connections that show nothing in time, and no others', async () => {
    take = prove;
    const silent = await open();
    const agent = await open();
    agent.write(frame('hello'));
    await came(1);
    await eventually('both are accepted', () => listener.size === 2);
    now = UNPROVEN_TIMEOUT_MS;
    listener.sweep();
    await once(silent, 'close');
    await eventually('one is left', () => listener.size === 1);
    now *= 100;
    listener.sweep();
    agent.write(frame('still there'));
    await came(2);
    expect(counters.connections.timedOut).to.equal(1);
  });

  it('ends a connection in the middle of a frame that takes too long', async () => {
    take = prove;
    const slow = await open();
    slow.write(frame('hello'));
    await came(1);
    const whole = frame('a message that comes in parts');
    slow.write(whole.subarray(0, 10));
    await eventually('the part has come', () => {
      now = 0;
      return counters.receivedBytes === 9 + 10;
    });
    now = FRAME_TIMEOUT_MS - 1;
    listener.sweep();
    slow.write(whole.subarray(10));
    await came(2);
    slow.write(whole.subarray(0, 3));
    await eventually('the part has come', () => counters.receivedBytes === 9 + whole.length + 3);
    now += FRAME_TIMEOUT_MS + 1;
    listener.sweep();
    await once(slow, 'close');
    expect(logger.lines.at(-1)).to.include('no end of its message came in time');
  });

  it('makes room by ending the oldest connections of an address that have shown nothing', async () => {
    take = prove;
    const { unprovenPerAddress } = AGENT_CONNECTIONS;
    const agent = await open();
    agent.write(frame('hello'));
    await came(1);
    const flood = new ConnectionFlood();
    try {
      const other = await open({ localAddress: '127.0.0.3' });
      await flood.open(port, unprovenPerAddress + 100, '127.0.0.2');
      await eventually('the oldest were closed', () => flood.closed === 100);
      expect(counters.connections.refused).to.equal(100);
      expect(listener.size).to.equal(unprovenPerAddress + 2);
      agent.write(frame('still there'));
      other.write(frame('so am I'));
      (await open({ localAddress: '127.0.0.2' })).write(frame('from the same address'));
      await came(4);
      expect(logger.lines.filter((line) => line.includes('Too many connections'))).to.deep.equal([
        "warn: Too many connections without a readable message: the oldest one of '127.0.0.2' was closed.",
      ]);
    } finally {
      flood.end();
    }
  });

  it('stands still with a message that cannot be taken, and goes on in the middle', async () => {
    take = (_connection, text) => (text === 'wait' ? 'held' : 'next');
    const socket = await open();
    socket.write(Buffer.concat([frame('one'), frame('wait'), frame('two'), frame('three')]));
    await came(2);
    socket.write(frame('four'));
    expect(connections[0]?.resume()).to.equal(true);
    expect(messages).to.have.length(4);
    connections[0]?.read();
    await came(5);
    expect(messages).to.deep.equal(['one', 'wait', 'two', 'three', 'four']);
  });

  it('ends its side and reads agents to their end, but waits neither for strangers nor for ever', async () => {
    take = prove;
    const agent = await open({ allowHalfOpen: true });
    agent.write(frame('hello'));
    await came(1);
    const stranger = await open();
    await eventually('both are accepted', () => listener.size === 2);
    agent.on('end', () => agent.end(frame('my last words')));
    agent.resume();
    await listener.finish(60_000);
    expect(messages).to.deep.equal(['hello', 'my last words']);
    expect(connections[0]?.open).to.equal(false);
    stranger.destroy();
  });

  it('says how many agents did not end their connections', async () => {
    take = prove;
    const agent = await open({ allowHalfOpen: true });
    agent.write(frame('hello'));
    await came(1);
    await listener.finish(50);
    expect(logger.lines.at(-1)).to.include('1 connections of agents did not end within 0.05 s');
  });

  it('keeps no more than so much for a peer that does not read', async () => {
    const socket = await open();
    socket.pause();
    socket.write(frame('hello'));
    await came(1);
    const block = Buffer.alloc(1024);
    let sent = 0;
    // What the kernel takes is gone from here; after that the limit counts.
    while (connections[0]?.send(block) === true && sent < 100_000) sent += 1;
    expect(sent).to.be.lessThan(100_000);
    expect(connections[0]?.open).to.equal(true);
  });
});
