import { Command, InvalidArgumentError } from 'commander';
import { parseDuration } from '../../lib/config/units.js';
import { HomeError, readHomeRecord } from '../../lib/home/home-record.js';
import { resolveHome } from '../../lib/home/resolve-home.js';
import { describeError } from '../../lib/log/describe-error.js';
import { becomeServiceUser } from '../../lib/process/drop-privileges.js';
import { versionText } from '../../lib/product/version.js';
import { parseArguments, type ToolStreams } from '../terminal/tool-arguments.js';
import { ManageAgents, ManageAgentsError } from './manage-agents.js';

type ManageAgentsOptions = {
  readonly home?: string;
  readonly l?: true;
  readonly a?: string;
  readonly n?: string;
  readonly e?: string;
  readonly r?: string;
  readonly i?: string;
  readonly f?: string;
  readonly R?: number;
  readonly D?: number;
  readonly j?: true;
};

/** One thing the program can be asked to do. */
type ManageAgentsAction = (
  tool: ManageAgents,
  options: ManageAgentsOptions,
) => Promise<{ readonly text: string; readonly json: unknown }>;

/**
 * `manage_agents`: lists, adds and removes agents, shows and imports keys (agents-and-groups.md 9.3). It asks
 * svc-authd, the only writer of the key file of a manager.
 * @param args without node and script
 * @returns exit code: 0 done, 1 not
 */
export async function manageAgentsCommand(args: readonly string[], streams: ToolStreams): Promise<number> {
  const command = new Command('manage_agents')
    .description('Lists, adds and removes the agents of a manager, and imports the key of an agent.')
    .version(versionText('manage_agents'), '-V, --version', 'show version and licence')
    .helpOption('-h, --help', 'show this help')
    .option('--home <dir>', 'home of the manager or of the agent')
    .option('-l', 'list the agents')
    .option('-a <ip>', 'add an agent with this address, with -n')
    .option('-n <name>', 'name of the agent to add')
    .option('-e <id>', 'show the key of an agent, to be imported there')
    .option('-r <id>', 'remove an agent')
    .option('-i <key>', 'on an agent: import its key')
    .option('-f <file>', 'add the agents of a file, a line IP,NAME each')
    .option('-R <seconds>', 'with -a or -f: replace an agent registered at least so long ago', seconds)
    .option('-D <seconds>', 'with -a or -f: replace an agent disconnected for at least so long', seconds)
    .option('-j', 'answer in JSON');
  const ended = parseArguments(command, args, streams);
  if (ended !== undefined) return ended;
  const options = command.opts<ManageAgentsOptions>();
  const actions = [
    ...(options.l === undefined ? [] : [list]),
    ...(options.a === undefined && options.n === undefined ? [] : [add]),
    ...(options.e === undefined ? [] : [extract]),
    ...(options.r === undefined ? [] : [remove]),
    ...(options.i === undefined ? [] : [importKey]),
    ...(options.f === undefined ? [] : [addFile]),
  ];
  const [action] = actions;
  if (action === undefined || actions.length > 1) {
    streams.writeError('manage_agents: exactly one of -l, -a with -n, -e, -r, -i and -f is needed\n');
    return 1;
  }
  return run(action, options, streams);
}

async function run(action: ManageAgentsAction, options: ManageAgentsOptions, streams: ToolStreams): Promise<number> {
  const home = resolveHome(options.home);
  let tool: ManageAgents | undefined;
  try {
    const record = readHomeRecord(home);
    // The key file of a manager is the service user's; a file of new agents is whoever's who names it.
    if (record.role === 'server' && options.f === undefined) becomeServiceUser(record);
    tool = new ManageAgents(home, record);
    const { text, json } = await action(tool, options);
    streams.write(options.j === true ? `${JSON.stringify({ error: 0, data: json })}\n` : text);
    return 0;
  } catch (error) {
    if (options.j === true && error instanceof ManageAgentsError) {
      streams.write(`${JSON.stringify({ error: error.number, message: error.message })}\n`);
    } else if (error instanceof ManageAgentsError || error instanceof HomeError) {
      streams.writeError(`manage_agents: ${error.message}\n`);
    } else {
      streams.writeError(`manage_agents: ${describeError(error)}\n`);
    }
    return 1;
  } finally {
    tool?.close();
  }
}

const list: ManageAgentsAction = async (tool) => {
  const agents = await tool.list();
  const lines = agents.map(({ id, name, ip }) => `   ID: ${id}, Name: ${name}, IP: ${ip}\n`);
  return {
    text:
      agents.length === 0
        ? '\n** No agent available. You need to add one first.\n'
        : `\nAvailable agents: \n${lines.join('')}`,
    json: agents,
  };
};

const add: ManageAgentsAction = async (tool, { a, n, R, D }) => {
  if (a === undefined || n === undefined) throw new ManageAgentsError(76, '-a <ip> and -n <name> belong together');
  const id = await tool.add(n, a, { registeredFor: R, disconnectedFor: D });
  return { text: `Agent added with ID ${id}.\n`, json: { id, message: 'Agent added' } };
};

const addFile: ManageAgentsAction = async (tool, { f = '', R, D }) => {
  const added = await tool.addFile(f, { registeredFor: R, disconnectedFor: D });
  return {
    text: added.map((id) => `Agent added with ID ${id}.\n`).join(''),
    json: added.map((id) => ({ id, message: 'Agent added' })),
  };
};

const extract: ManageAgentsAction = async (tool, { e = '' }) => {
  const key = await tool.extract(e);
  return { text: `\nAgent key information for '${e}' is: \n${key}\n`, json: key };
};

const remove: ManageAgentsAction = async (tool, { r = '' }) => {
  await tool.remove(r);
  return { text: `Agent '${r}' removed.\n`, json: 'Agent removed' };
};

const importKey: ManageAgentsAction = async (tool, { i = '' }) => {
  const { id, name, ip } = await tool.importKey(i);
  const text = `Agent information:\n   ID:${id}\n   Name:${name}\n   IP Address:${ip}\n\nAdded.\n`;
  return { text, json: { id, message: 'Agent added' } };
};

function seconds(text: string): number {
  const value = parseDuration(text);
  if (value === undefined) throw new InvalidArgumentError('a number of seconds is needed');
  return value;
}
