import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { look, type LookOrder } from '../../../../lib/sca/look.js';
import { removeTree } from '../../../support/remove-tree.js';

describe('a look at this host', function () {
  this.timeout(30_000);
  let base: string;

  before(() => {
    base = mkdtempSync(join(tmpdir(), 'svc-sca-'));
    mkdirSync(join(base, 'etc/deep/deeper/x.conf'), { recursive: true });
    mkdirSync(join(base, 'empty'));
    const file = (name: string, content: string | Buffer) => {
      writeFileSync(join(base, name), content);
    };
    file('etc/passwd', 'root:x:0:0\nbob:x:1000:1000\n');
    file('etc/dos', 'first\r\nlast line');
    file('etc/blank', 'a\n\nb\n');
    file('etc/nul', Buffer.from('Permit\0Root yes\n'));
    file('etc/latin', Buffer.from([0x67, 0x72, 0xfc, 0x6e, 10]));
    file('etc/grün', 'ja\n');
    file('etc/deep/a.conf', 'alpha\n');
    file('etc/deep/deeper/b.conf', 'beta\n');
    file('etc/deep/deeper/x.conf/c.conf', 'gamma\n');
    file('etc/long', `${'x'.repeat(70_000)}needle\nshort\n`);
    file('etc/huge', '');
    truncateSync(join(base, 'etc/huge'), 100 * 1024 ** 3);
    symlinkSync('passwd', join(base, 'etc/link'));
    symlinkSync('loop', join(base, 'etc/loop'));
    symlinkSync('/nowhere/at/all', join(base, 'etc/dangling'));
    symlinkSync('.', join(base, 'etc/deep/again'));
    execFileSync('mkfifo', [join(base, 'etc/fifo')]);
    mkdirSync(join(base, 'etc/closed'));
    writeFileSync(join(base, 'etc/closed/f'), 'x\n');
    chmodSync(join(base, 'etc/closed'), 0);
  });
  after(() => {
    chmodSync(join(base, 'etc/closed'), 0o700);
    removeTree(base);
  });

  const outcome = (rule: string, more: Partial<LookOrder> = {}) =>
    look({ rule, language: 'pcre2', skipNfs: true, base, ...more });
  const finding = (rule: string, more?: Partial<LookOrder>) => outcome(rule, more).finding;
  const reason = (rule: string, more?: Partial<LookOrder>) => outcome(rule, more).reason?.replaceAll(base, '');

  it('finds files, links resolved, and says what it cannot say', () => {
    expect(
      ['f:/etc/passwd', 'f:/etc/link', 'f:/none,/etc/passwd', 'not f:/none'].map((rule) => finding(rule)),
    ).to.deep.equal(['found', 'found', 'found', 'found']);
    expect(
      ['f:/none', 'f:/etc/passwd/x', 'f:/etc/dangling', 'not f:/etc/passwd'].map((rule) => finding(rule)),
    ).to.deep.equal(['not-found', 'not-found', 'not-found', 'not-found']);
    for (const path of ['/etc', '/etc/fifo']) {
      expect(reason(`f:${path}`)).to.equal(`FILE_EXISTS(${path}) -> RETURN_INVALID: Not a regular file.`);
    }
    expect(reason('not f:/etc/loop')).to.match(/^Could not resolve the real path of '\/etc\/loop': Too many/);
    expect(finding('f:/etc/fifo,/etc/passwd')).to.equal('found');
    expect(finding('f:/etc/fifo,/none')).to.equal('invalid');
  });

  it('looks for lines in files', () => {
    const yes = [
      'f:/etc/passwd -> r:^root:',
      'f:/etc/passwd -> !r:^root:',
      'f:/etc/link -> r:^bob:',
      'f:/etc/dos -> first',
      'f:/etc/dos -> LAST LINE',
      'f:/etc/blank -> r:^$',
      'f:/etc/nul -> r:PermitRoot yes',
      'f:/etc/long -> r:^x+$ && !r:needle',
      'f:/etc/long -> short',
      'f:/etc/grün -> ja',
      'f:/etc/latin -> r:^gr.n$',
      'not f:/etc/passwd -> r:^alice:',
    ];
    for (const rule of yes) expect([rule, finding(rule)]).to.deep.equal([rule, 'found']);
    expect(finding('f:/etc/passwd -> r:^root: && r:^bob:')).to.equal('not-found');
    expect(finding('f:/etc/blank -> b && !r:b')).to.equal('not-found');
    expect(finding('f:/etc/passwd -> r:^$')).to.equal('not-found');
  });

  it('cannot say what is in a file that is missing, unreadable or none', () => {
    expect(reason('f:/none -> r:x')).to.equal("Could not open file '/none'");
    expect(reason('not f:/none -> r:x')).to.equal("Could not open file '/none'");
    expect(reason('f:/etc/fifo -> r:x')).to.equal('FILE_EXISTS(/etc/fifo) -> RETURN_INVALID: Not a regular file.');
    expect(finding('f:/none,/etc/passwd -> r:^root:')).to.equal('found');
    expect(finding('f:/none,/etc/passwd -> r:^alice:')).to.equal('invalid');
    if (process.geteuid?.() !== 0) expect(finding('f:/etc/closed/f -> r:x')).to.equal('invalid');
  });

  it('reads no more of a hostile file than it must', () => {
    const begun = performance.now();
    expect(reason('f:/etc/huge -> r:x')).to.match(/^'\/etc\/huge' is too large: only its beginning/);
    expect(reason('d:/etc -> huge -> r:x')).to.match(/is too large/);
    expect(look({ rule: 'f:/dev/zero -> r:x', language: 'pcre2', skipNfs: true, base: '' }).reason).to.match(
      /Not a regular/,
    );
    expect(performance.now() - begun).to.be.below(10_000);
  });

  it('finds directories', () => {
    expect(['d:/etc', 'not d:/none', 'not d:/etc/passwd', 'd:/none,/etc'].map((rule) => finding(rule))).to.deep.equal([
      'found',
      'found',
      'found',
      'found',
    ]);
    expect(reason('d:/etc/loop')).to.match(/^Could not resolve the real path/);
  });

  it('finds files in directories and below, by their names and their lines', () => {
    const yes = [
      'd:/etc/deep -> r:^b.conf$',
      'd:/etc/deep -> b.conf',
      'd:/etc/deep -> r:.conf$ -> alpha',
      'd:/etc/deep -> r:.conf$ -> gamma',
      'd:/etc/deep -> r:^c.conf -> r:^gam',
      // Names have the native language, in which a backslash and a dot are any character.
      'd:/etc/deep -> r:a\\.conf',
      'not d:/etc/deep -> r:.conf$ -> delta',
      'not d:/empty -> r:.',
      'd:/none,/etc/deep -> ^a.conf$',
    ];
    for (const rule of yes) expect([rule, finding(rule)]).to.deep.equal([rule, 'found']);
    expect(finding('d:/etc/deep -> r:^x.conf$')).to.equal('not-found');
    expect(reason('d:/none -> r:x')).to.equal("Could not open '/none': No such file or directory");
    expect(reason('not d:/etc/passwd -> r:x')).to.equal("Could not open '/etc/passwd': Not a directory");
    expect(finding('d:/etc -> r:^fifo$ -> r:x')).to.equal('invalid');
    expect(finding('d:/etc -> r:^(\\ -> r:x')).to.equal('invalid');
  });

  it('compares paths of programs, and cannot say anything without any', () => {
    const processes = ['/usr/sbin/sshd', '/usr/bin/bash'];
    expect(finding('p:r:sbin/sshd$', { processes })).to.equal('found');
    expect(finding('p:/usr/bin/bash', { processes })).to.equal('found');
    expect(finding('not p:r:telnetd', { processes })).to.equal('found');
    expect([finding('p:r:sshd', { processes: [] }), finding('not p:r:sshd', { processes: [] })]).to.deep.equal([
      'invalid',
      'invalid',
    ]);
    expect(finding('p:r:/node')).to.equal('found');
  });

  it('looks for lines in the output of a command', () => {
    expect(finding('c:any -> r:^b$', { output: ['a', 'b'] })).to.equal('found');
    expect(finding('not c:any -> r:^b$', { output: ['a'] })).to.equal('found');
    expect(finding('c:any -> r:^b$', { output: [] })).to.equal('not-found');
    expect([finding('c:any'), finding('not c:any')]).to.deep.equal(['found', 'not-found']);
  });

  it('gives the result of the lines that are there, however they are cut into chunks', () => {
    const line = fc.oneof(
      fc.constantFrom('a', 'ab', '', 'x'.repeat(300)),
      fc.string({ maxLength: 20 }).map((text) => text.replace(/[\r\n\0]/g, '')),
    );
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 400 }), fc.nat(399), (lines, at) => {
        const path = join(base, 'generated');
        writeFileSync(path, `${lines.join('\n')}\n`);
        const wanted = lines[at % lines.length] ?? '';
        const has = lines.some((each) => each.toLowerCase() === wanted.toLowerCase());
        fc.pre(!wanted.includes(' && ') && !/^(?:!|[rn]:)/i.test(wanted) && wanted !== '');
        expect(finding(`f:/generated -> ${wanted}`)).to.equal(has ? 'found' : 'not-found');
        expect(finding('f:/generated -> nowhere to be found')).to.equal('not-found');
      }),
      { numRuns: 50 },
    );
  });
});
