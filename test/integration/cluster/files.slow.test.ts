import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { analysisdContract } from '../../../lib/bus/contracts/analysisd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { filesFacts } from '../../../lib/cluster/record-kinds.js';
import { ClusterHome } from '../../support/cluster/cluster-homes.js';
import { writeEngineFiles } from '../../support/engine/engine-files.js';
import { eventually } from '../../support/eventually.js';
import { natsServers } from '../../support/nats/nats-servers.js';
import type { TemporaryHome } from '../../support/temporary-home.js';

const SECTIONS =
  '<remote><connection>secure</connection><port>0</port><protocol>tcp</protocol></remote>' +
  '<ruleset><rule_dir>etc/rules</rule_dir><decoder_dir>etc/decoders</decoder_dir></ruleset>';
const DECODERS = '<decoder name="d"><program_name>^d$</program_name></decoder>\n';
const FOLDERS = ['queue/db', 'queue/rids', 'queue/sockets', 'logs/alerts', 'var/multigroups', 'backup/cluster'];
/** Real daemons on a busy machine. */
const PATIENCE_MS = 60_000;

const rules = (id: number, level = '5') => `<group name="t,">
  <rule id="1" level="0" noalert="1"><category>syslog</category><description>Any.</description></rule>
  <rule id="${String(id)}" level="${level}"><if_sid>1</if_sid><match>x</match><description>Rule.</description></rule>
</group>
`;

describe('files of a cluster with real daemons', function () {
  this.timeout(300_000);
  const nats = natsServers({ servers: 1, managers: ['n2'] });
  let nodes: ClusterHome[];

  beforeEach(() => {
    nodes = ['n1', 'n2'].map((name) => new ClusterHome(name, nats(), { configuration: SECTIONS, prepare }));
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') {
      for (const node of nodes) console.log(`--- ${node.node}\n${text(node, 'logs/manager.log') ?? ''}`);
    }
    for (const node of nodes) await node.close();
  });

  function prepare(home: TemporaryHome): void {
    for (const folder of FOLDERS) mkdirSync(home.path(folder), { recursive: true });
    writeEngineFiles(home, {
      name: 'none',
      text: '<decoder name="none"><program_name>^none$</program_name></decoder>',
    });
    putIn(home, 'etc/client.keys', `001 one any ${'0123456789abcdef'.repeat(4)}\n`);
    putIn(home, 'etc/rules/local.xml', rules(100_100));
    putIn(home, 'etc/decoders/local.xml', DECODERS);
    putIn(home, 'etc/shared/default/agent.conf', '<agent_config></agent_config>\n');
  }
  function putIn(home: TemporaryHome, path: string, content: string): void {
    mkdirSync(dirname(home.path(path)), { recursive: true });
    writeFileSync(home.path(path), content);
  }
  const put = (node: ClusterHome, path: string, content: string) => {
    putIn(node.home, path, content);
  };
  const text = ({ home }: ClusterHome, path: string) =>
    existsSync(home.path(path)) ? readFileSync(home.path(path), 'utf8') : undefined;
  const within = (what: string, probe: () => unknown) => eventually(what, probe, PATIENCE_MS);

  /** The user's rule that svc-analysisd of a node works by. */
  async function ruleOf({ home }: ClusterHome): Promise<unknown> {
    const client = new RequestClient({ contract: analysisdContract, path: home.socket('svc-analysisd') });
    try {
      return (await client.call('rules.list', {})).rules[1]?.['id'];
    } finally {
      client.close();
    }
  }
  /** How it stands with files of a node, as another one knows it. */
  async function facts(seen: ClusterHome, by: ClusterHome) {
    const { nodes: all } = await by.clusterd.call('cluster.view', {});
    const told = all.find(({ name }) => name === seen.node)?.facts['svc-clusterd']?.['files'];
    return told === undefined ? undefined : filesFacts.parse(told);
  }
  const inSync = (by: ClusterHome) =>
    within('all are the same', async () => {
      const all = await Promise.all(nodes.map((node) => facts(node, by)));
      return all.every((each) => each?.ruleset.synced === true && each.groups.waiting === 0);
    });

  it('a group file is with agents of all nodes; a ruleset in force on all or none; kills change nothing', async () => {
    const [one, two] = nodes as [ClusterHome, ClusterHome];
    await one.start('svc-clusterd', 'svc-analysisd');
    await within('the first ruleset is in force', async () => (await facts(one, one))?.ruleset.synced);
    await two.start('svc-clusterd', 'svc-analysisd', 'svc-db', 'svc-remoted');
    await inSync(one);

    const began = performance.now();
    put(one, 'etc/shared/default/agent.conf', '<agent_config><!-- edited --></agent_config>\n');
    await within('merged', () => text(two, 'etc/shared/default/merged.mg')?.includes('edited'));
    const took = (performance.now() - began).toFixed(0);
    console.log(`    (a group's file was merged on the other node ${took} ms after it was written)`);
    put(one, 'etc/shared/web/agent.conf', '<agent_config></agent_config>\n');
    await within('a new group', () => text(two, 'etc/shared/web/merged.mg') !== undefined);

    put(two, 'etc/rules/local.xml', rules(100_200));
    await within('in force on both', async () => (await ruleOf(one)) === 100_200 && (await ruleOf(two)) === 100_200);
    await inSync(two);
    await within('written on both', () => text(one, 'etc/rules/local.xml') === rules(100_200));

    put(two, 'etc/rules/local.xml', rules(100_300, '99'));
    await within('refused', async () => (await facts(two, one))?.ruleset.state === 'refused');
    expect((await facts(two, one))?.ruleset.problems.join()).to.include('etc/rules/local.xml:3');
    await within('said', () => text(two, 'logs/manager.log')?.includes('does not load and is proposed to no node'));
    expect([await ruleOf(one), await ruleOf(two)]).to.deep.equal([100_200, 100_200]);

    await two.stop('SIGKILL', 'svc-analysisd', 'svc-clusterd');
    put(one, 'etc/shared/web/agent.conf', '<agent_config><!-- while two is away --></agent_config>\n');
    await two.start('svc-analysisd', 'svc-clusterd');
    expect(await ruleOf(two), 'not what lies in etc').to.equal(100_200);
    await within('told after the kill', () => text(two, 'etc/shared/web/agent.conf')?.includes('while two'));

    put(two, 'etc/rules/local.xml', rules(100_300));
    await within('mended', async () => (await ruleOf(one)) === 100_300 && (await ruleOf(two)) === 100_300);
    await inSync(one);
  });
});
