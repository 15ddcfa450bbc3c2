import { Command, Option } from 'commander';
import type { ClusterNode } from '../../lib/bus/contracts/clusterd.js';
import { AGENT_STATUSES } from '../../lib/bus/contracts/db-agents.js';
import { resolveHome } from '../../lib/home/resolve-home.js';
import { describeError } from '../../lib/log/describe-error.js';
import { versionText } from '../../lib/product/version.js';
import { shownText } from '../terminal/shown-text.js';
import { textTable } from '../terminal/text-table.js';
import { parseArguments, type ToolStreams } from '../terminal/tool-arguments.js';
import { ClusterControl, NotRunningError } from './cluster-control.js';

type Status = (typeof AGENT_STATUSES)[number];
type ClusterControlOptions = {
  readonly home?: string;
  readonly listNodes?: true;
  readonly listAgents?: true;
  readonly health?: true | 'more';
  readonly filterNode?: readonly string[];
  readonly filterAgentsStatus?: readonly Status[];
  readonly debug?: true;
};

/** As people type them; programs that read arguments know short options of one letter alone. */
const SHORT = new Map([
  ['-fn', '--filter-node'],
  ['-fs', '--filter-agents-status'],
]);

/** Files and tables do not travel between two nodes: there is nothing of the kind to tell. */
const NOT_APPLICABLE = 'n/a';

/**
 * `cluster_control`: shows nodes and agents of the cluster that this manager is in (daemons-and-config.md 12).
 * @param args without node and script
 * @returns exit code: 1 when the cluster does not run, or something is wrong
 */
export async function clusterControlCommand(args: readonly string[], streams: ToolStreams): Promise<number> {
  const command = new Command('cluster_control')
    .description('Shows the managers of a cluster, and the agents that are connected to them.')
    .version(versionText('cluster_control'), '-V, --version', 'show version and licence')
    .helpOption('-h, --help', 'show this help')
    .option('-l, --list-nodes', 'list the nodes that are there')
    .option('-a, --list-agents', 'list agents and the node that each is connected to')
    .addOption(
      new Option('-i, --health [more]', 'show how nodes are doing; with "more" all that is known').choices(['more']),
    )
    .option('--filter-node <node...>', 'these nodes alone; also -fn')
    .addOption(
      new Option('--filter-agents-status <status...>', 'with -a: agents of these statuses; also -fs').choices([
        ...AGENT_STATUSES,
      ]),
    )
    .option('-d, --debug', 'show where an unexpected error comes from')
    .option('--home <dir>', 'home of the manager');
  const typed = args.map((argument) => SHORT.get(argument) ?? argument);
  const ended = parseArguments(command, typed, streams);
  if (ended !== undefined) return ended;
  const options = command.opts<ClusterControlOptions>();
  const chosen = [options.listNodes, options.listAgents, options.health].filter((one) => one !== undefined);
  if (chosen.length !== 1 || (options.filterAgentsStatus !== undefined && options.listAgents === undefined)) {
    if (chosen.length > 0) {
      streams.writeError('cluster_control: one of -l, -a and -i; --filter-agents-status goes with -a\n');
    }
    streams.write(command.helpInformation());
    return chosen.length === 0 ? 0 : 1;
  }
  return run(options, streams);
}

async function run(options: ClusterControlOptions, { write, writeError }: ToolStreams): Promise<number> {
  let control: ClusterControl | undefined;
  try {
    control = new ClusterControl(resolveHome(options.home));
    if (options.listNodes === true) await listNodes(control, options, write);
    else if (options.listAgents === true) await listAgents(control, options, write);
    else await showHealth(control, options, write);
    return 0;
  } catch (error) {
    if (error instanceof NotRunningError) write(`${error.message}\n`);
    else writeError(`cluster_control: ${describeError(error)}\n`);
    if (options.debug === true && error instanceof Error) writeError(`${error.stack ?? ''}\n`);
    return 1;
  } finally {
    control?.close();
  }
}

type Write = ToolStreams['write'];

async function listNodes(control: ClusterControl, { filterNode = [] }: ClusterControlOptions, write: Write) {
  const { nodes } = await control.nodes(filterNode);
  const rows = nodes.map(({ name, type, version, ip }) => [name, type, version, ip].map(shownText));
  write(lines(textTable([['NAME', 'TYPE', 'VERSION', 'ADDRESS'], ...rows], 4)));
}

async function listAgents(
  control: ClusterControl,
  { filterNode = [], filterAgentsStatus = [] }: ClusterControlOptions,
  write: Write,
) {
  const rows = [['ID', 'NAME', 'IP', 'STATUS', 'VERSION', 'NODE NAME']];
  for await (const page of control.agents(filterNode, filterAgentsStatus)) {
    for (const { id, name, ip = '', status, version = NOT_APPLICABLE, node_name: node = NOT_APPLICABLE } of page) {
      rows.push([id, name, ip, status, version, node].map(shownText));
    }
  }
  write(lines(textTable(rows, rows[0]?.length ?? 0)));
}

async function showHealth(control: ClusterControl, { filterNode = [], health }: ClusterControlOptions, write: Write) {
  const { view, nodes } = await control.nodes(filterNode);
  write(`Cluster name: ${shownText(view.cluster)}\n\n`);
  if (health === 'more') {
    write(`Connected nodes (${nodes.length}):\n`);
    for (const node of nodes) write(lines(await nodeDetails(control, node)));
    return;
  }
  const workers = nodes.filter(({ type }) => type === 'worker');
  write(`Last completed synchronization for connected nodes (${workers.length}):\n`);
  for (const { name, ip, heardAt } of workers) {
    const parts = [
      ...['Integrity check', 'Integrity sync', 'Agents-info', 'Agent-groups', 'Agent-groups full'].map(
        (what) => `${what}: ${NOT_APPLICABLE}`,
      ),
      `Last keep alive: ${moment(heardAt)}`,
    ];
    write(`    ${shownText(name)} (${shownText(ip)}): ${parts.join(' | ')}.\n`);
  }
}

async function nodeDetails(control: ClusterControl, node: ClusterNode): Promise<string[]> {
  let active = 0;
  for await (const page of control.agents([node.name], ['active'])) active += page.length;
  return [
    `    ${shownText(node.name)} (${shownText(node.ip)})`,
    `        Version: ${shownText(node.version)}`,
    `        Type: ${node.type}`,
    `        Active agents: ${active}`,
    `        Last keep alive: ${node.self ? 'this node' : moment(node.heardAt)}`,
    `        Revision: ${node.revision}`,
  ];
}

/** `2025-06-05T08:00:09.000Z`. @param at epoch milliseconds */
function moment(at: number | null): string {
  return at === null ? NOT_APPLICABLE : new Date(at).toISOString();
}

function lines(of: readonly string[]): string {
  return of.map((line) => `${line}\n`).join('');
}
