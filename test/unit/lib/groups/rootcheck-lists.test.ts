import { expect } from 'chai';
import fc from 'fast-check';
import { parsePolicyList } from '../../../../lib/groups/policy-list.js';
import { parseRootkitFiles, parseTrojanSignatures } from '../../../../lib/groups/rootcheck-lists.js';

const word = fc.stringMatching(/^[a-z0-9/._*-]{1,12}$/).filter((text) => !text.startsWith('-'));
const words = fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(' '));
const blanks = fc.stringMatching(/^[ \t]{0,3}$/);
/** Texts made of what the formats are made of. */
const hostile = fc
  .array(
    fc.constantFrom('[', ']', '{', '}', '!', '::', ':', '$', '=', ';', '#', '\n', ' ', 'CIS', 'f:', 'x', '\0', 'ü'),
    {
      maxLength: 60,
    },
  )
  .map((parts) => parts.join(''));

describe('lists of rootcheck', () => {
  it('have a line for each file of a rootkit', () => {
    const text =
      '# comment\n\ntmp/mcliZokhb           ! Bash door ::/rootkits/bashdoor.php\r\n*/bd ! No link\nnothing here\n! x ::y\nz !\n';
    expect(parseRootkitFiles(text)).to.deep.equal([
      { filename: 'tmp/mcliZokhb', name: 'Bash door', link: '/rootkits/bashdoor.php' },
      { filename: '*/bd', name: 'No link', link: '' },
    ]);
  });

  it('have a line for each trojan, whose regex may hold the mark', () => {
    const text = 'ls   !bash|^/bin/sh|dev/[^clu]!\n  /bin/login !a!b! Evil: yes \n#ls !x!\nnone !x\n !x!\ntop !!x\n';
    expect(parseTrojanSignatures(text)).to.deep.equal([
      { filename: 'ls', name: 'bash|^/bin/sh|dev/[^clu]', description: '' },
      { filename: '/bin/login', name: 'a!b', description: 'Evil: yes' },
    ]);
  });

  it('give back what was written', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ filename: words, name: words, link: words }), { maxLength: 5 }),
        blanks,
        (files, gap) => {
          const text = files.map(
            ({ filename, name, link }) => `${gap}${filename}${gap}!${gap}${name}${gap}::${gap}${link}`,
          );
          expect(parseRootkitFiles(text.join('\n'))).to.deep.equal(files);
        },
      ),
    );
    const signature = fc.record({ filename: words, name: words, description: fc.oneof(words, fc.constant('')) });
    fc.assert(
      fc.property(fc.array(signature, { maxLength: 5 }), blanks, (signatures, gap) => {
        const text = signatures.map(
          ({ filename, name, description }) => `${filename}${gap}!${name}!${gap}${description}`,
        );
        expect(parseTrojanSignatures(text.join('\r\n'))).to.deep.equal(signatures);
      }),
    );
  });

  it('are never more than their lines', () => {
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string()), (text) => {
        const count = text.split('\n').length;
        for (const items of [parseRootkitFiles(text), parseTrojanSignatures(text), parsePolicyList(text).controls]) {
          expect(items.length).to.be.at.most(count);
        }
        for (const { filename, name } of [...parseRootkitFiles(text), ...parseTrojanSignatures(text)]) {
          expect(filename).not.to.equal('');
          expect(name).not.to.equal('');
        }
      }),
    );
  });
});

describe('policy files of rootcheck', () => {
  it('have variables and entries with their checks', () => {
    const text = [
      '# comment',
      'f:before the first entry;',
      '$main-conf=not a name;',
      '$sshd_file=/etc/ssh/sshd_config;',
      '$__proto__=1;',
      '',
      '[CIS - RHEL7 - 1.1.2 - Separate {old} partition] [any] [http://example.com/a]',
      '[SSH [v1] allowed {CIS: 1.2 RHEL7} {PCI_DSS: 4.1} {NIST: 1}] [any required] []',
      'f:$sshd_file -> !r:^# && r:Protocol\\.+1;',
      '  d:/etc -> passwd;',
      'nothing of ours',
      '[broken [all]',
      '[]',
      '[a] [b]',
    ].join('\n');
    const { vars, controls } = parsePolicyList(text);
    expect(Object.entries(vars)).to.deep.equal([
      ['sshd_file', '/etc/ssh/sshd_config;'],
      ['__proto__', '1;'],
    ]);
    expect(controls).to.deep.equal([
      {
        name: 'CIS - RHEL7 - 1.1.2 - Separate',
        cis: [],
        pci: [],
        condition: 'any',
        reference: 'http://example.com/a',
        checks: [],
      },
      {
        name: 'SSH [v1] allowed',
        cis: ['1.2 RHEL7'],
        pci: ['4.1'],
        condition: 'any required',
        reference: '',
        checks: ['f:$sshd_file -> !r:^# && r:Protocol\\.+1;', 'd:/etc -> passwd;'],
      },
    ]);
    expect(({} as Record<string, unknown>)['1;']).to.equal(undefined);
  });

  it('give back what was written', () => {
    const control = fc.record({
      name: words,
      cis: fc.array(words, { maxLength: 2 }),
      pci: fc.array(words, { maxLength: 2 }),
      condition: fc.constantFrom('any', 'all', 'none', 'any required'),
      reference: fc.oneof(words, fc.constant('')),
      checks: fc.array(
        words.map((text) => `f:${text};`),
        { maxLength: 3 },
      ),
    });
    fc.assert(
      fc.property(fc.array(control, { maxLength: 4 }), blanks, (controls, gap) => {
        const text = controls.flatMap(({ name, cis, pci, condition, reference, checks }) => {
          const tags = [...cis.map((tag) => `{CIS: ${tag}}`), ...pci.map((tag) => `{PCI_DSS: ${tag}}`)].join(' ');
          return [
            `[${name} ${tags}]${gap}[${condition}]${gap}[${reference}]${gap}`,
            ...checks.map((check) => gap + check),
          ];
        });
        expect(parsePolicyList(text.join('\n'))).to.deep.equal({ vars: Object.create(null) as object, controls });
      }),
    );
  });

  it('take linear time on long lines', () => {
    for (const piece of ['[', ']', '{', '{CIS:', '[a] ', '$', 'f:', ' ']) {
      const text = piece.repeat(300_000);
      expect(parsePolicyList(`[${text}] [any] []`).controls.length, piece).to.be.at.most(1);
      expect(parsePolicyList(text).controls.length, piece).to.be.at.most(1);
    }
  });
});
