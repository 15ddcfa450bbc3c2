import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { linesDiff, MAX_DIFF_BYTES, wholeDiff } from '../../../../../daemons/syscheckd/diff/diff-text.js';
import { cutDiff, MORE_CHANGES } from '../../../../../lib/events/fim/cut-diff.js';
import { diffOfWholes } from '../../../../support/syscheckd/diff-of-wholes.js';

const NAMES = { before: 'old', after: 'new' };
const diff = (before: string, after: string) =>
  diffOfWholes(Buffer.from(before, 'latin1'), Buffer.from(after, 'latin1'), NAMES);
const HAS_DIFF = spawnSync('diff', ['--version'], { stdio: 'ignore' }).status === 0;

/** Carries out a diff in normal format. */
function apply(before: string, text: string): string {
  const lines = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const result: string[] = [];
  let at = 0;
  const commands = text.split(/^(?=\d)/m).filter((part) => part !== '');
  for (const command of commands) {
    const [, from = '', to = from, letter] = /^(\d+)(?:,(\d+))?([acd])/.exec(command) ?? [];
    const first = letter === 'a' ? Number(from) : Number(from) - 1;
    const last = letter === 'a' ? first : Number(to);
    result.push(...lines.slice(at, first));
    const removed = (command.match(/^< [^\n]*\n(\\ No newline[^\n]*\n)?/gm) ?? []).map(content);
    expect(removed).to.deep.equal(lines.slice(first, last));
    result.push(...(command.match(/^> [^\n]*\n(\\ No newline[^\n]*\n)?/gm) ?? []).map(content));
    at = last;
  }
  return [...result, ...lines.slice(at)].join('');
}

function content(marked: string): string {
  return marked.slice(2).replace(/\n\\ No newline[^\n]*\n$/, '');
}

describe('text of changes', () => {
  it('is that of the specification', () => {
    expect(diff('hello world\n', 'hello world!\n')).to.equal('1c1\n< hello world\n---\n> hello world!\n');
    expect(diff('line one\n', 'line one\nline three\n')).to.equal('1a2\n> line three\n');
    expect(diff('a\nb\nc\n', 'c\n')).to.equal('1,2d0\n< a\n< b\n');
    expect(diff('', 'a')).to.equal('0a1\n> a\n\\ No newline at end of file\n');
    expect(diff('same', 'same')).to.equal('');
    expect(diff('a\0', 'b')).to.equal('Binary files old and new differ\n');
  });

  const file = fc
    .tuple(fc.array(fc.constantFrom('a', 'b', 'c', '', '> d', '1a2', '\\ No'), { maxLength: 14 }), fc.boolean())
    .map(([lines, ended]) => lines.join('\n') + (ended && lines.length > 0 ? '\n' : ''));

  it('makes the new file of the old', () => {
    fc.assert(
      fc.property(file, file, (before, after) => {
        expect(apply(before, diff(before, after))).to.equal(after);
      }),
      { numRuns: 1000 },
    );
  });

  it('makes the new file of the old where both are long', () => {
    const long = fc.tuple(fc.integer({ min: 1, max: 3000 }), file, fc.integer({ min: 1, max: 3000 }));
    const text = (head: number, middle: string, tail: number) =>
      `${'head of the file\n'.repeat(head) + middle}\n${'tail of the file\n'.repeat(tail)}`;
    fc.assert(
      fc.property(long, file, ([head, middle, tail], other) => {
        const before = text(head, middle, tail);
        const after = text(head, other, tail);
        expect(apply(before, diff(before, after))).to.equal(after);
      }),
      { numRuns: 30 },
    );
  });

  it('is as short as that of diff, and the same for everyday changes', function () {
    if (!HAS_DIFF) this.skip();
    const directory = mkdtempSync(join(tmpdir(), 'svc-diff-'));
    const real = (before: string, after: string): string => {
      writeFileSync(join(directory, 'old'), before, 'latin1');
      writeFileSync(join(directory, 'new'), after, 'latin1');
      const { stdout } = spawnSync('diff', ['-d', '--text', 'old', 'new'], {
        cwd: directory,
        encoding: 'latin1',
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { ...process.env, LC_ALL: 'C' },
      });
      return stdout;
    };
    const changed = (text: string) => (text.match(/^[<>] /gm) ?? []).length;
    try {
      const base = Array.from({ length: 40 }, (_none, line) => `key${line} = value ${line % 3}`);
      const edits: ((lines: string[]) => unknown)[] = [
        (lines) => lines.splice(3, 1, 'key3 = other'),
        (lines) => lines.splice(10, 4),
        (lines) => lines.splice(0, 0, 'first', 'second'),
        (lines) => lines.push('last'),
        (lines) => lines.splice(5, 0, ...lines.slice(5, 8)),
        (lines) => lines.splice(20, 3, 'x', 'y', 'z', 'w') && lines.splice(2, 1) && lines.splice(30, 0, 'new'),
        (lines) => lines.splice(0, lines.length),
      ];
      for (const edit of edits) {
        const lines = [...base];
        edit(lines);
        for (const end of ['\n', '']) {
          const after = lines.length === 0 ? '' : lines.join('\n') + end;
          expect(diff(`${base.join('\n')}\n`, after)).to.equal(real(`${base.join('\n')}\n`, after));
        }
      }
      fc.assert(
        fc.property(file, file, (before, after) => {
          expect(changed(diff(before, after))).to.equal(changed(real(before, after)));
        }),
        { numRuns: 60 },
      );
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('is cut after a whole line', () => {
    const text = diff('', 'a line of the new file\n'.repeat(10_000));
    expect(text.length)
      .to.be.at.most(MAX_DIFF_BYTES)
      .and.above(MAX_DIFF_BYTES - 30);
    expect(text).to.match(/\n> a line of the new file\nMore changes\.\.\.$/);
    expect(diff('x'.repeat(MAX_DIFF_BYTES), 'short\n')).to.equal(`1c1\n${MORE_CHANGES}`);
    expect(cutDiff('1a2\n> x\n', 100)).to.equal('1a2\n> x\n');
    expect(cutDiff('1a2\n> x\n', 3)).to.equal('');
  });

  it('ends soon for files that have nothing in common', () => {
    const lines = (word: string) =>
      Array.from({ length: 60_000 }, (_none, line) => `${word} ${(line * 7919) % 60_013}\n`).join('');
    const text = diff(lines('old'), lines('new'));
    expect(text).to.match(/^1,60000c1,60000\n< old 0\n/);
    // Every line is there in both, in another order.
    const shuffled = lines('old').split('\n').reverse().join('\n').slice(1);
    expect(diff(lines('old'), `${shuffled}\n`)).to.match(/^\d/);
  });

  it('shows more lines than can be compared as one change', () => {
    const before = `1\n${'a\n'.repeat(400_001)}2\n`;
    const text = diff(before, before.replaceAll('a', 'b'));
    expect(text.startsWith('2,400002c2,400002\n< a\n< a\n')).to.equal(true);
    expect(text.endsWith(`< a\n${MORE_CHANGES}`)).to.equal(true);
    expect(text.length).to.be.within(MAX_DIFF_BYTES - 10, MAX_DIFF_BYTES);
    expect(diff('x\n', 'y\n'.repeat(400_001)).startsWith('1c1,400001\n< x\n---\n> y\n> y\n')).to.equal(true);
  });

  it('tells long lines apart as well as short ones', () => {
    const long = 'x'.repeat(100);
    expect(diff(`${long}1\n${long}2\n`, `${long}2\n${long}3\n`)).to.equal(`1d0\n< ${long}1\n2a2\n> ${long}3\n`);
  });

  it('counts the lines in front of a part', () => {
    expect(linesDiff(Buffer.from('a\nb\n'), Buffer.from('a\nc\n'), 10)).to.equal('12c12\n< b\n---\n> c\n');
  });

  it('shows texts of which only the beginning is at hand', () => {
    const part = (text: string, lines: number) => ({ beginning: Buffer.from(text), lines });
    expect(wholeDiff(part('', 0), part('b\nc\n', 2), 7)).to.equal('7a8,9\n> b\n> c\n');
    expect(wholeDiff(part('b\nc', 2), part('', 0), 7)).to.equal('8,9d7\n< b\n< c\n\\ No newline at end of file\n');
    const text = wholeDiff(part('a\n'.repeat(MAX_DIFF_BYTES / 2 + 1), 9_000_000), part('b\n', 1), 0);
    expect(text.startsWith('1,9000000c1\n< a\n< a\n')).to.equal(true);
    expect(text.endsWith(`< a\n${MORE_CHANGES}`)).to.equal(true);
  });
});
