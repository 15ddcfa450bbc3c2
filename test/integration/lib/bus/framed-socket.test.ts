import { mkdtempSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { FramedSocket } from '../../../../lib/bus/framed-socket.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { removeTree } from '../../../support/remove-tree.js';

function frame(text: string): Buffer {
  const body = Buffer.from(text);
  const header = Buffer.alloc(4);
  header.writeUInt32LE(body.length);
  return Buffer.concat([header, body]);
}

/** Sends the pieces, one write each, and gives all bytes until the server closes. */
async function exchange(path: string, pieces: Buffer[], end = false): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('close', () => resolve(Buffer.concat(chunks)));
    socket.on('error', reject);
    socket.on('connect', () => {
      for (const piece of pieces) socket.write(piece);
      if (end) socket.end();
    });
  });
}

describe('framed socket', () => {
  let directory: string;
  let path: string;
  let server: FramedSocket;
  const seen: string[] = [];

  beforeEach(async () => {
    seen.length = 0;
    directory = mkdtempSync(join(tmpdir(), 'framed-'));
    path = join(directory, 'queue', 'logtest');
    server = new FramedSocket({
      path,
      oversizeAnswer: 'too big',
      logger: new RecordingLogger(),
      maxConnectionMs: 300,
      handler: (request) => {
        seen.push(request.toString());
        if (request.toString() === 'fail') return Promise.reject(new Error('no'));
        return Promise.resolve(`answer to ${request.toString()}`);
      },
    });
    await server.start();
  });
  afterEach(async () => {
    await server.stop();
    removeTree(directory);
  });

  it('answers a request that comes in pieces and closes', async () => {
    const bytes = frame('hello');
    const answer = await exchange(path, [bytes.subarray(0, 2), bytes.subarray(2, 6), bytes.subarray(6)]);
    expect(answer).to.deep.equal(frame('answer to hello'));
  });

  it('is open to the owner and the group only', () => {
    expect(statSync(path).mode & 0o777).to.equal(0o660);
  });

  it('refuses a frame that announces more than 65535 bytes without reading it', async () => {
    const header = Buffer.alloc(4);
    header.writeUInt32LE(65536);
    expect(await exchange(path, [header, Buffer.alloc(1000)])).to.deep.equal(frame('too big'));
    expect(seen).to.deep.equal([]);
  });

  it('closes without answer on an empty, a torn and a failing request', async () => {
    expect((await exchange(path, [frame('')])).length).to.equal(0);
    expect((await exchange(path, [frame('torn').subarray(0, 6)], true)).length).to.equal(0);
    expect((await exchange(path, [frame('fail')])).length).to.equal(0);
  });

  it('drops a peer that sends a byte now and then for ever', async () => {
    const slow = connect(path);
    // The write after the end fails, or not, as the times fall.
    slow.on('error', () => {});
    const closed = new Promise((resolve) => slow.once('close', resolve));
    const drip = setInterval(() => slow.write('x'), 20);
    slow.write(frame('x'.repeat(1000)).subarray(0, 10));
    slow.resume();
    await closed;
    clearInterval(drip);
    expect(seen).to.deep.equal([]);
  });

  it('replaces a stale socket file at start', async () => {
    const second = new FramedSocket({
      path,
      oversizeAnswer: '',
      logger: new RecordingLogger(),
      handler: () => Promise.resolve('2'),
    });
    await second.start();
    expect(await exchange(path, [frame('x')])).to.deep.equal(frame('2'));
    await second.stop();
  });
});
