import { hash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { isControl } from '../../../../lib/agentlink/control-text.js';
import { PushReceiver, type PushResult } from '../../../../lib/agentlink/file-push.js';
import { parseManagerControl } from '../../../../lib/agentlink/manager-control.js';
import {
  buildMergedFile,
  isSafeSharedName,
  MergedFileError,
  parseMergedFile,
} from '../../../../lib/agentlink/merged-file.js';
import { pushMessages } from '../../../support/agentlink/push-messages.js';

/** What an agent does with the payloads of a push. */
function receive(payloads: Iterable<Buffer>, receiver = new PushReceiver()): PushResult | undefined {
  let result: PushResult | undefined;
  for (const payload of payloads) {
    if (!isControl(payload)) {
      receiver.add(payload);
      continue;
    }
    const control = parseManagerControl(payload);
    if (control.kind === 'push_start') receiver.start(control.md5, control.name);
    else if (control.kind === 'push_end') result = receiver.end();
  }
  return result;
}

describe('pushed files', () => {
  it('arrive whole, in pieces of at most 900 bytes', () => {
    const sizes = fc.constantFrom(0, 1, 899, 900, 901, 1800, 2701);
    const part = fc.oneof(fc.constant('#!-agent '), fc.string({ maxLength: 5 }), fc.constant('#'), fc.constant('#!'));
    const contents = fc.tuple(sizes, fc.array(part, { minLength: 1 })).map(([size, parts]) => {
      const text = parts.join('') || 'x';
      return Buffer.from(`G${text.repeat(Math.ceil(size / text.length) + 1)}`).subarray(0, size);
    });
    fc.assert(
      fc.property(contents, (content) => {
        const payloads = [...pushMessages(content)];
        const pieces = payloads.slice(1, -1);
        for (const piece of pieces) {
          expect(piece.length).to.be.within(1, 900);
          expect(isControl(piece)).to.equal(false);
        }
        const result = receive(payloads);
        expect(result?.ok === true && result.content.equals(content)).to.equal(true);
        expect(result?.name).to.equal('merged.mg');
      }),
      { numRuns: 300 },
    );
  });

  it('make as many messages as they must', () => {
    const count = (size: number): number => [...pushMessages(Buffer.alloc(size, 'a'))].length;
    expect([0, 1, 900, 901, 1800].map(count)).to.deep.equal([2, 3, 3, 4, 4]);
    const [start, piece, end] = [...pushMessages(Buffer.from('x'))].map(String);
    expect([start, piece, end]).to.deep.equal([
      `#!-up file ${hash('md5', 'x', 'hex')} merged.mg\n`,
      'x',
      '#!-close file ',
    ]);
  });

  it('are refused when they are not what was announced', () => {
    const payloads = [...pushMessages(Buffer.alloc(2000, 'a'))];
    expect(receive([payloads[0]!, payloads[2]!, payloads[4]!])).to.deep.include({ ok: false, reason: 'wrong_md5' });
    expect(receive(payloads.slice(1))).to.deep.include({ ok: false, reason: 'not_open' });
    // A second push begins anew.
    expect(receive([...payloads.slice(0, 2), ...payloads])).to.deep.include({ ok: true });
    const tiny = payloads.flatMap((payload) =>
      isControl(payload) ? [payload] : [...payload].map((byte) => Buffer.from([byte])),
    );
    expect(receive(tiny)).to.deep.include({ ok: true });
    const small = new PushReceiver(1000);
    expect(receive(payloads, small)).to.deep.include({ ok: false, reason: 'too_large' });
    expect(receive(pushMessages(Buffer.from('later')), small)).to.deep.include({ ok: true });
  });

  it('get a name inside the directory', () => {
    const receiver = new PushReceiver();
    const md5 = hash('md5', '', 'hex');
    expect(receiver.start(md5, '../etc/passwd')).to.equal(false);
    expect([receiver.open, receiver.add(Buffer.from('x'))]).to.deep.equal([false, false]);
    expect(receiver.start(md5, '/etc/x')).to.equal(true);
    expect(receiver.end()).to.deep.include({ ok: true, name: '-etc-x' });
    receiver.start(md5, '.profile');
    expect(receiver.end()).to.deep.include({ name: '-profile' });
  });
});

describe('merged files', () => {
  const file = (name: string, content: string): { name: string; content: Buffer } => ({
    name,
    content: Buffer.from(content),
  });

  it('are taken apart as they were built', () => {
    const entries = [file('ar.conf', 'a\n!9 x\n'), file('empty', ''), file('policies/site é.yml', '#!-x')];
    const bytes = buildMergedFile('default', entries);
    expect(bytes.toString()).to.equal('#default\n!7 ar.conf\na\n!9 x\n!0 empty\n!4 policies/site é.yml\n#!-x');
    expect(parseMergedFile(bytes, true)).to.deep.equal(entries);
    const odd = ['a\rb', 'a\u2028b', '\u2029', ' ', '!1 x'].map((name) => file(name, 'x'));
    expect(parseMergedFile(buildMergedFile('g', odd), true)).to.deep.equal(odd);
    expect(() => buildMergedFile('g', [file('a\nb', '')])).to.throw(MergedFileError);
    expect(() => buildMergedFile('g', [file('', '')])).to.throw(MergedFileError);
  });

  it('are refused where they are broken, leniently or strictly', () => {
    const parse = (text: string, strict = false): unknown => {
      try {
        return parseMergedFile(Buffer.from(text), strict).map(({ name }) => name);
      } catch (error) {
        if (!(error instanceof MergedFileError)) throw error;
        return error.message;
      }
    };
    expect(parse('')).to.deep.equal([]);
    expect(parse('noise\n!1 a\nx')).to.deep.equal(['a']);
    expect(parse('noise\n!1 a\nx', true)).to.equal('no header at byte 0');
    expect(parse('#g\n!2 a\nx')).to.equal('file at byte 3 is cut short');
    expect(parse('#g\n!9999999999 a\nx')).to.equal('file at byte 3 is cut short');
    expect(parse('#g\n!1 a')).to.equal('header at byte 3 does not end');
    expect(parse('#g\n!1a\nx')).to.equal('header at byte 3 has no size and name');
    expect(parse('#g\n!-1 a\nx')).to.equal('header at byte 3 has no size and name');
    expect(parse('!0 a\n'.repeat(65_537))).to.equal('more than 65536 files');
    expect(parse(`!1 ${'a'.repeat(2000)}\nx`)).to.equal('header at byte 0 does not end');
  });

  it('survive any bytes', () => {
    const parts = fc.array(fc.oneof(fc.string(), fc.constantFrom('\n', '!', '#', '!3 a\n', ' ')), { maxLength: 20 });
    fc.assert(
      fc.property(parts, fc.boolean(), (text, strict) => {
        try {
          parseMergedFile(Buffer.from(text.join('')), strict);
        } catch (error) {
          expect(error).to.be.instanceOf(MergedFileError);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('name files that stay where they belong', () => {
    expect(['agent.conf', 'policies/site.yml', '.x'].every(isSafeSharedName)).to.equal(true);
    expect(['', '/etc/passwd', '../x', 'a/../../x', 'a\0b', 'a\nb', 'a\\b'].some(isSafeSharedName)).to.equal(false);
  });
});
