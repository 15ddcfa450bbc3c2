import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { expect } from 'chai';
import { runControl } from '../../../bin/control/control-command.js';
import { clusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import { productCatalogue } from '../../../lib/control/daemon-catalogue.js';
import { eventually } from '../../support/eventually.js';
import { natsServers } from '../../support/nats/nats-servers.js';
import { removeTree } from '../../support/remove-tree.js';

async function cluster(...args: string[]) {
  const said = { code: 0, text: '', problem: '' };
  said.code = await runControl(['cluster', ...args], {
    catalogue: productCatalogue(),
    write: (text) => (said.text += text),
    writeError: (text) => (said.problem += text),
    terminal: false,
  });
  return said;
}

describe('svc-control cluster add and remove', function () {
  this.timeout(60_000);
  let parent: string;
  let folder: string;
  before(async () => {
    parent = mkdtempSync(join(tmpdir(), 'svc-change-'));
    folder = join(parent, 'office');
    const members = ['1', '2', '3'].flatMap((at) => ['--node', `n${at}=10.0.0.${at}`]);
    await cluster('init', '--name', 'office', ...members, '--out', folder);
  });
  after(() => removeTree(parent));

  const text = (...path: string[]) => readFileSync(join(folder, ...path), 'utf8');

  it('makes files of a further host, and tells the others of it', async () => {
    const key = text('n1', 'node.nk');
    const certificate = text('n1', 'server', 'server.pem');
    // What was brought to its host may be gone.
    removeTree(join(folder, 'n2'));
    const { code, text: said } = await cluster(
      'add',
      '--node',
      'n4=10.0.0.4',
      '--manager',
      'm=10.0.0.5',
      '--folder',
      folder,
    );
    expect(code).to.equal(0);
    expect(said).to.include(`${join(folder, 'n1', 'server', 'nats-server.conf')}  changed`);
    expect(readdirSync(join(folder, 'n4')).sort()).to.deep.equal(['ca.pem', 'cluster.json', 'node.nk', 'server']);
    expect(readdirSync(join(folder, 'm')).sort()).to.deep.equal(['ca.pem', 'cluster.json', 'node.nk']);
    expect(readdirSync(join(folder, 'n2', 'server'))).to.deep.equal(['nats-server.conf']);
    expect([text('n1', 'node.nk'), text('n1', 'server', 'server.pem')]).to.deep.equal([key, certificate]);
    for (const name of ['n1', 'n2', 'n3', 'n4']) {
      const config = text(name, 'server', 'nats-server.conf');
      for (const other of ['1', '2', '3', '4'].filter((at) => `n${at}` !== name)) {
        expect(config).to.include(`@10.0.0.${other}:6222`);
      }
      expect(config).to.include('# m\n');
      expect(statSync(join(folder, name, 'server', 'nats-server.conf')).mode & 0o777).to.equal(0o600);
    }
    expect(JSON.parse(text('m', 'cluster.json')))
      .to.have.property('urls')
      .with.lengthOf(4);
    expect((JSON.parse(text('m', 'cluster.json')) as { key: string }).key).to.equal(
      (JSON.parse(text('n1', 'cluster.json')) as { key: string }).key,
    );
  });

  it('takes one out again', async () => {
    expect((await cluster('remove', 'm', '--folder', folder)).code).to.equal(0);
    expect(text('n1', 'server', 'nats-server.conf')).not.to.include('# m\n');
    expect(readdirSync(folder)).not.to.include('m');
    expect((await cluster('remove', 'm', '--folder', folder)).problem).to.include("there is no member 'm'");
  });

  it('says what it does not do', async () => {
    const alone = join(parent, 'alone');
    await cluster('init', '--name', 'alone', '--node', 'n1=10.0.0.1', '--out', alone);
    const problem = async (...args: string[]) => {
      const { code, problem: said } = await cluster(...args);
      expect(code).to.equal(1);
      return said;
    };
    const add = (...args: string[]) => problem('add', ...args, '--folder', folder);
    expect(await add()).to.include('name whom to add');
    expect(await add('--manager', 'n1=10.0.0.9')).to.include("'n1' is taken");
    expect(await problem('add', '--node', 'n2=10.0.0.2', '--folder', alone)).to.include(
      'one NATS server does not become',
    );
    expect((await cluster('add', '--manager', 'n2=10.0.0.2', '--folder', alone)).code).to.equal(0);
    expect(await problem('remove', 'n1', '--folder', alone)).to.include('at least one --node');
    expect(await problem('add', '--manager', 'x=h', '--folder', parent)).to.include('--folder names the one');
    expect(await problem('replicas', '4', '--folder', alone)).to.include('1 to 1 copies');
  });
});

describe('NATS servers of a cluster that changes', function () {
  this.timeout(60_000);
  const servers = natsServers({ cluster: 'office' });

  it('let a further manager in and shut out one that is gone, while others stay connected', async () => {
    const stays = await servers().connect('n1');
    const folder = servers().folder;
    expect((await cluster('add', '--manager', 'm=127.0.0.1', '--folder', folder)).problem).to.equal('');
    for (const server of servers().servers) server.reload();
    const joined = await eventually('m is let in', () =>
      servers()
        .connect('m', { reconnect: false })
        .catch(() => undefined),
    );
    expect((await cluster('remove', 'm', '--folder', folder)).problem).to.equal('');
    for (const server of servers().servers) server.reload();
    await joined.closed();
    await stays.flush();
    expect(stays.isClosed()).to.equal(false);
  });

  it('keep as many copies as they are told', async () => {
    const { name, subjects } = clusterSubjects('office').streams.shared;
    const manager = await jetstreamManager(await servers().connect('n1'));
    await manager.streams.add({ name, subjects: [...subjects], num_replicas: 1 });
    const { code, text } = await cluster('replicas', '3', '--folder', servers().folder);
    expect([code, text]).to.deep.equal([0, `${name}  1 -> 3\n`]);
    await eventually('all copies are there', async () => {
      const { cluster: copies } = await manager.streams.info(name);
      return copies?.replicas?.length === 2 && copies.replicas.every(({ current }) => current);
    });
    expect((await cluster('replicas', '4', '--folder', servers().folder)).problem).to.include('1 to 3 copies');
  });
});
