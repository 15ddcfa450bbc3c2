import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { expect } from 'chai';
import { runControl } from '../../../bin/control/control-command.js';
import { productCatalogue } from '../../../lib/control/daemon-catalogue.js';
import { eventually } from '../../support/eventually.js';
import { skipWithoutNatsServer } from '../../support/nats/nats-program.js';
import { NatsServers } from '../../support/nats/nats-servers.js';
import { removeTree } from '../../support/remove-tree.js';

describe('svc-control cluster init', function () {
  this.timeout(60_000);
  let parent: string;
  /** A cluster that tests look at: keys take their time. */
  let out: string;
  let said: string;

  const run = async (...args: string[]) => {
    let [text, problem] = ['', ''];
    const code = await runControl(['cluster', 'init', ...args], {
      catalogue: productCatalogue(),
      write: (line) => (text += line),
      writeError: (line) => (problem += line),
      terminal: false,
    });
    return { code, text, problem };
  };
  const three = ['--node', 'n1=10.0.0.1', '--node', 'n2=10.0.0.2:5222', '--server', 'w=witness.example.org'];

  before(async () => {
    parent = mkdtempSync(join(tmpdir(), 'svc-cluster-'));
    out = join(parent, 'out');
    const folder = join(out, '{name}', 'server');
    const members = [...three, '--manager', 'n3=2001:db8::3'];
    const { code, text } = await run('--name', 'office', ...members, '--server-folder', folder, '--out', out);
    expect(code).to.equal(0);
    said = text;
  });
  after(() => removeTree(parent));

  it('makes a folder for each host, for who made it alone, and one that no host is to have', () => {
    expect(said).to.include(join(out, 'n1')).and.to.include('svc-control cluster join');
    const files = (readdirSync(out, { recursive: true }) as string[]).sort();
    const server = ['ca.pem', 'nats-server.conf', 'nats-server.service.conf', 'server-key.pem', 'server.pem'];
    const manager = ['ca.pem', 'cluster.json', 'node.nk'];
    const below = (folder: string, names: readonly string[]) => [folder, ...names.map((name) => join(folder, name))];
    expect(files).to.have.members([
      ...below('admin', ['admin.nk', 'ca-key.pem', 'ca.pem', 'cluster.json', 'system.nk']),
      ...['n1', 'n2', 'n3'].flatMap((name) => below(name, manager)),
      ...['n1', 'n2'].flatMap((name) => below(join(name, 'server'), server)),
      'w',
      ...below(join('w', 'server'), server),
    ]);
    for (const file of files) {
      const { mode } = statSync(join(out, file));
      expect(mode & 0o777, file).to.equal(statSync(join(out, file)).isDirectory() ? 0o700 : 0o600);
    }
    const json = JSON.parse(readFileSync(join(out, 'n3', 'cluster.json'), 'utf8')) as Record<string, unknown>;
    expect(json).to.include({ cluster: 'office', node: 'n3' });
    expect(json['key']).to.match(/^[A-Za-z0-9]{32}$/);
    expect(json['urls']).to.deep.equal([
      'tls://10.0.0.1:4222',
      'tls://10.0.0.2:5222',
      'tls://witness.example.org:4222',
    ]);
    const all = files.filter((file) => !file.startsWith('admin') && statSync(join(out, file)).isFile());
    const admin = readFileSync(join(out, 'admin', 'admin.nk'), 'utf8').trim();
    for (const file of all) expect(readFileSync(join(out, file), 'utf8'), file).not.to.include(admin);
  });

  it('has certificates name the host that they are for, and be of the authority', () => {
    const authority = new X509Certificate(readFileSync(join(out, 'admin', 'ca.pem')));
    const certificate = (name: string) => new X509Certificate(readFileSync(join(out, name, 'server', 'server.pem')));
    expect(certificate('n1').checkIP('10.0.0.1')).to.equal('10.0.0.1');
    expect(certificate('n1').checkIP('10.0.0.2')).to.equal(undefined);
    expect(certificate('w').checkHost('witness.example.org')).to.equal('witness.example.org');
    expect(certificate('n2').verify(authority.publicKey)).to.equal(true);
    expect(certificate('n2').ca).to.equal(false);
  });

  it('overwrites nothing, and says what it does not understand', async () => {
    const fails = async (...args: string[]) => {
      const { code, problem } = await run(...args);
      expect(code).to.equal(1);
      return problem;
    };
    const other = ['--out', join(parent, 'other')];
    expect(await fails('--name', 'a b', ...three, ...other)).to.include("'a b' cannot be the name of a cluster");
    expect(await fails('--name', 'c', ...other)).to.include('at least one --node');
    expect(await fails('--name', 'c', '--node', 'n1', ...other)).to.include('NAME=ADDRESS');
    expect(await fails('--name', 'c', '--node', '../n1=10.0.0.1', ...other)).to.include('NAME=ADDRESS');
    expect(await fails('--name', 'c', '--node', 'n1=10.0.0.1:99999', ...other)).to.include('port');
    expect(await fails('--name', 'c', '--node', 'n1=a"b', ...other)).to.include('neither an address nor');
    expect(await fails('--name', 'c', '--node', 'n1=a', '--node', 'N1=b', ...other)).to.include("'N1' is taken");
    expect(await fails('--name', 'c', '--node', 'admin=a', ...other)).to.include("'admin' is taken");
    expect(await fails('--name', 'c', '--node', 'a=h', '--node', 'b=h', ...other)).to.include(
      'port 4222 of h is taken twice',
    );
    expect(await fails('--name', 'c', ...three, '--server-folder', '/a b', ...other)).to.include('--server-folder');
    expect(await fails('--name', 'c', ...three, '--store-gib', '0', ...other)).to.include('--store-gib');
    expect(readdirSync(parent)).to.deep.equal(['out']);
    expect(await fails('--name', 'c', ...three, '--out', out)).to.include('is there already');
  });

  it('says what an even number of servers means', async () => {
    const members = ['--node', 'n1=10.0.0.1', '--node', 'n2=10.0.0.2'];
    const { text } = await run('--name', 'c', ...members, '--out', join(parent, 'two'));
    expect(text).to.include('2 NATS servers stand no more losses than 1');
  });

  it('has nats-server take its configuration', function () {
    skipWithoutNatsServer(this);
    const { status, stderr } = spawnSync('nats-server', ['-t', '-c', join(out, 'n1', 'server', 'nats-server.conf')]);
    expect(status, String(stderr)).to.equal(0);
  });
});

describe('servers of such a cluster', function () {
  this.timeout(60_000);
  before(function () {
    skipWithoutNatsServer(this);
  });

  it('is one that works by itself, and keeps what it has', async () => {
    const servers = await NatsServers.start({ servers: 1, managers: ['n2'] });
    try {
      const manager = await jetstreamManager(await servers.connect('n2'));
      await manager.streams.add({ name: 'SVC_test_SHARED', subjects: ['svc.test.shared.>'] });
      await servers.server('n1').kill();
      await servers.server('n1').start();
      await servers.ready();
      await eventually('the stream is there', () =>
        manager.streams.info('SVC_test_SHARED').then(
          () => true,
          () => false,
        ),
      );
    } finally {
      await servers.close();
    }
  });

  it('are three that lose one and take it back', async () => {
    const servers = await NatsServers.start();
    try {
      const node = await servers.connect('n1');
      const manager = await jetstreamManager(node);
      await manager.streams.add({ name: 'SVC_test_SHARED', subjects: ['svc.test.shared.>'], num_replicas: 3 });
      const lost = (await servers.leader()) ?? servers.server('n1');
      await lost.kill();
      await servers.ready();
      await eventually('the stream is written to', () =>
        node.request('svc.test.shared.agent.001', 'a', { timeout: 1000 }).then(
          () => true,
          () => false,
        ),
      );
      await lost.start();
      await servers.ready();
    } finally {
      await servers.close();
    }
  });
});
