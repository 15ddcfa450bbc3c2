import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import type { ServerConfig } from '../../../../daemons/agentd/agentd-settings.js';
import { openTransport } from '../../../../daemons/agentd/transport.js';
import { eventually } from '../../../support/eventually.js';

describe("the agent's transport", () => {
  let server: Server;
  let config: ServerConfig;
  const sockets: Socket[] = [];
  const received: string[] = [];
  let closed: string[];

  beforeEach(async () => {
    closed = [];
    server = createServer({ pauseOnConnect: true }, (socket) => {
      socket.on('error', () => {});
      sockets.push(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    config = {
      address: '127.0.0.1',
      port,
      protocol: 'tcp',
      max_retries: 1,
      retry_interval: 1,
      interface_index: undefined,
    };
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    server.close();
  });

  const open = () =>
    openTransport(config, '127.0.0.1', {
      message: (message) => received.push(message.toString()),
      closed: (reason) => closed.push(reason),
    });

  it('says why a UDP socket cannot be opened', async () => {
    const failure = await openTransport({ ...config, protocol: 'udp' }, 'fe80::1%none', {
      message: () => {},
      closed: (reason) => closed.push(reason),
    }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error);
    expect((failure as Error).message).to.match(/EINVAL|ENOTFOUND|ENODEV|ENETUNREACH/);
    expect(closed).to.deep.equal([]);
  });

  it('lets nobody wait for a peer that does not read, once it is closed', async () => {
    const transport = await open();
    expect(transport.localAddress).to.equal('127.0.0.1');
    const bytes = Buffer.alloc(65_536);
    while (!transport.full) transport.send(bytes);
    for (let index = 0; index < 200; index += 1) transport.send(bytes);
    const drained = transport.drained();
    transport.close();
    await drained;
    await eventually('the end', () => closed.length === 1);
  });

  it('cuts what comes into messages, and ends with a frame that none can be', async () => {
    const transport = await open();
    const socket = await eventually('the connection', () => sockets[0]);
    socket.write(Buffer.from('\x05\0\0\0hello\x03\0\0\0on', 'latin1'));
    socket.write(Buffer.from('e\xff\xff\xff\x00', 'latin1'));
    await eventually('the end', () => closed.length === 1);
    expect(received).to.deep.equal(['hello', 'one']);
    expect(closed[0]).to.contain('65536 are the most');
    transport.send(Buffer.from('into the void'));
    await transport.drained();
  });

  it('takes nothing more once the manager has ended its side, and still sends what it has', async () => {
    const transport = await open();
    const socket = await eventually('the connection', () => sockets[0]);
    const bytes = Buffer.alloc(65_536);
    let sent = 0;
    while (!transport.full) {
      transport.send(bytes);
      sent += bytes.length;
    }
    socket.end();
    // Whoever is paused reads nothing: what is known now is known from the end of the other side alone.
    await eventually('the end', () => closed.length === 1);
    let read = 0;
    socket.on('data', (data: Buffer) => (read += data.length));
    socket.resume();
    await eventually('everything', () => read === sent);
    expect(closed).to.deep.equal(['the manager closed the connection']);
  });

  it('says why there is no connection', async () => {
    server.close();
    await once(server, 'close');
    const failure = await open().catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property('message').that.contains('ECONNREFUSED');
  });
});
