import { expect } from 'chai';
import fc from 'fast-check';
import { dump } from 'js-yaml';
import { readFilesYml } from '../../../../../daemons/remoted/downloads/files-yml.js';

const FILE = 'etc/shared/files.yml';
const PARSED = `info: Successfully parsed of yaml file: ${FILE}`;
const FAILED = `error: Failed yaml parsing of file: ${FILE}`;

const read = (text: string | Buffer) => readFilesYml(Buffer.from(text));
const lines = (text: string | Buffer): string[] => read(text).lines.map(({ level, text }) => `${level}: ${text}`);
const inGroup = (...rest: string[]): string => ['groups:', '  web:', ...rest, ''].join('\n');

describe('readFilesYml', () => {
  it('reads groups, their files and how often they are fetched', () => {
    const text = `# files of groups
groups:
  web:
    files:
      agent.conf: https://conf.example.com/web/agent.conf
      rootkit_files.txt: https://conf.example.com/rk.txt
    poll: 300
  mirror:
    files:
      agent.conf: https://conf.example.com/agent.conf
      merged.mg: https://conf.example.com/mirror/merged.mg
`;
    expect(read(text)).to.deep.equal({
      ok: true,
      groups: [
        {
          name: 'web',
          files: [
            { name: 'agent.conf', address: 'https://conf.example.com/web/agent.conf' },
            { name: 'rootkit_files.txt', address: 'https://conf.example.com/rk.txt' },
          ],
          merged: false,
          poll: 300,
        },
        {
          name: 'mirror',
          files: [{ name: 'merged.mg', address: 'https://conf.example.com/mirror/merged.mg' }],
          merged: true,
          poll: 1800,
        },
      ],
      lines: [{ level: 'info', text: `Successfully parsed of yaml file: ${FILE}` }],
    });
  });

  it('takes names as they are written, in every form of YAML', () => {
    const { groups } = read('{"groups": {010: {files: {yes: "http://h/a", "null": http://h/b}, poll: 0}, true: {}}}');
    expect(groups).to.deep.equal([
      {
        name: '010',
        files: [
          { name: 'yes', address: 'http://h/a' },
          { name: 'null', address: 'http://h/b' },
        ],
        merged: false,
        poll: 0,
      },
      { name: 'true', files: [], merged: false, poll: 1800 },
    ]);
  });

  it('knows no names that mean something to the language', () => {
    const { groups } = read(inGroup('    files:', '      constructor: http://h/').replace('web', '__proto__'));
    expect(groups.map(({ name, files }) => [name, files[0]?.name])).to.deep.equal([['__proto__', 'constructor']]);
    expect(({} as Record<string, unknown>)['files']).to.equal(undefined);
  });

  describe('says of a file that is not usable', () => {
    const faults: readonly (readonly [string, string | Buffer, string])[] = [
      ['a list', '- web\n', 'Parsing error on line 0: unexpected token'],
      ['a text', 'groups\n', 'Parsing error on line 0: unexpected token'],
      ['a list of groups', 'groups:\n  - web\n', 'Parsing error on line 1: unexpected token'],
      ['a text for groups', 'groups: web\n', 'Parsing error on line 0: unexpected token'],
      ['no groups', 'groups:\n', "Expected value after 'groups' token"],
      ['an empty group', 'groups:\n  web:\n', "Expected value after 'web' token"],
      ['a list for a group', 'groups:\n  web: [a]\n', 'Parsing error on line 1: unexpected token'],
      ['a text for files', inGroup('    files: agent.conf'), 'Parsing error on line 2: unexpected token'],
      ['no files', inGroup('    files:'), "Expected value after 'files' token"],
      ['no address', inGroup('    files:', '      a.txt:'), "Expected value after 'a.txt' token"],
      ['a map for an address', inGroup('    files:', '      a: {b: c}'), 'Parsing error on line 3: unexpected token'],
      ['no poll', inGroup('    poll:'), "Expected value after 'poll' token"],
      ['a poll that is a word', inGroup('    poll: often'), 'Wrong poll value: often.'],
      ['a poll below 0', inGroup('    poll: -1'), 'Wrong poll value: -1.'],
      ['a poll with a fraction', inGroup('    poll: 1.5'), 'Wrong poll value: 1.5.'],
      ['a poll that is too large', inGroup('    poll: 2147483648'), 'Wrong poll value: 2147483648.'],
      ['a list for the poll', inGroup('    poll: [1]'), 'Parsing error on line 2: unexpected token'],
      ['a map for an unknown key', inGroup('    other: {a: b}'), 'Parsing error on line 2: unexpected token'],
      ['a key without a value', 'groups: {web, mail: {}}\n', 'Parsing error on line 0: unexpected token'],
      ['only keys without values', 'groups: {web, mail}\n', 'Parsing error on line 0: unexpected token'],
      ['an alias', 'groups: &g\n  web: *g\n', 'Parsing error on line 1: unexpected token'],
      ['a tag', inGroup('    poll: !!str 1'), 'Parsing error on line 2: unexpected token'],
      [
        'an open bracket',
        'groups: [\n',
        'Parser error on line 1: [(3)-(unexpected end of the stream within a flow collection)]',
      ],
      [
        'a tab',
        'groups:\n\tweb: 1\n',
        'Parser error on line 1: [(3)-(tab characters must not be used in indentation)]',
      ],
      ['two documents', 'groups: {}\n---\ngroups: {}\n', 'Parser error on line 0: [(4)-(expecting document end)]'],
      ['a zero byte', 'groups: \0\n', 'Parser error on line 0: [(2)-(null byte is not allowed in input)]'],
      ['other bytes than UTF-8', Buffer.from([97, 10, 10, 0xff, 10]), 'Parser error on line 2: [(2)-(invalid UTF-8)]'],
    ];
    for (const [what, text, message] of faults) {
      it(what, () => {
        expect(read(text)).to.deep.include({ ok: false, groups: [] });
        expect(lines(text)).to.deep.equal([`error: ${message}`, FAILED]);
      });
    }

    it('too large a file, too many groups, too many files', () => {
      expect(lines('#'.repeat(1_048_577))[0]).to.equal(
        `error: Parsing file '${FILE}': it is larger than 1048576 bytes`,
      );
      const groups = Array.from({ length: 2001 }, (_, index) => `  g${String(index)}: {}`).join('\n');
      expect(lines(`groups:\n${groups}\n`)[0]).to.contain('more than 2000 groups on line 2001');
      const files = Array.from({ length: 501 }, (_, index) => `      f${String(index)}: http://h/`);
      expect(lines(inGroup('    files:', ...files))[0]).to.contain('more than 500 files');
      expect(read(`groups: ${'['.repeat(1000)}`)).to.deep.include({ ok: false, groups: [] });
    });
  });

  it('warns of an empty file', () => {
    for (const text of ['', '\n', '# nothing\n', '---\n']) {
      expect(read(text)).to.deep.include({ ok: true, groups: [] });
      expect(lines(text)).to.deep.equal([`warn: Parsing '${FILE}': file empty`]);
    }
  });

  it('goes on after a section it does not know', () => {
    const text = `agents:\n  001: web\n${inGroup('    poll: 5', '    other: x', '    empty:')}`;
    expect(read(text).groups).to.deep.equal([{ name: 'web', files: [], merged: false, poll: 5 }]);
    expect(lines(text)).to.deep.equal([
      `error: Parsing file '${FILE}': unexpected identifier: 'agents' on line 0`,
      PARSED,
    ]);
  });

  it('keeps the first of repeated sections', () => {
    const repeated = (what: string): string =>
      `warn: Parsing '${FILE}': redefinition of '${what}'. Ignoring repeated sections`;
    expect(lines('groups: {a: {poll: 1}}\ngroups: {b: {}}\n')).to.deep.equal([repeated('group'), PARSED]);
    expect(read('groups: {a: {poll: 1}}\ngroups: {b: {}}\n').groups.map(({ name }) => name)).to.deep.equal(['a']);
    const twice = 'groups:\n  a:\n    poll: 1\n    poll: 2\n  a:\n    poll: 3\n';
    expect(lines(twice)).to.deep.equal([repeated('poll'), repeated('group'), PARSED]);
    expect(read(twice).groups).to.deep.equal([{ name: 'a', files: [], merged: false, poll: 1 }]);
    const files = inGroup('    files:', '      a: http://h/1', '      a: http://h/2', '    files: {b: http://h/3}');
    expect(lines(files)).to.deep.equal([repeated('a'), repeated('files'), PARSED]);
    expect(read(files).groups[0]!.files).to.deep.equal([{ name: 'a', address: 'http://h/1' }]);
  });

  it('leaves out names and addresses it cannot use, and says which', () => {
    const text = `groups:
  ../etc: {poll: 1}
  all: {poll: 1}
  web:
    files:
      ../../home.json: http://h/
      .hidden: http://h/
      agent.conf.tmp: http://h/
      merged.mg.tmp: http://h/
      "": http://h/
      "a\\nb": http://h/
      ${'n'.repeat(256)}: http://h/
      passwd: file:///etc/passwd
      key: ftp://me:secret@h/
      long: http://h/${'a'.repeat(4096)}
      fine.txt: http://h/fine
`;
    const { ok, groups } = read(text);
    expect(ok).to.equal(true);
    expect(groups.map(({ name, files }) => [name, files.map((file) => file.name)])).to.deep.equal([
      ['web', ['fine.txt']],
    ]);
    const said = lines(text);
    expect(said).to.have.length(13);
    expect(said[0]).to.equal(
      `error: Parsing file '${FILE}': '../etc' on line 1 is no valid name of a group. Ignoring it`,
    );
    expect(said[2]).to.equal(
      `error: Parsing file '${FILE}': file '../../home.json' of group 'web' on line 5: a name holds no slashes and no control characters. Ignoring it`,
    );
    expect(said.join('\n')).not.to.contain('secret');
  });

  it('fetches nothing for a group whose merged.mg has no usable address', () => {
    const text = inGroup('    files:', '      merged.mg: ftp://h/', '      agent.conf: http://h/');
    expect(read(text).groups).to.deep.equal([{ name: 'web', files: [], merged: true, poll: 1800 }]);
  });

  it('says so much of a file full of faults, and counts the rest', () => {
    const text = inGroup(
      '    files:',
      ...Array.from({ length: 80 }, (_, index) => `      .f${String(index)}: http://h/`),
    );
    const said = lines(text);
    expect(said).to.have.length(51);
    expect(said.at(-1)).to.equal(`error: 31 more problems of '${FILE}'.`);
  });

  describe('whatever it is given', () => {
    const name = fc.stringMatching(/^[a-z0-9_-]{1,8}$/).filter((text) => text !== 'all');
    const group = fc.record(
      { files: fc.dictionary(name, fc.webUrl(), { maxKeys: 4 }), poll: fc.nat(100_000) },
      { requiredKeys: [] },
    );

    it('reads back what was written', () => {
      fc.assert(
        fc.property(fc.dictionary(name, group, { maxKeys: 5 }), fc.boolean(), (groups, flow) => {
          const text = flow ? JSON.stringify({ groups }) : dump({ groups });
          const result = read(text);
          expect(result.ok).to.equal(true);
          const expected = Object.entries(groups).map(([name, { files = {}, poll = 1800 }]) => ({
            name,
            files: Object.entries(files).map(([name, address]) => ({ name, address })),
            merged: false,
            poll,
          }));
          expect(result.groups).to.have.deep.members(expected);
        }),
      );
    });

    it('ends, and names only what is safe to write', () => {
      const word = fc.constantFrom(
        'groups',
        'files',
        'poll',
        'merged.mg',
        'a',
        '../b',
        '{',
        '}',
        '[',
        ']',
        ':',
        ': ',
        ',',
        '\n',
        '  ',
        '\n  ',
        '\n    ',
        '? ',
        '- ',
        '&a',
        '*a',
        '!!map',
        '"',
        "'",
        '|',
        '#',
        '---\n',
        '\t',
        '1',
        'http://h/',
      );
      const text = fc.oneof(
        fc.array(word, { maxLength: 40 }).map((words) => words.join('')),
        fc.string(),
      );
      fc.assert(
        fc.property(text, (text) => {
          const { ok, groups, lines } = read(text);
          expect(lines.length).to.be.greaterThan(0);
          if (!ok) expect(groups).to.deep.equal([]);
          for (const { name, files, poll } of groups) {
            expect(name)
              .to.match(/^[A-Za-z0-9_.-]+$/)
              .and.not.match(/^(\.|\.\.|all)$/);
            expect(poll).to.satisfy(Number.isSafeInteger);
            for (const file of files) {
              expect(file.name).not.to.match(/[/\\\0\n]|^\.|\.tmp$/);
              expect(file.address).to.match(/^https?:/i);
            }
          }
        }),
        { numRuns: 500 },
      );
    });
  });
});
