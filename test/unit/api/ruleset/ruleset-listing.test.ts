import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { RulesetListing, type RulesetPaths } from '../../../../api/ruleset/ruleset-listing.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const paths: RulesetPaths = {
  rule_dir: [
    { path: 'ruleset/rules', pattern: '.xml$' },
    { path: 'etc/rules', pattern: '.xml$' },
  ],
  rule_include: ['extra.xml'],
  rule_exclude: ['ruleset/rules/0215-policy_rules.xml'],
  decoder_dir: [{ path: 'etc/decoders', pattern: '.xml$' }],
  decoder_include: [],
  decoder_exclude: [],
};
const rule = (id: number) =>
  `<group name="g,"><rule id="${String(id)}" level="3"><description>d</description></rule></group>`;

describe('RulesetListing', () => {
  let home: TemporaryHome;
  let directory: RulesetListing;
  let now: number;
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(home.path(path)), { recursive: true });
    writeFileSync(home.path(path), content);
  };
  /** A second later. */
  const ids = (): number[] => {
    now += 1000;
    return directory.rules(paths).items.map(({ id }) => id);
  };

  beforeEach(() => {
    home = new TemporaryHome();
    now = 0;
    directory = new RulesetListing(home, () => now);
    write('ruleset/rules/extra.xml', rule(1));
    write('ruleset/rules/0215-policy_rules.xml', rule(2));
    write('ruleset/rules/readme.txt', 'x');
    write('etc/rules/local_rules.xml', rule(100001));
  });
  afterEach(() => {
    home.remove();
  });

  it('lists included files first, each once, and excluded ones as disabled', () => {
    expect(directory.ruleFiles(paths)).to.deep.equal([
      { filename: 'extra.xml', relative_dirname: 'ruleset/rules', status: 'enabled' },
      { filename: '0215-policy_rules.xml', relative_dirname: 'ruleset/rules', status: 'disabled' },
      { filename: 'local_rules.xml', relative_dirname: 'etc/rules', status: 'enabled' },
    ]);
    expect(directory.decoderFiles(paths)).to.deep.equal([]);
    expect(ids()).to.deep.equal([1, 2, 100001]);
    expect(directory.rules(paths).items.map(({ status }) => status)).to.deep.equal(['enabled', 'disabled', 'enabled']);
  });

  it('shows a directory given with an absolute path inside the home as relative', () => {
    const absolute = { ...paths, rule_include: [], rule_dir: [{ path: home.path('etc/rules'), pattern: '' }] };
    expect(directory.ruleFiles(absolute)[0]?.relative_dirname).to.equal('etc/rules');
    expect(directory.rules(absolute).items).to.have.length(1);
  });

  it('sees changed, new, replaced and removed files', () => {
    ids();
    const same = directory.rules(paths).items[2];
    expect(directory.rules(paths).items[2]).to.equal(same);
    write('etc/rules/local_rules.xml', rule(100002));
    utimesSync(home.path('etc/rules/local_rules.xml'), 1, 1);
    write('etc/rules/more.xml', rule(100003));
    expect(ids()).to.deep.equal([1, 2, 100002, 100003]);
    renameSync(home.path('etc/rules/more.xml'), home.path('etc/rules/local_rules.xml'));
    rmSync(home.path('ruleset/rules/extra.xml'));
    expect(ids()).to.deep.equal([2, 100003]);
  });

  it('is the same object until a file changes, and sees at once what it is told of', () => {
    const listing = directory.rules(paths);
    now += 1000;
    expect(directory.rules(paths)).to.equal(listing);
    write('etc/rules/more.xml', rule(100003));
    expect(directory.rules(paths), 'a moment later').to.equal(listing);
    directory.changed();
    expect(directory.rules(paths)).not.to.equal(listing);
    expect(directory.ruleFiles(paths)).to.have.length(4);
  });

  it('is the same object with a file that cannot be read, until another reason', () => {
    write('etc/rules/broken.xml', rule(100003));
    rmSync(home.path('etc/rules/broken.xml'));
    mkdirSync(home.path('etc/rules/broken.xml'));
    const listing = directory.rules(paths);
    expect(listing.problems).to.have.length(1);
    now += 1000;
    expect(directory.rules(paths)).to.equal(listing);
    rmSync(home.path('etc/rules/broken.xml'), { recursive: true });
    write('etc/rules/broken.xml', rule(100003));
    expect(ids()).to.include(100003);
  });

  it('sees a change of status without a change of the file', () => {
    ids();
    const { items } = directory.rules({ ...paths, rule_exclude: [] });
    expect(items.map(({ status }) => status)).to.deep.equal(['enabled', 'enabled', 'enabled']);
  });

  it('names files that cannot be read and lists the others', () => {
    write('etc/rules/broken.xml', '<group name="a">\n<rule');
    rmSync(home.path('ruleset/rules/extra.xml'));
    const { items, problems } = directory.rules(paths);
    expect(items.map(({ id }) => id)).to.deep.equal([2, 100001]);
    expect(problems.map(({ relative_dirname, filename, line }) => [relative_dirname, filename, line])).to.deep.equal([
      ['ruleset/rules', 'extra.xml', 0],
      ['etc/rules', 'broken.xml', 2],
    ]);
    expect(problems[0]?.message).to.match(/ENOENT/);
  });
});
