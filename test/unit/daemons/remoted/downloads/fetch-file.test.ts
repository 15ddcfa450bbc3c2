import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { DownloadError } from '../../../../../daemons/remoted/downloads/download-error.js';
import { AUTHORITIES_FILE, DownloadTrust } from '../../../../../daemons/remoted/downloads/download-trust.js';
import {
  fetchFile,
  type FetchOptions,
  type FetchRequest,
  type FetchResult,
} from '../../../../../daemons/remoted/downloads/fetch-file.js';
import { eventually } from '../../../../support/eventually.js';
import { FileServer } from '../../../../support/remoted/file-server.js';
import { TemporaryHome } from '../../../../support/temporary-home.js';
import { testCertificate } from '../../../../support/tls/test-certificates.js';

const MEBIBYTE = 1024 * 1024;
const OPTIONS: FetchOptions = { maxBytes: MEBIBYTE, timeoutMs: 60_000, verify: true };

describe('fetchFile', function () {
  this.timeout(30_000);
  let server: FileServer;
  let home: TemporaryHome;
  let target: string;

  beforeEach(async () => {
    home = new TemporaryHome();
    mkdirSync(home.path('var', 'download'));
    target = home.path('var', 'download', 'x');
    server = new FileServer();
    await server.start();
  });
  afterEach(async () => {
    await server.stop();
    home.remove();
  });

  const fetch = (address: string, options: Partial<FetchOptions> = {}, request: Partial<FetchRequest> = {}) =>
    fetchFile({ ...OPTIONS, ...options }, { address, target, signal: new AbortController().signal, ...request });

  /** The failure of a download, of which nothing may be left. */
  async function failure(work: Promise<FetchResult>): Promise<string> {
    const error = await work.then(
      () => expect.fail('the download succeeded'),
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(DownloadError);
    expect(readdirSync(home.path('var', 'download'))).to.deep.equal([]);
    const { code, message } = error as DownloadError;
    return `${code}: ${message}`;
  }

  it('stores what the server has, byte for byte', async () => {
    const content = Buffer.from([0, 255, 10, 13, 200]);
    const result = await fetch(server.serve('/a', content));
    const sha256 = createHash('sha256').update(content).digest('hex');
    expect(result).to.deep.equal({ state: 'fetched', bytes: 5, sha256, validators: {} });
    expect(readFileSync(target)).to.deep.equal(content);
    expect(statSync(target).mode & 0o777).to.equal(0o660);
    expect(server.requests[0]!.headers['accept-encoding']).to.equal('identity');
  });

  for (const status of [204, 206, 304, 401, 403, 404, 500, 503]) {
    it(`fails at the status ${String(status)}`, async () => {
      const address = server.serve('/a', (_, response) => response.writeHead(status).end());
      expect(await failure(fetch(address))).to.equal(`server: the server answered ${String(status)}`);
    });
  }

  it('asks with the validators it was given, and takes 304 for an answer', async () => {
    const modified = 'Mon, 23 Nov 2026 00:00:00 GMT';
    const address = server.serve('/a', ({ headers }, response) => {
      if (headers['if-none-match'] === '"v1"' && headers['if-modified-since'] === modified) {
        response.writeHead(304).end();
      } else {
        response.writeHead(200, { etag: '"v1"', 'last-modified': modified }).end('one');
      }
    });
    const first = await fetch(address);
    if (first.state !== 'fetched') expect.fail('nothing fetched');
    expect(first.validators).to.deep.equal({ etag: '"v1"', lastModified: modified });
    const second = await fetch(address, {}, { target: `${target}2`, validators: first.validators });
    expect(second).to.deep.equal({ state: 'unchanged' });
    expect(existsSync(`${target}2`)).to.equal(false);
  });

  describe('redirects', () => {
    const redirect = (path: string, to: string): string =>
      server.serve(path, (_, response) => response.writeHead(302, { location: to }).end());

    it('are followed, relative ones too, and give no validators', async () => {
      server.serve('/dir/b', (_, response) => response.writeHead(200, { etag: '"x"' }).end('end'));
      const result = await fetch(redirect('/dir/a', 'b'));
      expect(result).to.include({ state: 'fetched', bytes: 3 }).and.not.have.property('validators');
    });

    it('end after five of them', async () => {
      expect(await failure(fetch(redirect('/a', '/a')))).to.equal('server: more than 5 redirects');
      expect(server.count('/a')).to.equal(6);
    });

    it('without an address, or with one of another kind, are refused', async () => {
      const none = server.serve('/a', (_, response) => response.writeHead(301).end());
      expect(await failure(fetch(none))).to.equal('server: the server answered 301 without an address');
      expect(await failure(fetch(redirect('/b', 'file:///etc/passwd')))).to.equal(
        "server: redirected: the address begins with 'file:', only http: and https: are allowed",
      );
    });

    it('take a password to the same server only', async () => {
      const other = new FileServer();
      await other.start();
      try {
        redirect('/a', '/b');
        redirect('/b', other.serve('/c', 'end'));
        await fetch(server.address('/a').replace('//', '//me:p%40ss@'));
        const expected = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
        expect(server.requests.map(({ headers }) => headers.authorization)).to.deep.equal([expected, expected]);
        expect(other.requests).to.have.length(1);
        expect(other.requests[0]!.headers).not.to.have.property('authorization');
      } finally {
        await other.stop();
      }
    });
  });

  describe('limits', () => {
    it('refuse a file whose length is told before anything is read', async () => {
      const address = server.serve('/a', (_, response) => {
        response.writeHead(200, { 'content-length': 1024 * MEBIBYTE });
        response.write('begin');
      });
      expect(await failure(fetch(address))).to.equal('server: the file is larger than 1048576 bytes');
    });

    it('stop a body of 1 GB at the limit', async () => {
      let sent = 0;
      let closed = false;
      const address = server.serve('/a', (_, response) => {
        const piece = Buffer.alloc(64 * 1024, 'x');
        response.on('close', () => (closed = true));
        const more = (): void => {
          while (!closed && sent < 1024 * MEBIBYTE) {
            sent += piece.length;
            if (!response.write(piece)) {
              response.once('drain', more);
              return;
            }
          }
        };
        more();
      });
      expect(await failure(fetch(address))).to.equal('server: the file is larger than 1048576 bytes');
      await eventually('the connection is closed', () => closed);
      // What lies in the buffers of both sockets was sent in vain.
      expect(sent).to.be.lessThan(64 * MEBIBYTE);
    });

    it('give up on a server that never answers', async () => {
      const address = server.serve('/a', () => {});
      expect(await failure(fetch(address, { idleMs: 50 }))).to.equal('server: the server was silent for 0.05 s');
    });

    it('give up on a server that hangs in the body', async () => {
      const address = server.serve('/a', (_, response) => response.writeHead(200).write('begin'));
      expect(await failure(fetch(address, { idleMs: 50 }))).to.equal('server: the server was silent for 0.05 s');
    });

    it('give up on a server that sends a byte now and then', async () => {
      let timer: NodeJS.Timeout | undefined;
      const address = server.serve('/a', (_, response) => {
        timer = setInterval(() => response.write('x'), 10);
      });
      expect(await failure(fetch(address, { timeoutMs: 300 }))).to.equal('server: it took longer than 0.3 s');
      clearInterval(timer);
    });

    it('give up on a connection that does not come about', async () => {
      // It accepts, and never says hello.
      const silent = createServer(() => {}).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const address = silent.address() as { port: number };
      try {
        expect(await failure(fetch(`https://127.0.0.1:${String(address.port)}/`, { connectMs: 50 }))).to.equal(
          'server: no connection within 0.05 s',
        );
      } finally {
        silent.close();
      }
    });
  });

  it('fails when the server ends early', async () => {
    const cut = server.serve('/a', (_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('begin', () => response.destroy());
    });
    expect(await failure(fetch(cut))).to.match(/^server: (aborted|.*ended before.*)$/);
    const chunked = server.serve('/b', (_, response) => {
      response.write('begin', () => response.destroy());
    });
    expect(await failure(fetch(chunked))).to.match(/^server: (aborted|.*ended before.*)$/);
  });

  it('takes as much as a wrong length says', async () => {
    const raw = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nmore than that'));
    }).listen(0, '127.0.0.1');
    await once(raw, 'listening');
    try {
      const { port } = raw.address() as { port: number };
      // Either the parser sees the rest and refuses all of it, or the file is what the length says.
      const result = await fetch(`http://127.0.0.1:${String(port)}/`).catch((error: unknown) => error);
      if (result instanceof DownloadError) expect(existsSync(target)).to.equal(false);
      else expect(readFileSync(target, 'utf8')).to.equal('mor');
    } finally {
      raw.close();
    }
  });

  it('refuses what is no HTTP, two lengths, and an encoding', async () => {
    for (const answer of [
      'SSH-2.0-x\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd',
    ]) {
      const raw = createServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () => socket.end(answer));
      }).listen(0, '127.0.0.1');
      await once(raw, 'listening');
      const { port } = raw.address() as { port: number };
      expect(await failure(fetch(`http://127.0.0.1:${String(port)}/`))).to.match(/^server: Parse Error/);
      raw.close();
    }
    const zipped = server.serve('/a', (_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('zipped'),
    );
    expect(await failure(fetch(zipped))).to.equal("server: the server sends the content encoded as 'gzip'");
  });

  it('names a refused connection, whose name has several addresses too', async () => {
    const { port } = server;
    await server.stop();
    expect(await failure(fetch(`http://127.0.0.1:${String(port)}/`))).to.contain('ECONNREFUSED');
    expect(await failure(fetch(`http://localhost:${String(port)}/`))).to.contain('ECONNREFUSED');
    await server.start();
  });

  it('ends when it is cancelled, before or in the middle', async () => {
    const stop = new AbortController();
    const address = server.serve('/a', (_, response) => {
      response.write('begin', () => {
        stop.abort();
      });
    });
    expect(await failure(fetch(address, {}, { signal: stop.signal }))).to.equal('cancelled: cancelled');
    expect(await failure(fetch(address, {}, { signal: AbortSignal.abort() }))).to.equal('cancelled: cancelled');
    expect(server.count('/a')).to.equal(1);
  });

  it('does not write over a file, and says that the disk is to blame', async () => {
    writeFileSync(target, 'mine');
    const error: unknown = await fetch(server.serve('/a', 'theirs')).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(DownloadError).and.include({ code: 'file' });
    expect(readFileSync(target, 'utf8')).to.equal('mine');
  });

  describe('over TLS', () => {
    const authority = testCertificate({ commonName: 'authority' });
    const certificate = testCertificate({ commonName: 'files', ips: ['127.0.0.1'], issuer: authority });
    let secure: FileServer;

    beforeEach(async () => {
      secure = new FileServer(certificate);
      await secure.start();
    });
    afterEach(() => secure.stop());

    it('refuses a certificate nobody vouches for, unless told not to verify', async () => {
      const address = secure.serve('/a', 'secret');
      expect(await failure(fetch(address))).to.match(/^server: .*certificate/);
      expect(secure.requests).to.deep.equal([]);
      expect(await fetch(address, { verify: false })).to.include({ state: 'fetched', bytes: 6 });
    });

    it('believes the authorities of the home, as soon as they are there', async () => {
      const address = secure.serve('/a', 'secret');
      const trust = new DownloadTrust(home);
      const options = { trust: () => trust.context() };
      expect(await failure(fetch(address, options))).to.match(/^server: .*certificate/);
      writeFileSync(home.path(AUTHORITIES_FILE), 'no certificate');
      expect(await failure(fetch(address, options))).to.equal("file: 'etc/download-ca.pem': no certificate in PEM");
      writeFileSync(home.path(AUTHORITIES_FILE), authority.cert);
      expect(await fetch(address, options)).to.include({ state: 'fetched', bytes: 6 });
    });

    it('does not follow a redirect to a server without it', async () => {
      const address = secure.serve('/a', (_, response) =>
        response.writeHead(302, { location: server.serve('/b', 'open') }).end(),
      );
      expect(await failure(fetch(address, { verify: false }))).to.equal(
        'server: the server redirects from https to http, which is not followed',
      );
      expect(server.requests).to.deep.equal([]);
    });
  });
});
