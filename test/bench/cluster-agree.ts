import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { analysisdContract } from '../../lib/bus/contracts/analysisd.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { filesFacts } from '../../lib/cluster/record-kinds.js';
import { ClusterHome } from '../support/cluster/cluster-homes.js';
import { writeEngineFiles } from '../support/engine/engine-files.js';
import { eventually } from '../support/eventually.js';
import { NatsServers } from '../support/nats/nats-servers.js';
import { quantile } from '../support/process/measuring.js';
import type { TemporaryHome } from '../support/temporary-home.js';

/*
 * How long it takes until all nodes have the same: `npm run bench -- cluster-agree [CHANGES]`, 100 by default, at each of three nodes in
 * turn, with the real svc-clusterd and svc-analysisd and three NATS servers, all on this machine. From when a file is written in one
 * home until a group's file is in the two others, and until the engines of all three work by a user's rule.
 */
const changes = Number(process.argv[2] ?? 100);

const SECTIONS =
  '<remote><connection>secure</connection><port>0</port><protocol>tcp</protocol></remote>' +
  '<ruleset><rule_dir>etc/rules</rule_dir><decoder_dir>etc/decoders</decoder_dir></ruleset>';
const FOLDERS = ['queue/db', 'queue/rids', 'queue/sockets', 'logs/alerts', 'var/multigroups', 'backup/cluster'];
const DECODERS = '<decoder name="d"><program_name>^d$</program_name></decoder>\n';

const rules = (id: number): string => `<group name="t,">
  <rule id="1" level="0" noalert="1"><category>syslog</category><description>Any.</description></rule>
  <rule id="${id}" level="5"><if_sid>1</if_sid><match>x</match><description>Rule.</description></rule>
</group>
`;

function put(home: TemporaryHome, path: string, content: string): void {
  mkdirSync(dirname(home.path(path)), { recursive: true });
  writeFileSync(home.path(path), content);
}

function prepare(home: TemporaryHome): void {
  for (const folder of FOLDERS) mkdirSync(home.path(folder), { recursive: true });
  writeEngineFiles(home, {
    name: 'none',
    text: '<decoder name="none"><program_name>^none$</program_name></decoder>',
  });
  put(home, 'etc/rules/local.xml', rules(100_000));
  put(home, 'etc/decoders/local.xml', DECODERS);
  put(home, 'etc/shared/default/agent.conf', '<agent_config></agent_config>\n');
}

function show(what: string, taken: number[]): void {
  taken.sort((one, other) => one - other);
  const at = (share: number): string => quantile(taken, share).toFixed(0);
  console.log(`${what}: ${taken.length} changes, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`);
}

/** Makes changes one after the other. @param change makes one at a node @param isThere whether a node has it */
async function measure(
  what: string,
  nodes: readonly ClusterHome[],
  change: (node: ClusterHome, number: number) => void,
  isThere: (node: ClusterHome, number: number) => boolean | Promise<boolean>,
): Promise<void> {
  const taken: number[] = [];
  for (let number = 1; number <= changes; number += 1) {
    const node = nodes[number % nodes.length];
    if (node === undefined) return;
    const began = performance.now();
    change(node, number);
    for (const each of nodes) await eventually(`${what} ${number} is at ${each.node}`, () => isThere(each, number));
    taken.push(performance.now() - began);
  }
  show(what, taken);
}

const servers = await NatsServers.start();
const nodes = servers.servers.map(
  ({ member }) => new ClusterHome(member.name, servers, { configuration: SECTIONS, prepare }),
);
const engines = nodes.map(
  ({ home }) => new RequestClient({ contract: analysisdContract, path: home.socket('svc-analysisd') }),
);
try {
  for (const node of nodes) {
    await node.start('svc-clusterd', 'svc-analysisd');
    await eventually(`${node.node} has the ruleset of all`, async () => {
      const { nodes: all } = await node.clusterd.call('cluster.view', {});
      const facts = all.find(({ self }) => self)?.facts['svc-clusterd']?.['files'];
      return facts !== undefined && filesFacts.parse(facts).ruleset.synced;
    });
  }
  await measure(
    'a file of a group',
    nodes,
    ({ home }, number) => {
      put(home, 'etc/shared/default/agent.conf', `<agent_config><!-- ${number} --></agent_config>\n`);
    },
    ({ home }, number) =>
      readFileSync(home.path('etc/shared/default/agent.conf'), 'utf8').includes(`<!-- ${number} -->`),
  );
  await measure(
    'a rule of the user',
    nodes,
    ({ home }, number) => {
      put(home, 'etc/rules/local.xml', rules(100_000 + number));
    },
    async (node, number) => {
      const { rules: loaded } = (await engines[nodes.indexOf(node)]?.call('rules.list', {})) ?? { rules: [] };
      // It is in etc a moment later.
      const isWritten = readFileSync(node.home.path('etc/rules/local.xml'), 'utf8') === rules(100_000 + number);
      return isWritten && loaded[1]?.['id'] === 100_000 + number;
    },
  );
} catch (error) {
  for (const { node, home } of nodes) {
    console.error(`--- ${node}\n${readFileSync(home.path('logs/manager.log'), 'utf8')}`);
  }
  throw error;
} finally {
  for (const engine of engines) engine.close();
  for (const node of nodes) await node.close();
  await servers.close();
}
