import { createSocket, type Socket as Datagrams } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { expect } from 'chai';
import {
  SyslogReceiver,
  type SyslogSettings,
} from '../../../../../../daemons/monitord/outputs/syslog/syslog-receiver.js';
import { eventually } from '../../../../../support/eventually.js';
import { sampleAlert } from '../../../../../support/monitord/alert-files.js';
import { ANY, batchOf, RecordedDelivery } from '../../../../../support/monitord/recorded-delivery.js';
import { RecordingLogger } from '../../../../../support/recording-logger.js';
import { testCertificate } from '../../../../../support/tls/test-certificates.js';

const ALERT = sampleAlert();
const LOW = sampleAlert({ rule: { level: 2, id: '1', description: 'low', groups: [] } });

/** Messages of RFC 6587 octet counting. */
function counted(bytes: Buffer): string[] {
  const messages: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const blank = bytes.indexOf(0x20, at);
    const length = Number(bytes.toString('latin1', at, blank));
    messages.push(bytes.toString('utf8', blank + 1, blank + 1 + length));
    at = blank + 1 + length;
  }
  return messages;
}

describe('forwarding to syslog', () => {
  let logger: RecordingLogger;
  let closing: (() => void)[];
  beforeEach(() => {
    logger = new RecordingLogger();
    closing = [];
  });
  afterEach(() => {
    for (const close of closing) close();
  });

  function receiver(settings: Partial<SyslogSettings> & { port: number }, believeMs = 600_000): SyslogReceiver {
    const made = new SyslogReceiver(
      { server: '127.0.0.1', protocol: 'udp', format: 'json', useFqdn: false, filter: ANY, ...settings },
      logger,
      { deadlineMs: 5000, believeMs },
      'mgr.example.test',
    );
    closing.push(() => {
      made.close();
    });
    return made;
  }

  async function listen(server: Server): Promise<number> {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  async function deliver(to: SyslogReceiver, alerts: Record<string, unknown>[]): Promise<RecordedDelivery> {
    const delivery = new RecordedDelivery();
    await to.deliver(batchOf(...alerts), delivery);
    return delivery;
  }

  describe('over UDP', () => {
    let socket: Datagrams;
    let received: string[];
    beforeEach(async () => {
      received = [];
      socket = createSocket('udp4');
      socket.on('message', (message) => received.push(message.toString()));
      socket.bind(0, '127.0.0.1');
      await once(socket, 'listening');
      closing.push(() => socket.close());
    });

    it('sends a datagram for each alert that passes the filters', async () => {
      const to = receiver({ port: socket.address().port, filter: { level: 3, ruleIds: [5712], group: 'sshd' } });
      const delivery = await deliver(to, [LOW, ALERT, { no: 'alert' }]);
      await eventually('it came', () => received.length === 1);
      expect(received[0]).to.match(/^<132>\w{3} [ \d]\d [\d:]{8} mgr ossec: \{/);
      expect(received[0]!.endsWith(`ossec: ${JSON.stringify(ALERT)}`)).to.equal(true);
      expect(delivery.sentCount).to.equal(1);
      expect(delivery.rejections).to.deep.equal(['its line in alerts.json is damaged']);
    });

    it('calls this manager by its whole name where that is wanted', async () => {
      await deliver(receiver({ port: socket.address().port, useFqdn: true, format: 'default' }), [ALERT]);
      await eventually('it came', () => received.length === 1);
      expect(received[0]).to.include(' mgr.example.test ossec: Alert Level: 10;');
    });

    it('says which alert no datagram holds', async () => {
      const delivery = await deliver(receiver({ port: socket.address().port }), [
        sampleAlert({ full_log: 'x'.repeat(70_000) }),
      ]);
      expect(delivery.sentCount).to.equal(0);
      expect(delivery.rejections[0]).to.match(/^it has 70\d{3} bytes, which no datagram holds$/);
    });

    it('fails where nobody listens', async () => {
      const { port } = socket.address();
      socket.close();
      closing.pop();
      const failure = await deliver(receiver({ port }), [ALERT]).catch((error: unknown) => error);
      expect(failure).to.be.an('error').with.property('message').that.includes('ECONNREFUSED');
    });
  });

  describe('over TCP', () => {
    let connections: Socket[];
    let received: Buffer[];
    beforeEach(() => {
      connections = [];
      received = [];
    });

    const reading = (socket: Socket): void => {
      connections.push(socket);
      socket.on('error', () => {});
      socket.on('data', (data) => received.push(data));
    };

    it('counts octets, and has delivered when the receiver has closed, too', async () => {
      const port = await listen(createServer(reading));
      const delivery = await deliver(receiver({ port, protocol: 'tcp' }), [ALERT, LOW, ALERT]);
      const messages = counted(Buffer.concat(received));
      expect(messages.map((message) => message.slice(message.indexOf('{')))).to.deep.equal(
        [ALERT, LOW, ALERT].map((alert) => JSON.stringify(alert)),
      );
      expect(delivery).to.deep.include({ sentCount: 3, settled: 3 });
    });

    it('makes no connection when nothing is wanted', async () => {
      const delivery = await deliver(receiver({ port: 1, protocol: 'tcp', filter: { level: 9, ruleIds: [] } }), [LOW]);
      expect(delivery.sentCount).to.equal(0);
    });

    it('fails where nobody listens, and where the connection breaks', async () => {
      const server = createServer((socket) => {
        reading(socket);
        socket.once('data', () => socket.resetAndDestroy());
      });
      const port = await listen(server);
      const to = receiver({ port, protocol: 'tcp' });
      const broken = await deliver(to, [ALERT]).catch((error: unknown) => error);
      expect(broken)
        .to.be.an('error')
        .with.property('message')
        .that.matches(/ECONNRESET|too early/);
      server.close();
      await once(server, 'close');
      const refused = await deliver(to, [ALERT]).catch((error: unknown) => error);
      expect(refused).to.be.an('error').with.property('message').that.includes('ECONNREFUSED');
    });

    it('fails where the receiver closes before it has everything', async () => {
      const port = await listen(
        createServer({ allowHalfOpen: true }, (socket) => {
          socket.on('error', () => {});
          socket.end();
        }),
      );
      const large = Array.from({ length: 40 }, () => sampleAlert({ full_log: 'x'.repeat(500_000) }));
      const failure = await deliver(receiver({ port, protocol: 'tcp' }), large).catch((error: unknown) => error);
      expect(failure).to.be.an('error');
    });

    for (const host of ['127.0.0.1', '::1']) {
      it(`fails where the receiver at ${host} closes in order before it has read everything`, async function () {
        const server = createServer({ allowHalfOpen: true }, (socket) => {
          socket.on('error', () => {});
          socket.once('data', () => {
            // It has read all that has come: more waits in the hands of the system.
            socket.pause();
            socket.write('bye', () => socket.destroy());
          });
        });
        closing.push(() => server.close());
        server.listen(0, host);
        const outcome = await Promise.race([once(server, 'listening'), once(server, 'error')]);
        if (outcome.length > 0) this.skip();
        const { port } = server.address() as AddressInfo;
        const to = receiver({ server: host, port, protocol: 'tcp' });
        const large = sampleAlert({ full_log: 'x'.repeat(400_000) });
        const failure = await deliver(to, [large]).catch((error: unknown) => error);
        expect(failure).to.be.an('error');
      });
    }

    it('takes a receiver that closes after our end at its word, over IPv6, too', async function () {
      const server = createServer(reading);
      closing.push(() => server.close());
      server.listen(0, '::1');
      const outcome = await Promise.race([once(server, 'listening'), once(server, 'error')]);
      if (outcome.length > 0) this.skip();
      const { port } = server.address() as AddressInfo;
      const delivery = await deliver(receiver({ server: '::1', port, protocol: 'tcp' }), [ALERT, ALERT]);
      expect(delivery.settled).to.equal(2);
    });

    it('does not send again what a receiver that hangs has in its hands', async () => {
      const port = await listen(
        createServer({ pauseOnConnect: true }, (socket) => {
          socket.on('error', () => {});
          connections.push(socket);
        }),
      );
      const to = receiver({ port, protocol: 'tcp' });
      const first = new RecordedDelivery();
      const failure = to.deliver(batchOf(ALERT), first).catch((error: unknown) => error);
      await eventually('it is connected', () => connections.length === 1);
      first.expire();
      expect(await failure)
        .to.be.an('error')
        .with.property('message', 'nothing was taken in time');
      const second = new RecordedDelivery();
      const again = to.deliver(batchOf(ALERT, LOW), second);
      connections[0]!.on('data', (data) => received.push(data));
      connections[0]!.resume();
      await again;
      expect(connections).to.have.length(1);
      expect(counted(Buffer.concat(received))).to.have.length(1);
      expect(second).to.deep.include({ sentCount: 1, settled: 1 });
    });

    it('believes a receiver that never closes after a long time', async () => {
      const port = await listen(
        createServer({ allowHalfOpen: true }, (socket) => {
          reading(socket);
        }),
      );
      const to = receiver({ port, protocol: 'tcp' }, 0);
      const first = new RecordedDelivery();
      const failure = to.deliver(batchOf(ALERT), first).catch((error: unknown) => error);
      await eventually('it has it', () => received.length > 0);
      first.expire();
      await failure;
      const second = new RecordedDelivery();
      await to.deliver(batchOf(ALERT), second);
      expect(second).to.deep.include({ sentCount: 1, settled: 1 });
      expect(logger.lines).to.have.length(1);
      expect(logger.lines[0]).to.include('never closed the connection');
      for (const socket of connections) socket.destroy();
    });
  });

  it('goes over TLS to a receiver with the right certificate alone', async () => {
    const authority = testCertificate({ commonName: 'authority' });
    const { key, cert } = testCertificate({ commonName: 'siem', ips: ['127.0.0.1'], issuer: authority });
    const directory = mkdtempSync(join(tmpdir(), 'syslog-tls-'));
    closing.push(() => rmSync(directory, { recursive: true }));
    const ca = join(directory, 'ca.pem');
    writeFileSync(ca, authority.cert);
    const received: Buffer[] = [];
    const server = createTlsServer({ key, cert }, (socket) => {
      socket.on('data', (data) => received.push(data));
    });
    const port = await listen(server);
    await deliver(receiver({ port, protocol: 'tls', ca }), [ALERT]);
    expect(counted(Buffer.concat(received))).to.have.length(1);
    const refused = await deliver(receiver({ port, protocol: 'tls' }), [ALERT]).catch((error: unknown) => error);
    expect(refused).to.be.an('error').with.property('message').that.includes('certificate');
  });
});
