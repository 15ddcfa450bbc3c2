import { expect } from 'chai';
import fc from 'fast-check';
import { SyslogFramer, SyslogFramingError } from '../../../../../daemons/remoted/syslog/syslog-framer.js';
import { MAX_SYSLOG_BYTES } from '../../../../../daemons/remoted/syslog/syslog-limits.js';

describe('messages in a TCP stream of syslog', () => {
  let long: number;
  let framer: SyslogFramer;

  beforeEach(() => {
    long = 0;
    framer = new SyslogFramer(() => (long += 1));
  });

  function all(...chunks: readonly (string | Buffer)[]): string[] {
    const messages: string[] = [];
    for (const chunk of chunks) {
      framer.push(Buffer.from(chunk as string, 'latin1'));
      for (let next = framer.next(); next !== undefined; next = framer.next()) messages.push(next.toString('latin1'));
    }
    return messages;
  }
  const counted = (message: string): string => `${String(message.length)} ${message}`;

  it('are lines, with either end, and empty ones are none', () => {
    expect(all('<13>one\n<13>two\r\n\n\r\nthree\n')).to.deep.equal(['<13>one', '<13>two', 'three']);
    expect(framer.unfinished).to.equal(false);
    expect(all('fo')).to.deep.equal([]);
    expect(framer.unfinished).to.equal(true);
    expect(all('ur\nfi', 've')).to.deep.equal(['four']);
    expect(framer.rest()?.toString()).to.equal('five');
    expect(framer.rest()).to.equal(undefined);
  });

  it('have their length before them where the first one has', () => {
    const second = '<13>two\nlines';
    expect(all(`${counted('<34>one')}${counted(second)}\n5 <1>ab`)).to.deep.equal(['<34>one', second, '<1>ab']);
    expect(all('7 <1>a')).to.deep.equal([]);
    expect(framer.rest()?.toString()).to.equal('<1>a');
  });

  it('are lines all the same where only a later one looks like a length', () => {
    expect(all('<13>first\n99999 <13>no length\n2026 began\n')).to.deep.equal([
      '<13>first',
      '99999 <13>no length',
      '2026 began',
    ]);
  });

  for (const text of ['2026-01-02 a line', '12', '0 <13>x', '12345678 <13>x', '5 plain']) {
    it(`are lines that begin with '${text}'`, () => {
      expect(all(`${text}\n`)).to.deep.equal([text]);
    });
  }

  it('end the connection where a length should be and is none', () => {
    expect(() => all(`${counted('<34>one')}<13>two\n`)).to.throw(SyslogFramingError);
    framer = new SyslogFramer(() => {});
    expect(() => all(counted('<34>one'), '123456789')).to.throw(SyslogFramingError, 'too many digits');
  });

  it('are cut where they are too long, and the next one is whole', () => {
    const [line, over] = ['x'.repeat(MAX_SYSLOG_BYTES), 'tail'];
    expect(all(`${line}${over}`, 'more of it', '\n<13>next\n')).to.deep.equal([line, '<13>next']);
    expect(all(`${line}\n`)).to.deep.equal([line]);
    expect(all(`${line}${over}\nafter\n`)).to.deep.equal([line, 'after']);
    expect(long).to.equal(2);
    framer = new SyslogFramer(() => (long += 1));
    const message = `<1>${line}`;
    expect(all(counted(message).slice(0, -2), message.slice(-2), counted('<1>next'))).to.deep.equal([
      message.slice(0, MAX_SYSLOG_BYTES),
      '<1>next',
    ]);
    expect(long).to.equal(3);
  });

  it('are the same however the stream is cut into chunks', () => {
    const message = fc.string({ minLength: 1, maxLength: 40 }).map((text) => `<13>${text.replace(/[\r\n]/g, '.')}`);
    fc.assert(
      fc.property(
        fc.array(message, { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        fc.infiniteStream(fc.integer({ min: 1, max: 20 })),
        (messages, lengths, sizes) => {
          const bytes = messages.map((text) => Buffer.from(text));
          const stream = Buffer.concat(
            bytes.flatMap((each) =>
              lengths ? [Buffer.from(`${String(each.length)} `), each] : [each, Buffer.from('\n')],
            ),
          );
          framer = new SyslogFramer(() => {});
          const chunks: Buffer[] = [];
          for (let at = 0; at < stream.length;) {
            const { value } = sizes.next();
            const size = value ?? 1;
            chunks.push(stream.subarray(at, at + size));
            at += size;
          }
          const found: string[] = [];
          for (const chunk of chunks) {
            framer.push(chunk);
            for (let next = framer.next(); next !== undefined; next = framer.next()) found.push(next.toString());
          }
          expect(found).to.deep.equal(messages);
          expect(framer.unfinished).to.equal(false);
        },
      ),
    );
  });
});
