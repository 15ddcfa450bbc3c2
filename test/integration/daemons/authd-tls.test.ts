import { X509Certificate } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import {
  ENROLLMENT_CONNECTIONS,
  EnrollmentServer,
  type EnrollmentServerOptions,
} from '../../../daemons/authd/enrollment-server.js';
import { certificateNames } from '../../../lib/tls/certificate-host.js';
import { connectEnrollment, enrol, readReply } from '../../support/authd/enrollment.js';
import { eventually } from '../../support/eventually.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { ConnectionFlood } from '../../support/remoted/connection-flood.js';
import { type TestCertificate, testCertificate } from '../../support/tls/test-certificates.js';

const closed = (socket: Socket) =>
  new Promise<void>((resolve) => {
    socket.on('error', () => {});
    socket.on('close', () => {
      resolve();
    });
    socket.resume();
  });

describe('enrolment over TLS', function () {
  // Making keys takes its time on a busy machine.
  this.timeout(20_000);

  let authority: TestCertificate;
  let agent: TestCertificate;
  let stranger: TestCertificate;
  let server: EnrollmentServer | undefined;
  let logger: RecordingLogger;

  before(() => {
    authority = testCertificate({ commonName: 'authority' });
    agent = testCertificate({ commonName: '127.0.0.1', issuer: authority });
    stranger = testCertificate({ commonName: '127.0.0.1' });
  });
  beforeEach(() => {
    logger = new RecordingLogger();
  });
  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });

  async function start(options: Partial<EnrollmentServerOptions> = {}): Promise<number> {
    server = new EnrollmentServer({
      port: 0,
      host: '127.0.0.1',
      tls: { key: authority.key, cert: authority.cert, ca: authority.cert },
      verifyAgent: false,
      verifyHost: false,
      answer: (line, peer) => Promise.resolve({ text: `${line} from ${peer}` }),
      logger,
      ...options,
    });
    return (await server.start()).port;
  }

  /** Whether the request was answered. */
  const accepted = (port: number, certificate?: TestCertificate) =>
    enrol(port, 'x\n', { ...certificate }).then(
      (reply) => reply === 'x from 127.0.0.1',
      () => false,
    );

  it('takes only agents with a certificate of the authority', async () => {
    const port = await start({ verifyAgent: true });
    expect(await accepted(port, agent)).to.equal(true);
    expect(await accepted(port, stranger)).to.equal(false);
    expect(await accepted(port)).to.equal(false);
  });

  it('takes only certificates for the address of the agent when told to', async () => {
    const port = await start({ verifyAgent: true, verifyHost: true });
    expect(await accepted(port, agent)).to.equal(true);
    expect(await accepted(port, testCertificate({ commonName: 'web01', issuer: authority }))).to.equal(false);
    expect(logger.lines).to.include('error: Unable to verify client certificate.');
    const other = { commonName: 'web01', ips: ['127.0.0.1'], dns: ['web01.example.org'], issuer: authority };
    expect(await accepted(port, testCertificate(other))).to.equal(true);
  });

  it('compares names label by label', () => {
    const made = testCertificate({ commonName: 'Web01.Example.org', dns: ['*.lan', 'db01.lan.example.org'] });
    const certificate = new X509Certificate(made.cert);
    for (const name of ['web01.example.ORG', 'any.lan', 'db01.lan.example.org']) {
      expect(certificateNames(certificate, name), name).to.equal(true);
    }
    for (const name of ['example.org', 'a.b.lan', '.lan', 'lan', 'x.web01.example.org', '192.0.2.1', '']) {
      expect(certificateNames(certificate, name), name).to.equal(false);
    }
  });

  it('knows an address however it is written', () => {
    const made = testCertificate({ commonName: 'fe80::1', ips: ['2001:db8::5'] });
    const certificate = new X509Certificate(made.cert);
    for (const address of ['FE80:0000:0000:0000:0000:0000:0000:0001', '2001:0DB8:0000:0000:0000:0000:0000:0005']) {
      expect(certificateNames(certificate, address), address).to.equal(true);
    }
    expect(certificateNames(certificate, 'fe80::2')).to.equal(false);
  });

  it('drops clients that are slow in the handshake or with the request', async () => {
    const port = await start({ handshakeMs: 150, requestMs: 150 });
    const silent = connect(port, '127.0.0.1');
    const began = performance.now();
    await closed(silent);
    const drip = await connectEnrollment(port);
    const timer = setInterval(() => drip.write('x'), 20);
    try {
      await closed(drip);
    } finally {
      clearInterval(timer);
    }
    expect(performance.now() - began).to.be.greaterThan(290);
    expect(logger.lines).to.include('error: Newline terminator not found in message request for 127.0.0.1');
    expect(await accepted(port)).to.equal(true);
  });

  it('closes the oldest clients of an address that opens too many, and serves everybody else', async () => {
    const port = await start();
    const flood = new ConnectionFlood();
    try {
      const early = await connectEnrollment(port, { localAddress: '127.0.0.3' });
      await flood.open(port, 1005, '127.0.0.2');
      await eventually(
        'the oldest were closed',
        () => flood.closed >= 1005 - ENROLLMENT_CONNECTIONS.unprovenPerAddress,
      );
      expect(await accepted(port)).to.equal(true);
      const reply = readReply(early);
      early.write('x\n');
      expect(await reply).to.equal('x from 127.0.0.3');
      expect(await enrol(port, 'x\n', { localAddress: '127.0.0.2' })).to.equal('x from 127.0.0.2');
      expect(logger.lines.filter((line) => line.includes('Too many'))).to.deep.equal([
        'error: Too many connections. Rejecting. The oldest one of 127.0.0.2 was closed.',
      ]);
    } finally {
      flood.end();
    }
  });

  it('tells when a reply could not be delivered', async () => {
    let release: () => void = () => {};
    const asked = new Promise<void>((resolve) => (release = resolve));
    let undelivered = 0;
    let go: () => void = () => {};
    const gone = new Promise<void>((resolve) => (go = resolve));
    const port = await start({
      answer: async () => {
        release();
        await gone;
        return { text: 'late', undelivered: () => undelivered++ };
      },
    });
    // A relay in between: a TLS socket cannot be made to reset its connection.
    const far = connect(port, '127.0.0.1');
    const relay = createServer((near) => {
      near.on('error', () => {});
      near.pipe(far).pipe(near);
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    try {
      const socket = await connectEnrollment((relay.address() as AddressInfo).port);
      socket.on('error', () => {});
      socket.write('x\n');
      await asked;
      // Not in the server's own step: the relay lives in the same process.
      await new Promise(setImmediate);
      far.resetAndDestroy();
      await eventually('the server sees it', () => server?.open === 0);
      go();
      await eventually('it is told', () => undelivered === 1);
      socket.destroy();
    } finally {
      relay.close();
      far.destroy();
    }
  });

  it('answers a client that ends its side after the request', async () => {
    const port = await start();
    const socket = await connectEnrollment(port, { allowHalfOpen: true } as object);
    const reply = readReply(socket);
    socket.end('x\n');
    expect(await reply).to.equal('x from 127.0.0.1');
  });
});
