import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runControl } from '../../../bin/control/control-command.js';
import { initHome } from '../../../bin/control/home/init-home.js';
import { JOINED_FILE } from '../../../lib/cluster/left-cluster.js';
import { productCatalogue } from '../../../lib/control/daemon-catalogue.js';
import { Home } from '../../../lib/home/home.js';
import { AttackedHome, onlyAsRoot } from '../../support/process/service-user.js';
import { removeTree } from '../../support/remove-tree.js';
import { knowFewRules } from '../../support/watch-little.js';

async function control(...args: string[]) {
  const said = { code: 0, text: '', problem: '' };
  said.code = await runControl(args, {
    catalogue: productCatalogue(),
    write: (text) => (said.text += text),
    writeError: (text) => (said.problem += text),
    terminal: false,
  });
  return said;
}

describe('svc-control cluster join and leave', function () {
  this.timeout(60_000);
  const parent = mkdtempSync(join(tmpdir(), 'svc-join-'));
  const home = new Home(join(parent, 'h'));
  const configuration = home.path('etc', 'manager.conf');
  const folder = join(parent, 'office', 'n1');
  let shipped: Buffer;

  before(async () => {
    await initHome(home, { role: 'server' });
    knowFewRules(home);
    // Bytes that are no UTF-8 stay what they are.
    writeFileSync(
      configuration,
      Buffer.concat([readFileSync(configuration), Buffer.from('<!-- caf\xe9 -->\n', 'latin1')]),
    );
    shipped = readFileSync(configuration);
    for (const name of ['office', 'other']) {
      await control('cluster', 'init', '--name', name, '--node', 'n1=10.0.0.1', '--out', join(parent, name));
    }
  });
  beforeEach(() => {
    writeFileSync(configuration, shipped);
    for (const file of ['ca.pem', 'node.nk']) removeTree(home.path('etc/cluster', file));
  });
  after(() => removeTree(parent));

  const cluster = (...args: string[]) => control('cluster', ...args, '--home', home.root);

  it('takes over certificate and credential, and leaves the rest of the configuration as it is', async () => {
    const { code, text, problem } = await cluster('join', folder);
    expect(problem).to.equal('');
    expect(code).to.equal(0);
    expect(text).to.include("'n1' of the cluster 'office'").and.to.include('svc-control restart');
    for (const file of ['ca.pem', 'node.nk']) {
      expect(readFileSync(home.path('etc/cluster', file))).to.deep.equal(readFileSync(join(folder, file)));
      expect(statSync(home.path('etc/cluster', file)).mode & 0o777).to.equal(0o640);
    }
    const joined = readFileSync(configuration);
    const block = joined.indexOf('<cluster>');
    expect(joined.subarray(0, block)).to.deep.equal(shipped.subarray(0, shipped.indexOf('<cluster>')));
    const rest = (bytes: Buffer) => bytes.subarray(bytes.indexOf('</cluster>'));
    expect(rest(joined)).to.deep.equal(rest(shipped));
    expect((await control('validate', '--home', home.root)).text).to.include('The configuration is valid');
    const first = readFileSync(home.path(JOINED_FILE), 'utf8');
    expect((await cluster('join', folder)).code).to.equal(0);
    expect(readFileSync(configuration)).to.deep.equal(joined);
    // Each time is another one: who was forgotten by the cluster is let in again by it.
    expect(readFileSync(home.path(JOINED_FILE), 'utf8')).not.to.equal(first);
  });

  it('leaves with one word, and comes back', async () => {
    await cluster('join', folder);
    const joined = readFileSync(configuration, 'latin1');
    const { code, text } = await cluster('leave');
    expect([code, text.includes('is by itself')]).to.deep.equal([0, true]);
    expect(readFileSync(configuration, 'latin1')).to.equal(
      joined.replace('<disabled>no</disabled>\n  </cluster>', '<disabled>yes</disabled>\n  </cluster>'),
    );
    expect(existsSync(home.path('etc/cluster/node.nk'))).to.equal(true);
    expect(await cluster('leave')).to.deep.include({
      code: 1,
      problem: 'svc-control: this manager is in no cluster\n',
    });
    expect((await cluster('status')).text).to.equal('This manager is in no cluster.\n');
    expect((await cluster('join', join(parent, 'other', 'n1'))).code).to.equal(0);
  });

  it('brings what it has into a cluster, whatever it knows of one that it left', async () => {
    const known = home.path('queue/cluster/known');
    writeFileSync(known, 'of before');
    await cluster('join', folder);
    expect(existsSync(known)).to.equal(false);
    writeFileSync(known, 'of this one');
    await cluster('join', folder);
    expect(existsSync(known)).to.equal(true);
  });

  it('goes from one cluster to another only by leaving', async () => {
    await cluster('join', folder);
    const { code, problem } = await cluster('join', join(parent, 'other', 'n1'));
    expect([code, problem]).to.deep.equal([
      1,
      'svc-control: this manager is in the cluster \'office\': "svc-control cluster leave" comes first\n',
    ]);
  });

  it('leaves everything as it was where the configuration is refused', async () => {
    const broken = shipped.toString('latin1').replace('<log_alert_level>3', '<log_alert_level>99');
    expect(broken).to.include('>99');
    writeFileSync(configuration, broken, 'latin1');
    const { code, problem } = await cluster('join', folder);
    expect([code, problem.includes('log_alert_level')]).to.deep.equal([1, true]);
    expect(readFileSync(configuration, 'latin1')).to.equal(broken);
    expect(existsSync(home.path('etc/cluster/node.nk'))).to.equal(false);
  });

  it('names what of a folder it cannot use', async () => {
    const made = join(parent, 'broken');
    const problemOf = async (file: string, text: string) => {
      removeTree(made);
      cpSync(join(parent, 'office'), made, { recursive: true });
      writeFileSync(join(made, 'n1', file), text);
      return (await cluster('join', join(made, 'n1'))).problem;
    };
    expect((await cluster('join', parent)).problem).to.include(`'${join(parent, 'cluster.json')}' cannot be read`);
    expect(await problemOf('node.nk', 'secret'))
      .to.match(/node\.nk': it is no seed/)
      .and.not.include('secret');
    expect(await problemOf('ca.pem', 'x')).to.include("ca.pem': ");
    expect(await problemOf('cluster.json', '{}')).to.include("cluster.json': version");
    const evil = JSON.stringify({
      ...(JSON.parse(readFileSync(join(folder, 'cluster.json'), 'utf8')) as object),
      node: 'a</node_name><node_name>b',
    });
    expect(await problemOf('cluster.json', evil)).to.include("cluster.json': node is no name");
    expect(readFileSync(configuration)).to.deep.equal(shipped);
  });

  describe('where daemons are another user', () => {
    onlyAsRoot();
    let attacked: AttackedHome;
    before(async () => {
      attacked = await AttackedHome.make();
      knowFewRules(attacked.home);
    });
    after(() => attacked.remove());

    it("has secrets be root's, for the service group to read", async () => {
      expect((await control('cluster', 'join', folder, '--home', attacked.home.root)).problem).to.equal('');
      const gid = attacked.account.gid;
      expect(attacked.rights('etc/cluster')).to.equal(`0:${String(gid)} 750`);
      for (const file of ['ca.pem', 'node.nk']) {
        expect(attacked.rights(`etc/cluster/${file}`)).to.equal(`0:${String(gid)} 640`);
      }
      expect(attacked.rights('etc/manager.conf')).to.equal(`0:${String(gid)} 640`);
    });

    it('writes nowhere where the service user has it write', async () => {
      removeTree(attacked.home.path('etc/cluster'));
      const trap = mkdtempSync(join(tmpdir(), 'svc-trap-'));
      try {
        chmodSync(trap, 0o777);
        symlinkSync(trap, attacked.home.path('etc/cluster'));
        const { code, problem } = await control('cluster', 'join', folder, '--home', attacked.home.root);
        expect([code, problem.includes('is not a directory')]).to.deep.equal([1, true]);
        expect(existsSync(join(trap, 'node.nk'))).to.equal(false);
      } finally {
        removeTree(trap);
      }
    });
  });
});
