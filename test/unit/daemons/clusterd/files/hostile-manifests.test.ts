import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ManifestError, manifestId, manifestOf, sha256Of } from '../../../../../daemons/clusterd/files/manifest.js';
import { SetScanner } from '../../../../../daemons/clusterd/files/scan-set.js';
import { isPathOf, placeOf, type SetPlace } from '../../../../../daemons/clusterd/files/set-place.js';
import { SetWriter } from '../../../../../daemons/clusterd/files/set-writer.js';
import { Home } from '../../../../../lib/home/home.js';
import { FakeCluster } from '../../../../support/cluster/fake-cluster.js';
import { FilesNode } from '../../../../support/cluster/files-node.js';
import { MemoryBlobs } from '../../../../support/cluster/memory-blobs.js';
import { eventually } from '../../../../support/eventually.js';
import { removeTree } from '../../../../support/remove-tree.js';

const TRAVERSALS = [
  '../../rules/evil.xml',
  '/etc/passwd',
  'a/../../b',
  './a',
  'a//b',
  'a/./b',
  'a\\..\\b',
  'a\nb',
  'a\0b',
  '',
  '.hidden',
  'sub/.git/config',
  'merged.mg',
  'merged.mg.tmp',
  'ar.conf',
  'sub/ar.conf',
  'agent.conf.tmp',
  'agent.conf~',
  'x.swp',
  'x.lock',
  '#new-1/x',
  Array.from({ length: 30 }, () => 'deep').join('/'),
];

describe('manifests of a stolen node', () => {
  let root: string;
  let home: Home;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'cluster-files-'));
    home = new Home(join(root, 'home'));
    mkdirSync(home.path('etc/shared/web'), { recursive: true });
  });
  afterEach(() => {
    removeTree(root);
  });

  const place = (key = 'group/web'): SetPlace => placeOf(home, key) as SetPlace;
  const entry = (path: string) => ({ path, sha256: '0'.repeat(64), size: 1 });

  it('no path leads out of its folder, nor to what is a node of its own', () => {
    for (const path of TRAVERSALS) {
      expect(isPathOf(place(), path), JSON.stringify(path)).to.equal(false);
      expect(() => manifestOf(place(), [entry(path)]), JSON.stringify(path)).to.throw(ManifestError);
    }
    expect(isPathOf(place('ruleset'), 'shared/web/agent.conf')).to.equal(false);
    expect(isPathOf(place('ruleset'), 'rules')).to.equal(false);
    expect(isPathOf(place('ruleset'), 'manager.conf')).to.equal(false);
    expect(isPathOf(place('ruleset'), 'rules/sub/local.xml')).to.equal(true);
    expect(isPathOf(place('shared'), 'web/agent.conf')).to.equal(false);
    expect(isPathOf(place('shared'), 'files.yml')).to.equal(true);
  });

  it('keys of records lead nowhere else either', () => {
    for (const key of [
      'group/../rules',
      'group/',
      'group/..',
      'group/.git',
      'group/#new-1',
      'group/a/b',
      'etc',
      'rules',
    ]) {
      expect(placeOf(home, key), key).to.equal(undefined);
    }
  });

  it('too much is refused', () => {
    const large = Array.from({ length: 9 }, (_, index) => ({ ...entry(`f${String(index)}`), size: 64 * 1024 * 1024 }));
    expect(() => manifestOf(place(), large)).to.throw(/more than \d+ bytes/);
    expect(() => manifestOf(place(), [entry('a'), entry('a/b')])).to.throw(/a file and a folder/);
    expect(() => manifestOf(place(), [entry('a'), entry('a')])).to.throw(/twice/);
  });

  it('a link in a folder is not followed, neither for reading nor for writing', async () => {
    const outside = join(root, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'secret'), 'secret');
    symlinkSync(outside, home.path('etc/shared/web/sub'));
    symlinkSync(join(outside, 'secret'), home.path('etc/shared/web/leaf'));
    const scan = await new SetScanner(place()).scan();
    expect([...(scan?.files.keys() ?? [])]).to.deep.equal([]);
    expect(scan?.odd.join()).to.include('symbolic link');
    const writer = new SetWriter(place().folder);
    expect(() => {
      writer.stage('sub/planted', Buffer.from('x'));
    }).to.throw(/ENOTDIR|ELOOP/);
    writer.remove('sub/secret');
    writer.stage('leaf', Buffer.from('new'));
    expect(writer.switch(() => true)).to.equal(true);
    expect(readdirSync(outside)).to.deep.equal(['secret']);
    expect(readFileSync(join(outside, 'secret'), 'utf8')).to.equal('secret');
    expect(lstatSync(home.path('etc/shared/web/leaf')).isFile()).to.equal(true);
  });

  it('a folder that cannot be looked at whole is not taken for empty', async () => {
    const deep = Array.from({ length: 20 }, () => 'd').join('/');
    mkdirSync(home.path('etc/shared/web', deep), { recursive: true });
    const failed = await new SetScanner(place()).scan().then(
      () => undefined,
      (error: unknown) => String(error),
    );
    expect(failed).to.include('too deep');
  });

  it('records that are none leave what is here as it is', async () => {
    const cluster = new FakeCluster();
    cluster.master = 'n1';
    const blobs = new MemoryBlobs();
    const node = new FilesNode('n1', cluster, blobs, root);
    node.write('etc/shared/web/agent.conf', 'W');
    node.start();
    try {
      await eventually('published', () => cluster.value('files', 'group/web'));
      const evil = Buffer.from('evil');
      blobs.contents.set(sha256Of(evil), evil);
      const files = [{ path: '../../rules/evil.xml', sha256: sha256Of(evil), size: 4 }];
      const id = manifestId(new Map(files.map((file) => [file.path, file])));
      cluster.commit([{ kind: 'files', key: 'group/web', value: { node: 'n2', id, files } }]);
      cluster.commit([{ kind: 'files', key: 'group/../rules', value: { node: 'n2', id, files } }]);
      await eventually('told', () => node.logged('warn').some((text) => text.includes('is no path of the set')));
      cluster.commit([{ kind: 'files', key: 'group/web', value: 'nonsense' }]);
      const lying = { node: 'n2', id: '0'.repeat(64), files: [{ path: 'x', sha256: sha256Of(evil), size: 4 }] };
      cluster.commit([{ kind: 'files', key: 'group/default', value: lying }]);
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(existsSync(node.home.path('etc/rules/evil.xml'))).to.equal(false);
      expect(node.tree()).to.deep.equal({ 'etc/shared/web/agent.conf': 'W' });
    } finally {
      await node.stop();
    }
  });
});
