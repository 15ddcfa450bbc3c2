import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { Dealer, Router } from 'zeromq';
import { BusError } from '../../../../lib/bus/bus-error.js';
import { MAX_MESSAGE_BYTES, SEND_HIGH_WATER_MARK, SOCKET_MESSAGE_BYTES } from '../../../../lib/bus/bus-limits.js';
import { EventSink } from '../../../../lib/bus/event-sink.js';
import { decodeMessage, encodeMessage } from '../../../../lib/bus/message-codec.js';
import { RequestClient } from '../../../../lib/bus/request-client.js';
import { RequestServer } from '../../../../lib/bus/request-server.js';
import { MemoryStreamPositions } from '../../../../lib/bus/stream-positions.js';
import { ownIdentity } from '../../../../lib/process/process-identity.js';
import { sampleContract, sampleHandlers } from '../../../support/bus/sample-contract.js';
import { BusChild } from '../../../support/bus/spawn-bus-child.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

/** What a promise rejects with, or undefined while it is unsettled after `ms`. */
function outcome(promise: Promise<unknown>, ms: number): Promise<unknown> {
  return Promise.race([
    promise.catch((error: unknown) => error),
    new Promise((resolve) =>
      setTimeout(() => {
        resolve(undefined);
      }, ms),
    ),
  ]);
}

/** Each trap is first shown on bare sockets, so that a libzmq that has lost it is noticed. */
describe('traps of ZeroMQ', () => {
  let home: TemporaryHome;
  let path: string;
  const servers: RequestServer<typeof sampleContract>[] = [];
  const sockets: { close(): void }[] = [];
  const children: BusChild[] = [];

  const makeServer = (more: { group?: number; path?: string } = {}): RequestServer<typeof sampleContract> => {
    const server = new RequestServer({
      contract: sampleContract,
      handlers: sampleHandlers(),
      path,
      logger: new RecordingLogger(),
      ...more,
    });
    servers.push(server);
    return server;
  };
  const makeClient = (): RequestClient<typeof sampleContract> => {
    const client = new RequestClient({ contract: sampleContract, path });
    sockets.push(client);
    return client;
  };
  const raw = <T extends { close(): void }>(socket: T): T => {
    sockets.push(socket);
    return socket;
  };

  beforeEach(() => {
    home = new TemporaryHome();
    path = home.socket('svc-db');
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.close();
    for (const server of servers.splice(0)) await server.stop(0);
    for (const child of children.splice(0)) if (!child.ended) await child.signal('SIGKILL');
    home.remove();
  });

  describe('a second bind takes the path over', () => {
    it('on bare sockets', async () => {
      await raw(new Router()).bind(`ipc://${path}`);
      await raw(new Router()).bind(`ipc://${path}`);
    });

    it('but not from a living server, in this process or another', async () => {
      await makeServer().start();
      const error = await outcome(makeServer().start(), 2000);
      expect(error).to.include({ code: 'in_use', message: `socket '${path}' is in use by process ${process.pid}` });
      expect(await makeClient().call('add', { a: 1 })).to.equal(2);

      path = home.socket('svc-authd');
      const child = await BusChild.start('server', path);
      children.push(child);
      const other = await outcome(makeServer().start(), 2000);
      expect(other).to.include({
        code: 'in_use',
        message: `socket '${path}' is in use by process ${child.process.pid}`,
      });
      expect((await makeClient().call('ping', {})).pid).to.equal(child.process.pid);
    });

    it('nor from the sink of events', async () => {
      const make = () =>
        new EventSink({
          path: home.eventsSocket(),
          onBatch: () => Promise.resolve(),
          positions: new MemoryStreamPositions(),
          logger: new RecordingLogger(),
        });
      const sink = make();
      await sink.start();
      expect(await outcome(make().start(), 2000)).to.include({ code: 'in_use' });
      await sink.stop();
      const next = make();
      await next.start();
      await next.stop();
    });

    it('nor from a listener that has no lock', async () => {
      await raw(new Router()).bind(`ipc://${path}`);
      const error = await outcome(makeServer().start(), 2000);
      expect(error).to.include({ code: 'in_use', message: `socket '${path}' is in use by another process` });
      expect(existsSync(`${path}.lock`)).to.equal(false);
    });

    it('after a kill -9 the path is free, socket and lock left behind or not', async () => {
      const child = await BusChild.start('server', path);
      await child.signal('SIGKILL');
      expect(existsSync(path)).to.equal(true);
      expect(existsSync(`${path}.lock`)).to.equal(true);
      await makeServer().start();
      expect((await makeClient().call('ping', {})).pid).to.equal(process.pid);
    });

    it('a lock of a process that had the same pid does not count', async () => {
      writeFileSync(`${path}.lock`, JSON.stringify({ pid: process.pid, startTime: 'another-boot:1' }));
      await makeServer().start();
      expect(JSON.parse(readFileSync(`${path}.lock`, 'utf8'))).to.deep.equal(ownIdentity());
    });

    it('a file that is no socket is not removed', async () => {
      writeFileSync(path, 'precious');
      const error = await outcome(makeServer().start(), 2000);
      expect(error).to.include({ code: 'bad_path', message: `'${path}' exists and is not a socket` });
      expect(readFileSync(path, 'utf8')).to.equal('precious');
    });
  });

  describe('a ROUTER drops what it cannot deliver', () => {
    it('on a bare socket, without a word', async () => {
      const router = raw(new Router());
      await router.bind(`ipc://${path}`);
      await router.send([Buffer.from('nobody'), Buffer.from('lost')]);
    });

    it('but a server counts answers to clients that have gone', async () => {
      const server = makeServer();
      await server.start();
      const client = makeClient();
      void client.call('wait', { ms: 100 }).catch(() => undefined);
      await eventually('the call runs', () => server.counters.received === 1);
      client.close();
      await eventually('the answer was counted', () => server.counters.undelivered === 1);
    });
  });

  describe('a send to a peer that does not read', () => {
    it('never settles on a bare socket, and throws when there is another send', async () => {
      const router = raw(new Router({ mandatory: true, sendHighWaterMark: 1, linger: 0 }));
      await router.bind(`ipc://${path}`);
      const peer = raw(new Dealer({ receiveHighWaterMark: 1, linger: 0 }));
      peer.connect(`ipc://${path}`);
      await peer.send('hello');
      const [id] = await router.receive();
      const message = Buffer.alloc(100_000);
      let stuck: Promise<void> | undefined;
      for (let count = 0; count < 1000 && stuck === undefined; count += 1) {
        const sent = router.send([id!, message]);
        if (
          (await outcome(
            sent.then(() => 'sent'),
            300,
          )) !== 'sent'
        ) {
          stuck = sent;
        }
      }
      expect(stuck, 'a send that does not settle').not.to.equal(undefined);
      expect(() => void router.send([id!, message])).to.throw('busy writing');
      stuck?.catch(() => undefined);
    });

    it('costs a server nothing: others are answered, its answers are bounded and counted', async () => {
      const server = makeServer();
      await server.start();
      const deaf = raw(new Dealer({ receiveHighWaterMark: 1, linger: 0 }));
      deaf.connect(`ipc://${path}`);
      const calls = 2 * SEND_HIGH_WATER_MARK + 500;
      for (let id = 0; id < calls; id += 1) {
        await deaf.send(encodeMessage({ id, method: 'blob', params: { bytes: 20_000 } }));
      }
      await eventually('some were given up', () => server.counters.undelivered > 0);
      const client = makeClient();
      for (let a = 0; a < 20; a += 1) expect(await client.call('add', { a })).to.equal(a + 1);
    });
  });

  describe('a message that is too large', () => {
    it('is answered as long as it is not absurd', async () => {
      const server = makeServer();
      await server.start();
      const dealer = raw(new Dealer({ linger: 0, receiveTimeout: 5000 }));
      dealer.connect(`ipc://${path}`);
      await dealer.send(encodeMessage({ id: 7, method: 'echo', params: Buffer.alloc(MAX_MESSAGE_BYTES) }));
      const [answer] = await dealer.receive();
      expect(decodeMessage(answer!)).to.have.nested.property('error.code', 'too_large');
    });

    it('ends the connection when it is, and nobody else notices', async () => {
      const server = makeServer();
      await server.start();
      const client = makeClient();
      await client.call('ping', {});
      const dealer = raw(new Dealer({ linger: 0, reconnectInterval: -1 }));
      const lost = new Promise((resolve) => dealer.events.on('disconnect', resolve));
      dealer.connect(`ipc://${path}`);
      await dealer.send(Buffer.alloc(SOCKET_MESSAGE_BYTES + 1));
      await lost;
      expect(await client.call('add', { a: 1 })).to.equal(2);
      expect(server.counters.received).to.equal(2);
    });
  });

  it('a path over 107 bytes is refused in words', async () => {
    path = home.path('x'.repeat(107 - home.path('').length - 1));
    expect(Buffer.byteLength(path)).to.equal(107);
    await makeServer().start();
    expect(await makeClient().call('add', { a: 1 })).to.equal(2);
    path += 'x';
    const error = await outcome(makeServer().start(), 2000);
    expect(error).to.include({ code: 'bad_path' });
    expect((error as BusError).message).to.equal(
      `socket path '${path}' has 108 bytes, 107 is the limit: choose a shorter home directory`,
    );
    expect(await outcome(makeServer({ path: 'var/run/db.sock' }).start(), 2000)).to.include({ code: 'bad_path' });
  });

  it('a directory that is not there is an error at start', async () => {
    const error = await outcome(makeServer({ path: home.path('nowhere', 'db.sock') }).start(), 2000);
    expect(error).to.include({ code: 'bad_path' });
    expect((error as BusError).message).to.contain('cannot be bound: ENOENT');
  });

  describe('permissions', () => {
    const NOBODY = 65_534;

    before(function () {
      if (process.geteuid?.() !== 0) {
        process.stdout.write('    skipped: only root can try other users and groups\n');
        this.skip();
      }
    });

    it('mode and group are set on the socket', async () => {
      await makeServer({ group: NOBODY }).start();
      const { mode, gid } = statSync(path);
      expect([mode & 0o777, gid]).to.deep.equal([0o660, NOBODY]);
    });

    it('a peer without permission tries for ever on a bare socket, but a client is told', async () => {
      await makeServer().start();
      // Everybody may look into the directories: it is the socket that refuses.
      for (const directory of [home.root, home.path('var'), dirname(path)]) chmodSync(directory, 0o755);
      const dealer = raw(new Dealer({ linger: 0, receiveTimeout: 500 }));
      const client = makeClient();
      process.setegid?.(NOBODY);
      process.seteuid?.(NOBODY);
      try {
        dealer.connect(`ipc://${path}`);
        await dealer.send(encodeMessage({ id: 1, method: 'ping', params: {} }));
        const error: unknown = await client
          .call('ping', {}, { deadlineMs: 600_000 })
          .catch((reason: unknown) => reason);
        expect(error)
          .to.be.instanceOf(BusError)
          .and.to.include({
            code: 'unavailable',
            message: `svc-db is not available: permission denied for '${path}'`,
          });
        // All it ever says is that it still waits.
        expect(await dealer.receive().catch((reason: unknown) => reason)).to.include({ code: 'EAGAIN' });
      } finally {
        process.seteuid?.(0);
        process.setegid?.(0);
      }
      expect(await client.call('add', { a: 1 })).to.equal(2);
    });
  });
});
