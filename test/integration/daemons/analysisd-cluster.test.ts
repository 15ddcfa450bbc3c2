import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { analysisdContract } from '../../../lib/bus/contracts/analysisd.js';
import { clusterdContract } from '../../../lib/bus/contracts/clusterd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { RULESET_POINTER, rulesetFolder } from '../../../lib/cluster/ruleset-in-force.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { serveContract } from '../../support/bus/serve-contract.js';
import { writeEngineFiles } from '../../support/engine/engine-files.js';
import { eventually } from '../../support/eventually.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const PROGRAM = fileURLToPath(new URL('bin/svc-analysisd', productRoot()));
const CONFIGURATION = `<manager_config>
  <ruleset><rule_dir>etc/rules</rule_dir><decoder_dir>etc/decoders</decoder_dir><list>etc/lists/blocked</list></ruleset>
  <cluster><disabled>no</disabled><node_name>n1</node_name><key>c98b62a9b6169ac5f67dae55ae4a9088</key>
    <nodes><node>127.0.0.1:4222</node></nodes></cluster>
</manager_config>
`;
const DECODERS = '<decoder name="d"><program_name>^d$</program_name></decoder>';
const rules = (id: string, level = '5') => `<group name="t,">
  <rule id="${id}" level="${level}"><match>x</match><description>Rule ${id}.</description></rule>
</group>
`;

describe('svc-analysisd in a cluster', () => {
  let home: TemporaryHome;
  let child: ChildProcess;
  let client: RequestClient<typeof analysisdContract>;

  beforeEach(async () => {
    home = new TemporaryHome();
    writeFileSync(home.path('etc/manager.conf'), CONFIGURATION);
    writeEngineFiles(home, { name: 'd', text: DECODERS });
    put('etc', '100999', '99');
    enforce(ruleset('a', '100100'));
    client = new RequestClient({ contract: analysisdContract, path: home.socket('svc-analysisd') });
    await start();
  });
  afterEach(async () => {
    client.close();
    await kill();
    home.remove();
  });

  function put(folder: string, id: string, level?: string): void {
    for (const name of ['rules', 'decoders', 'lists']) mkdirSync(home.path(folder, name), { recursive: true });
    writeFileSync(home.path(folder, 'rules/local.xml'), rules(id, level));
    writeFileSync(home.path(folder, 'decoders/local.xml'), DECODERS);
    writeFileSync(home.path(folder, 'lists/blocked'), 'key:\n');
  }
  /** A ruleset of the cluster on this node. @returns its id */
  function ruleset(letter: string, id: string, level?: string): string {
    const name = letter.repeat(64);
    put(rulesetFolder(name), id, level);
    return name;
  }
  const enforce = (id: string): void => {
    writeFileSync(home.path(RULESET_POINTER), `${id}\n`);
  };
  async function start(): Promise<void> {
    child = spawn(process.execPath, [PROGRAM, '--home', home.root], { stdio: 'ignore' });
    await eventually('svc-analysisd answers', () => {
      if (child.exitCode !== null) throw new Error(readFileSync(home.path('logs/manager.log'), 'utf8'));
      return client.call('ping', {}).then(
        () => true,
        () => false,
      );
    });
  }
  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  const ids = async () => (await client.call('rules.list', {})).rules.map(({ id }) => id);

  it('works by the ruleset in force in the cluster, whatever lies in etc, also after a crash', async () => {
    expect(await ids()).to.deep.equal([100_100]);
    const next = ruleset('b', '100200');
    expect(await client.call('ruleset.check', { ruleset: next })).to.deep.equal({ errors: [] });
    expect(await ids(), 'a look changes nothing').to.deep.equal([100_100]);
    enforce(next);
    expect((await client.call('ruleset.switch', { ruleset: next })).error).to.equal(0);
    expect(await ids()).to.deep.equal([100_200]);
    await kill();
    await start();
    expect(await ids()).to.deep.equal([100_200]);
  });

  it('says what is wrong with a ruleset, as of the files in etc', async () => {
    const broken = ruleset('b', '100200', '99');
    const { errors } = await client.call('ruleset.check', { ruleset: broken });
    expect(errors.join('\n')).to.include('etc/rules/local.xml:2').and.include('99');
    expect((await client.call('ruleset.check', {})).errors.join('\n')).to.include('etc/rules/local.xml:2');
    enforce(broken);
    expect((await client.call('ruleset.switch', { ruleset: broken })).error).to.equal(1);
    expect(await ids()).to.deep.equal([100_100]);
    // One that is not there is not an empty one.
    enforce('c'.repeat(64));
    expect((await client.call('ruleset.switch', { ruleset: 'c'.repeat(64) })).error).to.equal(1);
    expect(await ids()).to.deep.equal([100_100]);
  });

  it('a reload has what is in etc put in force in the cluster first, and says why it is not', async () => {
    let answer: unknown = { state: 'refused', problems: ["node 'n2': Invalid level (etc/rules/local.xml:2)"] };
    const clusterd = await serveContract(home, clusterdContract, { 'ruleset.settle': () => answer });
    try {
      const { error, data } = await client.call('ruleset.reload', {});
      expect({ error, data }).to.deep.equal({
        error: 1,
        data: ["The cluster does not take the ruleset in etc: node 'n2': Invalid level (etc/rules/local.xml:2)"],
      });
      expect(await ids()).to.deep.equal([100_100]);
      enforce(ruleset('b', '100200'));
      answer = { state: 'in_force', problems: [] };
      expect((await client.call('ruleset.reload', {})).error).to.equal(0);
      expect(await ids()).to.deep.equal([100_200]);
    } finally {
      await clusterd.stop();
    }
    // Without svc-clusterd what is in force stays.
    expect((await client.call('ruleset.reload', {})).error).to.equal(0);
    expect(await ids()).to.deep.equal([100_200]);
  });
});
