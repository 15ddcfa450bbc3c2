import { symlinkSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { AUDIT_LIMITS, readAuditFile } from '../../../../lib/rootcheck/audit-file.js';
import { checkAudit } from '../../../../lib/rootcheck/check-audit.js';
import { SYSTEM_TREE } from '../../../../lib/rootcheck/tree-calls.js';
import { RootcheckTree } from '../../../support/syscheckd/rootcheck-kit.js';

describe('system_audit', () => {
  let tree: RootcheckTree;
  beforeEach(() => {
    tree = new RootcheckTree();
    tree.write('etc/ssh/sshd_config', '# PermitRootLogin yes\nPermitRootLogin no\nPort 2222\r\n');
    tree.write('etc/empty', '');
  });
  afterEach(() => {
    tree.remove();
  });

  const audit = async (...lists: readonly string[]): Promise<string[]> => {
    const systemAudit = lists.map((list, index) => tree.write(`audit${String(index)}.txt`, list));
    await checkAudit(tree.context({ systemAudit }), SYSTEM_TREE, () => ['/usr/sbin/sshd', '/usr/bin/node']);
    return tree.findings.splice(0);
  };
  /** Whether an entry of these rules finds something. */
  const finds = async (condition: string, ...rules: readonly string[]): Promise<boolean> => {
    const found = await audit(`[Name] [${condition}] []\n${rules.join('\n')}\n`);
    expect(tree.notes).to.be.empty;
    return found.length > 0;
  };

  it('tells of an entry with its file and its reference', async () => {
    const list =
      '# comment\n$sshd=/etc/ssh/sshd_config;\n\n' +
      '[SSH - Root login {CIS: 1.1 Linux} {PCI_DSS: 4.1}] [any] [https://example.test/ssh]\n' +
      'f:$sshd -> !r:^# && r:PermitRootLogin\\s*no;\n' +
      '[No file] [any] []\nf:!/etc/none;\n' +
      '[Two [files]] [any] []\nf:/etc/empty,/etc/ssh/sshd_config;\n';
    expect(await audit(list)).to.deep.equal([
      'System Audit: SSH - Root login {CIS: 1.1 Linux} {PCI_DSS: 4.1}. File: %/etc/ssh/sshd_config. ' +
        'Reference: https://example.test/ssh .',
      'System Audit: No file.',
      'System Audit: Two [files]. File: %/etc/empty.',
      'System Audit: Two [files]. File: %/etc/ssh/sshd_config.',
    ]);
  });

  it('puts rules together by the condition', async () => {
    const [yes, no] = ['f:/etc/empty;', 'f:/etc/none;'];
    expect([await finds('any', yes, no), await finds('any', no, no)]).to.deep.equal([true, false]);
    expect([await finds('all', yes, yes), await finds('all', yes, no)]).to.deep.equal([true, false]);
    expect([await finds('none', no, no), await finds('none', yes, no)]).to.deep.equal([true, false]);
  });

  it('stops at a required entry that does not match', async () => {
    const entry = (name: string, condition: string, file: string) => `[${name}] [${condition}] []\nf:${file};\n`;
    const list = entry('A', 'any required', '/etc/empty') + entry('B', 'all required', '/etc/none');
    const last = entry('C', 'any', '/etc/empty');
    expect(await audit(list + last, last)).to.deep.equal([
      'System Audit: A. File: %/etc/empty.',
      'System Audit: C. File: %/etc/empty.',
    ]);
  });

  it('compares lines with patterns', async () => {
    const file = async (pattern: string, name = 'ssh/sshd_config') => finds('any', `f:/etc/${name} -> ${pattern};`);
    expect(await file('port 2222'), 'the whole line, in any case').to.equal(true);
    expect(await file('=:PORT 2222')).to.equal(true);
    expect(await file('port')).to.equal(false);
    expect(await file('r:^Port')).to.equal(true);
    expect(await file('r:^PermitRootLogin && r:yes'), 'all on one line').to.equal(false);
    expect(await file('!r:^# && r:yes')).to.equal(false);
    expect(await file('r:^# && r:yes')).to.equal(true);
    expect(await file('!r:Protocol'), 'no line at all').to.equal(true);
    expect(await file('!r:^Port'), 'no line at all').to.equal(false);
    expect(await file('!r:^Port', 'empty')).to.equal(true);
    expect(await file('!r:^Port', 'none'), 'of a file that is not there').to.equal(false);
    expect([await file('<:$'), await file('>:Q')]).to.deep.equal([true, false]);
    expect(await finds('any', 'f:!/etc/ssh/sshd_config -> r:Protocol;')).to.equal(true);
  });

  it('looks into directories and at processes', async () => {
    tree.write('home/a/.rhosts', '+ +\n');
    tree.write('home/b/deep/.rhosts', 'host\n');
    symlinkSync('/', tree.path('home/root'));
    expect(await finds('any', 'd:/home;')).to.equal(true);
    expect(await finds('any', 'd:/nowhere;')).to.equal(false);
    expect(await finds('any', 'd:!/nowhere;')).to.equal(true);
    expect(await audit('[R] [any] []\nd:/home -> ^.rhosts$;\n')).to.have.members([
      'System Audit: R. File: %/home/a/.rhosts.',
      'System Audit: R. File: %/home/b/deep/.rhosts.',
    ]);
    expect(await audit('[R] [any] []\nd:/nowhere,/home -> r:rhosts$ -> r:^host;\n')).to.deep.equal([
      'System Audit: R. File: %/home/b/deep/.rhosts.',
    ]);
    expect(await finds('any', 'p:r:sshd;')).to.equal(true);
    expect(await finds('any', 'p:/USR/sbin/sshd;')).to.equal(true);
    expect(await finds('any', 'p:sshd;')).to.equal(false);
    expect(await finds('any', 'p:!r:auditd;')).to.equal(true);
  });

  it('reads no fifo, no directory and no file that is too large', async () => {
    tree.write('etc/large', Buffer.alloc(17 * 1024 * 1024, 'Port 2222\n'));
    expect(await finds('any', 'f:/etc -> r:Port;', 'f:/etc/large -> r:Port;').catch(() => false)).to.equal(false);
  });

  it('leaves out an entry that is not right whole, and says which', async () => {
    const good = '[Good] [any] []\nf:/etc/empty;\n';
    const bad = [
      'f:/etc/empty;',
      '[No condition] [some] []\nf:/etc/empty;',
      '[No reference] [any]\nf:/etc/empty;',
      '[Registry] [any] []\nf:/etc/empty;\nr:HKLM;',
      '[Regex] [any] []\nf:/etc/empty -> r:(;',
      '[Variable] [any] []\nf:$none;',
      '[Relative] [any] []\nf:etc/empty;',
      '[Empty] [any] []\nf:!;',
      '$broken\n',
      '[No rules] [any] []',
    ];
    for (const text of bad) {
      expect(await audit(`${text}\n${good}`), text).to.deep.equal(['System Audit: Good. File: %/etc/empty.']);
    }
    expect(tree.notes).to.deep.equal(
      [
        'line 1: there is no entry in front of it',
        "line 1: 'some' is no condition; the entry 'No condition' is left out",
        'line 1: it is no entry of the form [name] [condition] [reference]',
        "line 3: 'r:' is no kind of rule here; the entry 'Registry' is left out",
        tree.notes[4]?.replace(/^.*?(line 2: )/, '$1') ?? '',
        "line 2: there is no variable '$none'; the entry 'Variable' is left out",
        "line 2: 'etc/empty' is no absolute path; the entry 'Relative' is left out",
        "line 2: the rule is empty; the entry 'Empty' is left out",
        'line 1: it is no variable of the form $name=value;',
      ].map((note) => `warn: '%/audit0.txt' ${note}`),
    );
  });

  it('takes any text, and no more of it than there is room for', () => {
    const part = fc.constantFrom(
      '[',
      ']',
      'any',
      '$a',
      '=',
      ';',
      'f:',
      'd:',
      'p:',
      '/x',
      ' -> ',
      'r:',
      '!',
      '\n',
      ' && ',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string()), { maxLength: 60 }), (parts) => {
        const problems: number[] = [];
        const entries = readAuditFile(parts.join(''), (line) => problems.push(line));
        for (const { rules } of entries) expect(rules).not.to.be.empty;
        expect(problems.every((line, index) => line >= (problems[index - 1] ?? 1))).to.equal(true);
      }),
    );
    const many = '[N] [any] []\nf:/x;\n'.repeat(AUDIT_LIMITS.entries + 3);
    const problems: string[] = [];
    expect(readAuditFile(many, (_line, problem) => problems.push(problem))).to.have.length(AUDIT_LIMITS.entries);
    expect(problems).to.have.length(3);
  });
});
