import { expect } from 'chai';
import fc from 'fast-check';
import { LineSplitter, type LogLine, MAX_LINE_BYTES } from '../../../../daemons/logcollector/line-splitter.js';

const text = ({ bytes }: LogLine): string => bytes.toString('latin1');

/** Feeds a text in the pieces that the cuts make of it. */
function split(content: Buffer, cuts: readonly number[], offset = 0): { lines: LogLine[]; splitter: LineSplitter } {
  const splitter = new LineSplitter(offset);
  const lines: LogLine[] = [];
  let from = 0;
  for (const cut of [...cuts, content.length].map((each) => Math.min(each, content.length)).sort((a, b) => a - b)) {
    // A copy whose memory is spoilt afterwards: the splitter must not lean on it.
    const chunk = Buffer.from(content.subarray(from, cut));
    lines.push(...splitter.push(chunk).map((line) => ({ ...line, bytes: Buffer.from(line.bytes) })));
    chunk.fill(0x58);
    from = cut;
  }
  return { lines, splitter };
}

describe('LineSplitter', () => {
  it('gives complete lines with the offset behind them, and keeps the rest', () => {
    const { lines, splitter } = split(Buffer.from('one\ntwo\r\n\nhal'), [2, 5], 100);
    expect(lines.map((line) => [text(line), line.end])).to.deep.equal([
      ['one', 104],
      ['two', 109],
      ['', 110],
    ]);
    expect(splitter.offset).to.equal(113);
    expect(splitter.lineStart).to.equal(110);
    expect(splitter.push(Buffer.from('f\n')).map(text)).to.deep.equal(['half']);
    expect(splitter.lineStart).to.equal(115);
    expect(splitter.finish()).to.equal(undefined);
  });

  it('gives the unfinished line of a file that is over', () => {
    const { splitter } = split(Buffer.from('a\nlast'), []);
    const last = splitter.finish();
    expect(last && [text(last), last.end]).to.deep.equal(['last', 6]);
    expect(splitter.lineStart).to.equal(6);
  });

  it('keeps the head of a line that is too long and throws the rest away', () => {
    for (const more of [0, 1, 2, 1000, 200_000]) {
      const content = Buffer.concat([Buffer.alloc(MAX_LINE_BYTES + more, 'a'), Buffer.from('\nnext\n')]);
      for (const cuts of [[], [70_000], [1, MAX_LINE_BYTES, MAX_LINE_BYTES + 1]]) {
        const { lines } = split(content, cuts);
        expect(lines.map(({ bytes, length, end }) => [bytes.length, length, end])).to.deep.equal([
          [MAX_LINE_BYTES, MAX_LINE_BYTES + more, MAX_LINE_BYTES + more + 1],
          [4, 4, MAX_LINE_BYTES + more + 6],
        ]);
      }
    }
  });

  it('takes the carriage return off the longest line too', () => {
    const { lines } = split(Buffer.concat([Buffer.alloc(MAX_LINE_BYTES, 'a'), Buffer.from('\r\n')]), [MAX_LINE_BYTES]);
    expect(lines.map(({ bytes, length }) => [bytes.length, length])).to.deep.equal([[MAX_LINE_BYTES, MAX_LINE_BYTES]]);
  });

  it('gives the same lines however the text is cut', () => {
    const piece = fc.oneof(
      fc.constantFrom('\n', '\r\n', '\n\n', '\r', '\0'),
      fc.string({ maxLength: 6 }),
      fc.integer({ min: 0, max: 2 }).map((n) => 'x'.repeat(MAX_LINE_BYTES - 1 + n)),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.array(fc.nat({ max: 300_000 }), { maxLength: 6 }),
        fc.nat({ max: 1000 }),
        (pieces, cuts, offset) => {
          const content = Buffer.from(pieces.join(''), 'utf8');
          const { lines, splitter } = split(content, cuts, offset);
          const expected: [string, number, number][] = [];
          let start = 0;
          for (let at = content.indexOf(10); at >= 0; at = content.indexOf(10, start)) {
            const line = content.subarray(start, at);
            // Of a line that is cut nobody knows how it ended.
            const whole = line.length <= MAX_LINE_BYTES + 1;
            const plain = whole && line.at(-1) === 13 ? line.subarray(0, -1) : line;
            expected.push([plain.subarray(0, MAX_LINE_BYTES).toString('latin1'), offset + at + 1, plain.length]);
            start = at + 1;
          }
          expect(lines.map((line) => [text(line), line.end, line.length])).to.deep.equal(expected);
          expect(splitter.lineStart).to.equal(offset + start);
          expect(splitter.offset).to.equal(offset + content.length);
        },
      ),
      { numRuns: 60 },
    );
  });
});
