import { symlinkSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { checkTrojans } from '../../../../lib/rootcheck/check-trojans.js';
import { PrintableStrings } from '../../../../lib/rootcheck/printable-strings.js';
import { RootcheckIgnore } from '../../../../lib/rootcheck/rootcheck-ignore.js';
import { readTrojans } from '../../../../lib/rootcheck/rootcheck-lists.js';
import type { RootcheckSettings } from '../../../../lib/rootcheck/rootcheck-settings.js';
import { SYSTEM_TREE } from '../../../../lib/rootcheck/tree-calls.js';
import { RootcheckTree } from '../../../support/syscheckd/rootcheck-kit.js';

describe('trojans', () => {
  let tree: RootcheckTree;
  beforeEach(() => {
    tree = new RootcheckTree();
  });
  afterEach(() => {
    tree.remove();
  });

  const trojans = async (list: string, settings: Partial<RootcheckSettings> = {}): Promise<string[]> => {
    const context = tree.context({ rootkitTrojans: tree.write('trojans.txt', list), ...settings });
    await checkTrojans(context, SYSTEM_TREE, readTrojans(context), new RootcheckIgnore(context.settings.ignore));
    return tree.findings.splice(0);
  };

  it('finds a signature among the strings of a program, wherever that is', async () => {
    const program = Buffer.concat([Buffer.from([0, 1, 2, 0xff]), Buffer.from('/dev/ptyp1\0abc\0')]);
    for (const name of ['usr/bin/ls', 'sbin/ls', 'opt/ls']) tree.write(name, program);
    expect(await trojans('ls !/dev/pty[pq]|nothing! Known one\n')).to.deep.equal([
      "Trojaned version of file '%/sbin/ls' detected. Signature used: '/dev/pty[pq]|nothing' (Known one).",
      "Trojaned version of file '%/usr/bin/ls' detected. Signature used: '/dev/pty[pq]|nothing' (Known one).",
    ]);
    expect(await trojans('/opt/ls !^/dev/ptyp1$!\n')).to.deep.equal([
      "Trojaned version of file '%/opt/ls' detected. Signature used: '^/dev/ptyp1$' (Generic).",
    ]);
    expect(await trojans('ls !^abc$!\n'), 'shorter than a string').to.be.empty;
    expect(await trojans('ls !/DEV/ptyp!\n'), 'another case').to.be.empty;
  });

  it('looks at each program once where directories are links', async () => {
    tree.write('usr/bin/ls', 'signature');
    symlinkSync('usr/bin', tree.path('bin'));
    expect(await trojans('ls !signature!\n')).to.have.length(1);
    expect(await trojans('ls !signature!\n', { ignore: [{ kind: 'path', value: tree.path('usr/bin/ls') }] })).to.be
      .empty;
  });

  it('follows no link out of a tree', async () => {
    tree.write('etc/program', 'signature');
    tree.write('bin/other');
    symlinkSync(tree.path('etc/program'), tree.path('bin/ls'));
    expect(await trojans('ls !signature!\n')).to.be.empty;
  });

  it('leaves out an entry that is not right, and says which', async () => {
    tree.write('bin/ls', 'signature');
    expect(await trojans('ls !(broken!\n../bin/ls !signature!\nls !signature!\n')).to.have.length(1);
    expect(tree.notes).to.have.length(2);
    expect(tree.notes[0]).to.match(/^warn: '%\/trojans.txt': the entry of 'ls' is left out: /);
    expect(tree.notes[1]).to.include('leads out of its directory');
  });

  it('ends soon with a pattern that takes long', async () => {
    tree.write('bin/ls', `b${'a'.repeat(4000)}`);
    expect(await trojans('ls !(a+)+(a+)+\\1b!\n')).to.be.empty;
    expect(tree.notes.join('\n')).to.include('too many steps');
  });

  describe('strings of a program', () => {
    const strings = (chunks: readonly Buffer[]): string[] => {
      const found = new PrintableStrings();
      return [...chunks.flatMap((chunk) => [...found.add(chunk)]), ...found.end()];
    };

    it('do not depend on the pieces in which it is read', () => {
      const byte = fc.oneof(fc.constantFrom(0, 9, 10, 255), fc.integer({ min: 0x20, max: 0x7e }));
      fc.assert(
        fc.property(fc.array(fc.array(byte, { maxLength: 12 }), { maxLength: 8 }), (pieces) => {
          const chunks = pieces.map((piece) => Buffer.from(piece));
          const whole = Buffer.concat(chunks).toString('latin1');
          expect(strings(chunks)).to.deep.equal(whole.split(/[^\t\x20-\x7e]/).filter(({ length }) => length >= 4));
        }),
      );
    });

    it('are given in pieces where they are long', () => {
      const text = 'abcdefgh'.repeat(2000);
      const found = strings([Buffer.from(text.slice(0, 5000)), Buffer.from(text.slice(5000))]);
      expect(found.join('')).to.equal(text);
      expect(Math.max(...found.map(({ length }) => length))).to.equal(4096);
    });
  });
});
