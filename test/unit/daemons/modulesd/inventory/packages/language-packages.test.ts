import { execFileSync } from 'node:child_process';
import { mkdirSync, truncateSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { UserFiles } from '../../../../../../daemons/modulesd/inventory/host/user-files.js';
import { userHomes } from '../../../../../../daemons/modulesd/inventory/host/user-homes.js';
import { readLanguagePackages } from '../../../../../../daemons/modulesd/inventory/packages/language-packages.js';
import { nodeRow } from '../../../../../../daemons/modulesd/inventory/packages/node.js';
import { pythonRow } from '../../../../../../daemons/modulesd/inventory/packages/python.js';
import { snapRow } from '../../../../../../daemons/modulesd/inventory/packages/snap.js';
import { readAccounts } from '../../../../../../daemons/modulesd/inventory/system/accounts.js';
import { FakeRoot } from '../../../../../support/modulesd/fake-root.js';

const METADATA = `Metadata-Version: 2.1
Name: requests
Version: 2.31.0
Summary: Python HTTP for Humans.
Home-page: https://requests.readthedocs.io
Author: Kenneth Reitz
Author-email: UNKNOWN

Name: not-this
`;

describe('packages of Python and npm', () => {
  let root: FakeRoot;
  beforeEach(() => {
    root = new FakeRoot();
    root.write(
      '/etc/passwd',
      'root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nsys:x:10:10::/home/sys:/bin/sh\n',
    );
  });
  afterEach(() => root.remove());

  function names(): string[] {
    const files = root.files();
    const rows = readLanguagePackages(files, userHomes(files, readAccounts(files)));
    return rows.map(({ format, name, version }) => `${String(format)} ${String(name)} ${String(version)}`);
  }

  it('are read of what describes them', () => {
    expect(pythonRow(METADATA, '/x')).to.include({
      ...{ format: 'pypi', name: 'requests', version: '2.31.0', vendor: 'Kenneth Reitz', location: '/x' },
      ...{ description: 'Python HTTP for Humans.', source: 'https://requests.readthedocs.io', architecture: ' ' },
    });
    expect(
      nodeRow({ name: 'npm', version: '10.2.4', author: { name: 'GitHub Inc.' }, description: 3 }, '/y'),
    ).to.include({
      ...{ format: 'npm', name: 'npm', version: '10.2.4', vendor: 'GitHub Inc.', description: ' ', location: '/y' },
    });
    expect(nodeRow({ version: '1' }, '/y')).to.equal(undefined);
    expect(pythonRow('Version: 1', '/y')).to.equal(undefined);
  });

  it('are found where they are installed for all, and by users for themselves', () => {
    root.write('/usr/lib/python3/dist-packages/requests-2.31.0.dist-info/METADATA', METADATA);
    root.write('/usr/lib/python3/dist-packages/old.egg-info', 'Name: old\nVersion: 1\n');
    root.write('/usr/lib/python3.11/site-packages/dir.egg-info/PKG-INFO', 'Name: dir\nVersion: 2\n');
    root.write('/usr/lib/node_modules/npm/package.json', '{"name":"npm","version":"10"}');
    root.write('/usr/lib/node_modules/@scope/tool/package.json', '\uFEFF{"name":"@scope/tool","version":"3"}');
    root.write('/usr/lib/node_modules/npm/node_modules/inner/package.json', '{"name":"inner","version":"1"}');
    root.write('/home/ann/.local/lib/python3.11/site-packages/mine-1.dist-info/METADATA', 'Name: mine\nVersion: 1\n');
    root.write(
      '/home/ann/.nvm/versions/node/v20.1.0/lib/node_modules/tool/package.json',
      '{"name":"tool","version":"9"}',
    );
    root.write('/home/sys/.local/lib/python3.11/site-packages/other-1.dist-info/METADATA', 'Name: other\nVersion: 1\n');
    expect(names()).to.deep.equal([
      ...[
        'pypi old 1',
        'pypi requests 2.31.0',
        'pypi dir 2',
        'npm @scope/tool 3',
        'npm npm 10',
        'pypi mine 1',
        'npm tool 9',
      ],
    ]);
    expect(root.notes).to.deep.equal([]);
  });

  it('are not what a user has root read: links, pipes, files without end, and places of programs', () => {
    const site = '/home/ann/.local/lib/python3.11/site-packages';
    root.write('/secret/METADATA', 'Name: secret\nVersion: 1\n');
    root.link(`${site}/a.dist-info`, root.at('/secret'));
    mkdirSync(root.at(`${site}/b.dist-info`), { recursive: true });
    root.link(`${site}/b.dist-info/METADATA`, root.at('/secret/METADATA'));
    mkdirSync(root.at(`${site}/c.dist-info`));
    execFileSync('mkfifo', [root.at(`${site}/c.dist-info/METADATA`)]);
    truncateSync(root.write(`${site}/d.dist-info/METADATA`, 'Name: endless\n'), 5 * 1024 * 1024);
    root.write('/home/ann/.npm-global/lib/node_modules/x/package.json', '{"name":');
    root.write(`${site}/good.dist-info/METADATA`, 'Name: good\nVersion: 1\n');
    expect(names()).to.deep.equal(['pypi good 1']);
    expect(root.notes.map(({ kind, count }) => `${kind} ${String(count)}`)).to.deep.equal([
      'too_large 1',
      'malformed 1',
    ]);
    root.link('/home/bob', root.at('/home/ann'));
    root.write('/proc/self/mounts', `ann@host:/x /home/ann/.ssh\\040fs fuse.sshfs rw 0 0\n`);
    expect(names()).to.deep.equal([]);
    expect(root.notes.map(({ first }) => first)).to.deep.equal([
      '/home/ann (a file system of the network or of a program)',
    ]);
  });

  it('end at the limits of their place', () => {
    for (let index = 0; index < 9; index += 1) root.write(`/home/ann/p/${String(index)}`, 'x'.repeat(100));
    const files = root.files();
    const few = new UserFiles(root.at('/home/ann'), files.notes, { files: 4, bytes: 1000, names: 9 });
    expect(
      Array.from({ length: 9 }, (_none, index) => few.read(`p/${String(index)}`, 500)).filter(Boolean),
    ).to.have.length(4);
    const little = new UserFiles(root.at('/home/ann'), files.notes, { files: 100, bytes: 250, names: 9 });
    expect(
      Array.from({ length: 9 }, (_none, index) => little.read(`p/${String(index)}`, 500)).filter(Boolean),
    ).to.have.length(3);
    expect(files.notes.all).to.deep.equal([{ kind: 'too_many', count: 11, first: `${root.at('/home/ann')}/p/4` }]);
    expect(() => few.read('../x', 1)).to.not.throw();
    const narrow = new UserFiles(root.at('/home/ann'), files.notes, { files: 100, bytes: 250, names: 12 });
    expect([narrow.names('p').length, narrow.names('p').length, narrow.names('p').length]).to.deep.equal([9, 3, 0]);
  });

  it('are read at once, however many blanks are in a line', () => {
    const before = performance.now();
    const blanks = ' '.repeat(200_000);
    expect(pythonRow(`Name: a${blanks}b\nVersion:${blanks}1${blanks}\n`, '/x')).to.include({ version: '1' });
    expect(snapRow(`name: a${blanks}b\nversion: "1"${blanks}`, '/x')).to.include({ version: '1' });
    expect(performance.now() - before).to.be.lessThan(1000);
  });

  it('survive any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (text, value) => {
        pythonRow(`Name: a\n${text}`, '/x');
        nodeRow(value, '/x');
        nodeRow({ name: 'a', author: value, version: value }, '/x');
      }),
    );
  });
});
