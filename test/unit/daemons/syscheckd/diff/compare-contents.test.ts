import { expect } from 'chai';
import fc from 'fast-check';
import { compareContents, type Content } from '../../../../../daemons/syscheckd/diff/compare-contents.js';
import { MAX_DIFF_BYTES } from '../../../../../daemons/syscheckd/diff/diff-text.js';
import { diffOfWholes } from '../../../../support/syscheckd/diff-of-wholes.js';

const NAMES = { before: 'old', after: 'new' };

async function* pieces(content: Buffer, sizes: readonly number[]): Content {
  await Promise.resolve();
  for (let at = 0, index = 0; at < content.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    yield content.subarray(at, at + size);
    at += size;
  }
}

const compare = (before: string | Buffer, after: string | Buffer, window?: number, sizes = [7]) =>
  compareContents(pieces(Buffer.from(before), sizes), pieces(Buffer.from(after), sizes), NAMES, window);

describe('comparing of contents in pieces', () => {
  it('tells what comparing them as wholes tells, however they are cut', async () => {
    const content = fc
      .array(fc.constantFrom('a', 'b', '\n', 'long line\n', 'x\n'), { maxLength: 40 })
      .map((parts) => Buffer.from(parts.join('')));
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(content, content, sizes, sizes, async (before, after, cuts, others) => {
        const text = await compareContents(pieces(before, cuts), pieces(after, others), NAMES);
        expect(text).to.equal(diffOfWholes(before, after, NAMES));
      }),
    );
  });

  it('goes on to a difference that lies far behind', async () => {
    const before = Buffer.from('one line of many\n'.repeat(100_000));
    const after = Buffer.concat([before, Buffer.from('new\n')]);
    expect(await compare(before, after, 1000, [65_536])).to.equal('100000a100001\n> new\n');
  });

  it('shows as one change what does not fit into the window', async () => {
    const shared = 'same\n'.repeat(3);
    expect(await compare(`${shared}a\nb\nc\nd\n`, `${shared}x\nb`, 4)).to.equal(
      '4,7c4,5\n< a\n< b\n< c\n< d\n---\n> x\n> b\n\\ No newline at end of file\n',
    );
    expect(await compare(shared, `${shared}${'x\n'.repeat(9)}`, 4)).to.equal(`3a4,12\n${'> x\n'.repeat(9)}`);
  });

  it('does not keep a line that is longer than the window', async () => {
    const line = 'x'.repeat(200_000);
    const text = await compare(`a\n${line}1\n`, `a\n${line}2\n`, 100_000, [65_536]);
    expect(text).to.equal('2c2\nMore changes...');
    expect(text.length).to.be.below(MAX_DIFF_BYTES);
  });

  it('tells of files that are not text only that they differ', async () => {
    expect(await compare('a\0b', 'a\0c')).to.equal('Binary files old and new differ\n');
    expect(await compare('abc', 'ab\0')).to.equal('Binary files old and new differ\n');
    expect(await compare('a\0b', 'a\0b')).to.equal('');
    const text = 'x'.repeat(40_000);
    expect(await compare(`${text}\0\n`, `${text}\n`)).to.match(/^1c1\n< /);
  });

  it('closes both contents when one fails', async () => {
    let closed = 0;
    const content = async function* (fails: boolean): Content {
      try {
        await Promise.resolve();
        yield Buffer.from('a\n');
        if (fails) throw new Error('damaged');
        yield Buffer.from('b\n');
      } finally {
        closed += 1;
      }
    };
    const outcome = await compareContents(content(false), content(true), NAMES).catch(String);
    expect(outcome).to.equal('Error: damaged');
    expect(closed).to.equal(2);
  });
});
