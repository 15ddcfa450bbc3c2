import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { GroupError } from '../../../../lib/groups/group-error.js';
import { GroupFolders, isGroupName } from '../../../../lib/groups/group-folders.js';
import { HASH_ALGORITHMS } from '../../../../lib/groups/shared-file.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const TEMPLATE = '<agent_config>\n  <!-- template -->\n</agent_config>\n';
const md5 = (text: string) => createHash('md5').update(text).digest('hex');

describe('GroupFolders', () => {
  let home: TemporaryHome;
  let folders: GroupFolders;
  const shared = (...parts: string[]): string => home.path('etc', 'shared', ...parts);
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(shared(path)), { recursive: true });
    writeFileSync(shared(path), content);
  };
  const codeOf = async (work: Promise<unknown>): Promise<string> => {
    try {
      await work;
      return 'nothing was thrown';
    } catch (error) {
      return error instanceof GroupError ? error.code : String(error);
    }
  };
  /** Everything that is in etc/shared and below another directory of the home. */
  const tree = (): string[] => readdirSync(home.root, { recursive: true }).map(String).sort();

  beforeEach(() => {
    home = new TemporaryHome();
    folders = new GroupFolders(home);
    write('default/agent.conf', TEMPLATE);
    write('agent-template.conf', TEMPLATE);
  });
  afterEach(() => {
    home.remove();
  });

  it('lists the folders, and neither files, links nor what has no name of a group', async () => {
    write('web/agent.conf', '');
    write('.hidden/agent.conf', '');
    write('Über/agent.conf', '');
    write('#new-abc/agent.conf', '');
    symlinkSync(shared('web'), shared('linked'));
    expect(await folders.list()).to.deep.equal(['default', 'web']);
    expect(await folders.exists('web')).to.equal(true);
    for (const name of ['linked', 'agent-template.conf', '.hidden', '..', 'all', 'web/..', '', 'a'.repeat(300)]) {
      expect(await folders.exists(name), name).to.equal(false);
    }
  });

  it('lists nothing where there is no etc/shared', async () => {
    const empty = new TemporaryHome();
    expect(await new GroupFolders(empty).list()).to.deep.equal([]);
    empty.remove();
  });

  it('makes a folder with the template', async () => {
    await folders.create('web');
    expect(readFileSync(shared('web', 'agent.conf'), 'utf8')).to.equal(TEMPLATE);
    expect(statSync(shared('web')).mode & 0o777).to.equal(0o770);
    expect(statSync(shared('web', 'agent.conf')).mode & 0o777).to.equal(0o660);
    expect(readdirSync(shared('web'))).to.deep.equal(['agent.conf']);
  });

  it('gives a new group the rootkit lists of the default group, as far as it has them', async () => {
    write('default/rootkit_files.txt', 'tmp/x ! Door ::\n');
    write('default/site.txt', 'ours alone');
    await folders.create('web');
    expect(readdirSync(shared('web')).sort()).to.deep.equal(['agent.conf', 'rootkit_files.txt']);
    expect(readFileSync(shared('web', 'rootkit_files.txt'), 'utf8')).to.equal('tmp/x ! Door ::\n');
    expect(statSync(shared('web', 'rootkit_files.txt')).mode & 0o777).to.equal(0o660);
    symlinkSync('/etc/passwd', shared('default', 'rootkit_trojans.txt'));
    await folders.create('db');
    expect(readdirSync(shared('db')).sort()).to.deep.equal(['agent.conf', 'rootkit_files.txt']);
  });

  it('makes an empty configuration when the template is gone, and refuses one that is a link', async () => {
    const bare = new TemporaryHome();
    mkdirSync(bare.path('etc', 'shared'));
    await new GroupFolders(bare).create('web');
    expect(readFileSync(bare.path('etc/shared/web/agent.conf'), 'utf8')).to.match(/^<agent_config>\s+<!--.*-->\s+</);
    writeFileSync(bare.path('secret'), 'secret');
    symlinkSync(bare.path('secret'), bare.path('etc/shared/agent-template.conf'));
    expect(await codeOf(new GroupFolders(bare).create('db'))).to.equal('unknown_file');
    expect(readdirSync(bare.path('etc/shared')).sort()).to.deep.equal(['agent-template.conf', 'web']);
    bare.remove();
  });

  it('refuses names that are taken or none', async () => {
    symlinkSync(home.path('logs'), shared('linked'));
    expect(await codeOf(folders.create('default'))).to.equal('group_exists');
    expect(await codeOf(folders.create('agent-template.conf'))).to.equal('taken_by_file');
    expect(await codeOf(folders.create('linked'))).to.equal('taken_by_file');
    expect(await codeOf(folders.create('.web'))).to.equal('reserved_name');
    for (const name of ['', '.', '..', 'all', '../x', 'a/b', 'a\0b', 'ü', 'a b', '#new-1', 'a'.repeat(256)]) {
      expect(await codeOf(folders.create(name)), name).to.equal('invalid_name');
    }
  });

  it('makes a group once when it is asked for many times at once', async () => {
    const codes = await Promise.all(Array.from({ length: 20 }, () => codeOf(folders.create('web'))));
    expect(codes.filter((code) => code === 'nothing was thrown')).to.have.length(1);
    expect(codes.filter((code) => code === 'group_exists')).to.have.length(19);
    expect(readdirSync(shared()).sort()).to.deep.equal(['agent-template.conf', 'default', 'web']);
  });

  it('removes a folder, and of a link in it the link only', async () => {
    write('web/deep/er/file', 'x');
    symlinkSync(shared('default'), shared('web', 'linked'));
    await folders.remove('web');
    expect(readdirSync(shared()).sort()).to.deep.equal(['agent-template.conf', 'default']);
    expect(existsSync(shared('default', 'agent.conf'))).to.equal(true);
  });

  it('removes neither default nor what is no group', async () => {
    write('web/agent.conf', 'x');
    symlinkSync(shared('web'), shared('linked'));
    expect(await codeOf(folders.remove('default'))).to.equal('default_group');
    for (const name of ['linked', 'agent-template.conf', 'nobody', '..', '.', 'web/../default', '']) {
      expect(await codeOf(folders.remove(name)), name).to.equal('unknown_group');
    }
    const codes = await Promise.all(Array.from({ length: 5 }, () => codeOf(folders.remove('web'))));
    expect(codes.filter((code) => code === 'nothing was thrown')).to.have.length(1);
    expect(codes.filter((code) => code === 'unknown_group')).to.have.length(4);
  });

  it('removes what a dead process left behind, once it is old', async () => {
    write('#old-1/agent.conf', 'x');
    write('#new-2/agent.conf', 'x');
    await folders.create('web');
    expect(readdirSync(shared()).sort()).to.include.members(['#new-2', '#old-1', 'web']);
    expect(await folders.list()).to.deep.equal(['default', 'web']);
    const later = new GroupFolders(home, () => Date.now() + 3_600_000);
    await later.create('db');
    expect(readdirSync(shared()).sort()).to.deep.equal(['agent-template.conf', 'db', 'default', 'web']);
  });

  it('sums all files, sub folders at their place and ar.conf last', async () => {
    write('web/agent.conf', 'a');
    write('web/policies/site.yml', 'b');
    write('web/zz..txt', 'c');
    write('web/merged.mg', 'd');
    write('web/Ä.txt', 'e');
    write('ar.conf', 'f');
    symlinkSync(shared('ar.conf'), shared('web', 'linked'));
    symlinkSync(shared('default'), shared('web', 'more'));
    execFileSync('mkfifo', [shared('web', 'pipe')]);
    expect(await folders.files('web', 'md5')).to.deep.equal([
      { filename: 'agent.conf', hash: md5('a') },
      { filename: 'merged.mg', hash: md5('d') },
      { filename: 'policies/site.yml', hash: md5('b') },
      { filename: 'zz..txt', hash: md5('c') },
      { filename: 'Ä.txt', hash: md5('e') },
      { filename: 'ar.conf', hash: md5('f') },
    ]);
    for (const algorithm of Object.keys(HASH_ALGORITHMS)) {
      const [first] = await folders.files('web', algorithm);
      expect(first?.hash, algorithm).to.match(/^([0-9a-f]{32}|[0-9a-f]{40}|([0-9a-f]{8}){7,16})$/);
    }
    expect(await codeOf(folders.files('web', '__proto__'))).to.match(/RangeError/);
    expect(await codeOf(folders.files('nobody', 'md5'))).to.equal('unknown_group');
  });

  it('sums a file of more than one piece', async () => {
    const content = 'x'.repeat(700_001);
    write('web/large', content);
    expect(await folders.files('web', 'md5')).to.deep.equal([{ filename: 'large', hash: md5(content) }]);
  });

  it('stops at folders that are too deep', async () => {
    write(`web/${'d/'.repeat(20)}file`, 'x');
    expect(await codeOf(folders.files('web', 'md5'))).to.equal('too_many_files');
  });

  it('reads files of the group and nothing else', async () => {
    write('web/agent.conf', 'a');
    write('web/policies/site.yml', 'b');
    write('ar.conf', 'shared');
    symlinkSync(home.path('etc', 'home.json'), shared('web', 'linked'));
    symlinkSync(home.path('etc'), shared('web', 'etc'));
    execFileSync('mkfifo', [shared('web', 'pipe')]);
    const read = async (name: string) => (await folders.read('web', name)).toString();
    expect(await read('agent.conf')).to.equal('a');
    expect(await read('policies/site.yml')).to.equal('b');
    expect(await read('ar.conf')).to.equal('shared');
    const others = ['linked', 'etc/home.json', 'pipe', 'policies', 'nothing', '../default/agent.conf', '/etc/passwd'];
    for (const name of [...others, 'a\0b', '', '.', 'policies/../agent.conf', 'x'.repeat(400), 'agent.conf/x']) {
      expect(await codeOf(folders.read('web', name)), name).to.equal('unknown_file');
    }
    expect(await codeOf(folders.read('..', 'home.json'))).to.equal('unknown_group');
  });

  it('reads the group its own ar.conf while there is none for all', async () => {
    write('web/ar.conf', 'own');
    expect((await folders.read('web', 'ar.conf')).toString()).to.equal('own');
  });

  it('does not read a file that no agent would take', async () => {
    write('web/huge', '');
    truncateSync(shared('web', 'huge'), 64 * 1024 * 1024 + 1);
    expect(await codeOf(folders.read('web', 'huge'))).to.equal('too_large');
  });

  it('replaces agent.conf as a whole, a link itself and not what it leads to', async () => {
    write('web/agent.conf', 'old');
    await folders.writeConfiguration('web', 'new ü');
    expect(readFileSync(shared('web', 'agent.conf'), 'utf8')).to.equal('new ü');
    expect(statSync(shared('web', 'agent.conf')).mode & 0o777).to.equal(0o660);
    write('db/x', '');
    symlinkSync(shared('web', 'agent.conf'), shared('db', 'agent.conf'));
    await folders.writeConfiguration('db', 'other');
    expect(readFileSync(shared('web', 'agent.conf'), 'utf8')).to.equal('new ü');
    expect(readdirSync(shared('db')).sort()).to.deep.equal(['agent.conf', 'x']);
    expect(await codeOf(folders.writeConfiguration('nobody', 'x'))).to.equal('unknown_group');
    expect(await codeOf(folders.writeConfiguration('../shared/web', 'x'))).to.equal('unknown_group');
  });

  it('never leaves etc/shared, whatever the names', async () => {
    write('web/agent.conf', 'x');
    const name = fc.oneof(
      fc.string({ maxLength: 40 }).filter((text) => !isGroupName(text)),
      fc
        .array(fc.constantFrom('..', '.', 'web', 'default', 'logs', ''), { maxLength: 5 })
        .map((parts) => parts.join('/')),
    );
    await fc.assert(
      fc.asyncProperty(name, async (group) => {
        fc.pre(!isGroupName(group));
        const before = tree();
        expect(await codeOf(folders.create(group))).to.equal('invalid_name');
        expect(await codeOf(folders.remove(group))).to.equal('unknown_group');
        expect(await codeOf(folders.read(group, 'agent.conf'))).to.equal('unknown_group');
        expect(await codeOf(folders.writeConfiguration(group, 'x'))).to.equal('unknown_group');
        expect(tree()).to.deep.equal(before);
      }),
      { numRuns: 60 },
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(name, fc.string({ maxLength: 30 })), async (file) => {
        fc.pre(join('/', file) !== '/agent.conf');
        expect(await codeOf(folders.read('web', file))).to.equal('unknown_file');
      }),
      { numRuns: 60 },
    );
  });
});
