import { expect } from 'chai';
import fc from 'fast-check';
import { encodeFrame, FrameDecoder, FrameSizeError } from '../../../../lib/agentlink/frame-decoder.js';

/** Takes all that is complete, copied: frames share memory with what was pushed. */
function drain(decoder: FrameDecoder): Buffer[] {
  const messages: Buffer[] = [];
  for (let message = decoder.next(); message !== undefined; message = decoder.next()) {
    messages.push(Buffer.from(message));
  }
  return messages;
}

describe('FrameDecoder', () => {
  it('gives what was sent, however it is cut', () => {
    const messages = fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 60 }),
        fc.integer({ min: 500, max: 5000 }).map((length) => new Uint8Array(length).fill(length)),
      ),
      { maxLength: 12 },
    );
    const cuts = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(messages, cuts, fc.boolean(), (sent, sizes, late) => {
        const stream = Buffer.concat(sent.map((message) => encodeFrame(Buffer.from(message))));
        const decoder = new FrameDecoder();
        const received: Buffer[] = [];
        for (let at = 0, turn = 0; at < stream.length; turn += 1) {
          const size = sizes[turn % sizes.length]!;
          decoder.push(stream.subarray(at, at + size));
          at += size;
          // A caller that stops in the middle and pushes again loses nothing.
          if (late && turn % 3 === 0) continue;
          received.push(...drain(decoder));
        }
        received.push(...drain(decoder));
        expect(Buffer.concat(received.map(encodeFrame)).equals(stream)).to.equal(true);
        expect(received.length).to.equal(sent.length);
        expect(decoder.unfinished).to.equal(false);
        expect(decoder.held).to.equal(0);
      }),
      { numRuns: 300 },
    );
  });

  it('reads the length as little endian and counts the message alone', () => {
    const decoder = new FrameDecoder();
    decoder.push(Buffer.from('0500000023706f6e6700000000', 'hex'));
    expect(drain(decoder).map(String)).to.deep.equal(['#pong', '']);
  });

  it('takes a message of 65536 bytes and refuses a longer one before its bytes', () => {
    const decoder = new FrameDecoder();
    const largest = Buffer.alloc(65_536, 7);
    decoder.push(encodeFrame(largest));
    expect(drain(decoder)[0]?.equals(largest)).to.equal(true);
    for (const header of ['01000100', 'ffffffff', '00000080']) {
      const refused = new FrameDecoder();
      refused.push(Buffer.from(header, 'hex'));
      expect(() => refused.next(), header).to.throw(FrameSizeError);
      const slow = new FrameDecoder();
      expect(() => {
        for (const byte of Buffer.from(header, 'hex')) {
          slow.push(Buffer.from([byte]));
          slow.next();
        }
      }, header).to.throw(FrameSizeError);
    }
    expect(() => encodeFrame(Buffer.alloc(65_537))).to.throw(FrameSizeError, '65537');
  });

  it('survives any bytes, and holds no more than was sent', () => {
    const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 30 });
    const small = fc.uint8Array({ maxLength: 30 }).map((all) => encodeFrame(Buffer.from(all)));
    fc.assert(
      fc.property(fc.array(small, { maxLength: 3 }), chunks, (frames, noise) => {
        const decoder = new FrameDecoder();
        let sent = 0;
        try {
          for (const chunk of [...frames, ...noise]) {
            sent += chunk.length;
            decoder.push(Buffer.from(chunk));
            drain(decoder);
            expect(decoder.held).to.be.at.most(Math.max(512, 2 * sent));
          }
        } catch (error) {
          expect(error).to.be.instanceOf(FrameSizeError);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('holds what a slow peer has sent, not what it has announced', () => {
    const decoder = new FrameDecoder();
    decoder.push(Buffer.from('00000100', 'hex'));
    expect(decoder.next()).to.equal(undefined);
    for (let count = 0; count < 100; count += 1) {
      decoder.push(Buffer.from([count]));
      expect(decoder.next()).to.equal(undefined);
      expect(decoder.unfinished).to.equal(true);
    }
    expect(decoder.held).to.be.at.most(512);
    decoder.push(Buffer.alloc(65_536 - 100));
    expect(decoder.held).to.be.at.most(2 * 65_540);
    expect(decoder.next()?.length).to.equal(65_536);
    expect(decoder.held).to.equal(0);
  });
});
