import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { expect } from 'chai';
import { loadPolicies, type NamedPolicy, policyPlaces } from '../../../../lib/sca/load-policies.js';
import { refusalReason } from '../../../../lib/sca/policy-file.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const policy = (id: string, check: number) => `policy: {id: ${id}, file: ${id}.yml, name: n, description: d}
checks: [{id: ${check}, title: t, condition: all, rules: ["c:id -> r:root"]}]
`;

describe('the policies of a host', () => {
  let home: TemporaryHome;

  beforeEach(() => {
    home = new TemporaryHome();
    mkdirSync(home.path('ruleset', 'sca'), { recursive: true });
    mkdirSync(home.path('etc', 'shared'), { recursive: true });
    chmodSync(home.root, 0o755);
    write('ruleset/sca/b.yml', policy('b', 2));
    write('ruleset/sca/a.yaml', policy('a', 1));
    write('ruleset/sca/readme.txt', 'no policy');
  });
  afterEach(() => {
    home.remove();
  });

  function write(path: string, text: string): void {
    writeFileSync(home.path(path), text);
  }
  function load(named: readonly NamedPolicy[] = [], remoteCommands = false) {
    const options = { home, remoteCommands };
    const { places, warnings } = policyPlaces(options, named);
    const loaded = loadPolicies(places, options);
    return {
      ids: loaded.policies.map(({ policy: { id } }) => id),
      policies: loaded.policies,
      warnings: [...warnings, ...loaded.warnings],
    };
  }
  const refusalOf = ({ policies }: ReturnType<typeof load>, id: string) =>
    policies.flatMap(({ policy, refusal }) =>
      policy.id === id && refusal !== undefined ? [refusalReason(refusal, 'id')] : [],
    )[0];

  it('are those of ruleset/sca and those that are named, each once', () => {
    write('etc/shared/c.yml', policy('c', 3));
    write('d.yml', policy('d', 4));
    const named = ['etc/shared/c.yml', home.path('d.yml'), 'b.yml', 'ruleset/sca/../sca/a.yaml'];
    const { ids, policies, warnings } = load(named.map((path) => ({ path, enabled: true })));
    expect([ids, warnings]).to.deep.equal([['a', 'b', 'c', 'd'], []]);
    expect(policies.map(({ path }) => path).slice(0, 3)).to.deep.equal([
      ...['ruleset/sca/a.yaml', 'ruleset/sca/b.yml', 'etc/shared/c.yml'],
    ]);
    expect(policies[0]?.hash).to.equal(createHash('sha256').update(policy('a', 1)).digest('hex'));
  });

  it('can be switched off by their path, and on again by the last word', () => {
    const off = (path: string) => ({ path, enabled: false });
    expect(load([off('ruleset/sca/b.yml')]).ids).to.deep.equal(['a']);
    expect(load([off(home.path('ruleset/sca/b.yml')), off('a.yaml')]).ids).to.deep.equal([]);
    expect(load([off('b.yml'), { path: 'b.yml', enabled: true }]).ids).to.deep.equal(['a', 'b']);
    expect(load([off('none.yml')]).warnings).to.deep.equal([]);
  });

  it('may be named by anything, and lie in what is no directory', () => {
    const odd = ['x'.repeat(5000), 'a\0b', '/', '..', '', 'b.yml/'];
    const { ids, warnings } = load(odd.map((path) => ({ path, enabled: true })));
    expect(ids).to.deep.equal(['a', 'b']);
    expect(warnings.filter((text) => text.includes('not found'))).to.have.length(3);
    rmSync(home.path('ruleset'), { recursive: true });
    write('ruleset', '');
    expect(load().warnings[0]).to.match(/^The policies of 'ruleset\/sca' cannot be read: ENOTDIR/);
  });

  it('are left out where they are not there or not right, and the others stay', () => {
    write('ruleset/sca/c.yml', 'policy: {id: c');
    const { ids, warnings } = load([{ path: 'etc/shared/none.yml', enabled: true }]);
    expect(ids).to.deep.equal(['a', 'b']);
    expect(warnings[0]).to.equal("Policy file 'etc/shared/none.yml' not found. Check your configuration.");
    expect(warnings[1]).to.match(/^ruleset\/sca\/c\.yml line \d+: /);
    expect(warnings[2]).to.equal("Error found while validating policy file: 'ruleset/sca/c.yml'. Skipping it.");
  });

  it('are used though a regex of theirs is wrong, which is told', () => {
    write('ruleset/sca/c.yml', policy('c', 3).replace('r:root', 'r:('));
    const { ids, warnings } = load();
    expect(ids).to.deep.equal(['a', 'b', 'c']);
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.match(/^ruleset\/sca\/c\.yml line 2: check 3: rule 1 can give no result: Invalid regex/);
  });

  it('do not share ids, neither of policies nor of checks: the first counts', () => {
    write('ruleset/sca/c.yml', policy('a', 3));
    write('ruleset/sca/d.yml', policy('d', 2));
    const { ids, warnings } = load();
    expect(ids).to.deep.equal(['a', 'b']);
    expect(warnings[0]).to.equal("ruleset/sca/c.yml: its 'id' 'a' is that of ruleset/sca/a.yaml");
    expect(warnings[2]).to.equal("ruleset/sca/d.yml: check 2: its 'id' is that of a check of ruleset/sca/b.yml");
  });

  it('are left out when they are huge, pipes or no files at all', () => {
    truncateSync(home.path('ruleset/sca/b.yml'), 5 * 1024 * 1024);
    mkdirSync(home.path('ruleset/sca/dir.yml'));
    symlinkSync('loop.yml', home.path('ruleset/sca/loop.yml'));
    const { ids, warnings } = load();
    expect(ids).to.deep.equal(['a']);
    expect(warnings.join('\n')).to.match(
      /loop\.yml' not found[^]*b\.yml: it has more than 4194304 bytes[^]*dir\.yml: it cannot be read/,
    );
  });

  it('run no command of a manager without the consent of this host', () => {
    write('etc/shared/c.yml', policy('c', 3));
    symlinkSync(home.path('etc/shared/c.yml'), home.path('linked.yml'));
    for (const path of ['etc/shared/c.yml', 'linked.yml']) {
      const named = [{ path, enabled: true }];
      expect(refusalOf(load(named), 'c')).to.equal(
        "Ignoring check for running command 'id'. The internal option 'sca.remote_commands' is disabled",
      );
      expect(refusalOf(load(named, true), 'c')).to.equal(undefined);
      expect(refusalOf(load(named), 'a')).to.equal(undefined);
    }
  });

  it('run no command as root that somebody else could have written', function () {
    if (process.geteuid?.() !== 0) this.skip();
    const outside = (mending: () => void) => {
      mending();
      return refusalOf(load(), 'a');
    };
    expect(outside(() => chmodSync(home.path('ruleset/sca/a.yaml'), 0o666))).to.match(
      /a\.yaml' can be written by every user/,
    );
    expect(outside(() => chmodSync(home.path('ruleset/sca/a.yaml'), 0o644))).to.equal(undefined);
    const mine = outside(() => chownSync(home.path('ruleset/sca/a.yaml'), 4711, 0));
    expect(mine).to.equal(
      `Ignoring check for running command 'id'. Others than root could have written it: '${realpathSync(home.path('ruleset/sca/a.yaml'))}' belongs to user 4711`,
    );
    chownSync(home.path('ruleset/sca/a.yaml'), 0, 0);
    expect(outside(() => chownSync(home.path('ruleset/sca'), 12_345, 0))).to.match(
      /ruleset\/sca' belongs to user 12345/,
    );
    expect(outside(() => chownSync(home.path('ruleset/sca'), 0, 0))).to.equal(undefined);
    expect(
      outside(() => {
        chownSync(home.path('ruleset'), 0, 12_345);
        chmodSync(home.path('ruleset'), 0o770);
      }),
    ).to.match(/ruleset' can be written by group 12345/);
  });
});
