import { Command } from 'commander';
import { formatAgentId, isAgentId } from '../../lib/agentlink/agent-identity.js';
import { ConfigError } from '../../lib/config/config-error.js';
import { HomeError, readHomeRecord } from '../../lib/home/home-record.js';
import { resolveHome } from '../../lib/home/resolve-home.js';
import { describeError } from '../../lib/log/describe-error.js';
import { becomeServiceUser } from '../../lib/process/drop-privileges.js';
import { versionText } from '../../lib/product/version.js';
import { readLines } from '../terminal/read-lines.js';
import { shownText } from '../terminal/shown-text.js';
import { parseArguments, type ToolStreams } from '../terminal/tool-arguments.js';
import { AgentGroups } from './agent-groups.js';
import { AgentGroupsError } from './agent-groups-error.js';

type AgentGroupsOptions = {
  readonly home?: string;
  readonly list?: true;
  readonly listFiles?: true;
  readonly add?: true;
  readonly force?: true;
  readonly showGroup?: true;
  readonly showSync?: true;
  readonly remove?: true;
  readonly agentId?: string;
  readonly group?: string;
  readonly quiet?: true;
  readonly debug?: true;
  readonly usage?: true;
};

/** Streams of the program; what the user answers is read from `input`. */
export type AgentGroupsStreams = ToolStreams & { readonly input: AsyncIterable<Buffer> };

/** Something to be done, and then said. */
type AgentGroupsAction = (tool: AgentGroups, agree: (question: string) => Promise<boolean>) => Promise<string>;

/** Options that do not belong together or need another one. */
class InvalidOptionsError extends Error {}

const CANCELLED = 'Cancelled.\n';

/**
 * `agent_groups`: shows and changes groups and who is in them (agents-and-groups.md 9.2). As of the reference, errors
 * are written where answers are.
 * @param args without node and script
 * @returns exit code: 0 done or cancelled, 1 not done
 */
export async function agentGroupsCommand(args: readonly string[], streams: AgentGroupsStreams): Promise<number> {
  const command = new Command('agent_groups')
    .description('Shows and changes the groups of a manager and the agents in them; without an option it lists them.')
    .version(versionText('agent_groups'), '-V, --version', 'show version and licence')
    .helpOption('-h, --help', 'show this help')
    .option('-l, --list', 'list the groups, with -g the agents of one')
    .option('-c, --list-files', 'list the files of a group: -g')
    .option('-a, --add', 'make a group: -g; or put an agent into one: -i and -g')
    .option('-f, --force', 'with -a -i -g: take the agent out of all other groups')
    .option('-s, --show-group', 'show the groups of an agent: -i')
    .option('-S, --show-sync', 'show whether an agent has the files of its groups: -i')
    .option('-r, --remove', 'remove a group: -g; or take an agent out of one, -i and -g, or of all: -i')
    .option('-i, --agent-id <id>', 'the agent')
    .option('-g, --group <group>', 'the group')
    .option('-q, --quiet', 'ask nothing')
    .option('-d, --debug', 'show where an unexpected error comes from')
    .option('-u, --usage', 'show this help')
    .option('--home <dir>', 'home of the manager');
  const ended = parseArguments(command, args, streams);
  if (ended === 1) streams.write(invalid());
  if (ended !== undefined) return ended;
  const options = command.opts<AgentGroupsOptions>();
  if (options.usage === true) {
    streams.write(command.helpInformation());
    return 0;
  }
  return run(options, streams);
}

async function run(options: AgentGroupsOptions, streams: AgentGroupsStreams): Promise<number> {
  const agree = async (question: string): Promise<boolean> => {
    if (options.quiet === true) return true;
    streams.write(question);
    for await (const line of readLines(streams.input)) return line === 'y' || line === 'Y';
    return false;
  };
  let tool: AgentGroups | undefined;
  try {
    const action = chosenAction(options);
    const home = resolveHome(options.home);
    // The folders of groups are the service user's.
    becomeServiceUser(readHomeRecord(home));
    tool = new AgentGroups(home);
    streams.write(await action(tool, agree));
    return 0;
  } catch (error) {
    if (error instanceof HomeError || error instanceof ConfigError) {
      streams.writeError(`agent_groups: ${describeError(error)}\n`);
    } else {
      streams.write(errorText(error));
    }
    if (options.debug === true && error instanceof Error) streams.writeError(`${error.stack ?? error.message}\n`);
    return 1;
  } finally {
    tool?.close();
  }
}

function errorText(error: unknown): string {
  if (error instanceof InvalidOptionsError) return invalid(error.message);
  if (error instanceof AgentGroupsError) return `Error ${error.number}: ${error.message}\n`;
  return `Internal error: ${describeError(error)}\n`;
}

function invalid(reason?: string): string {
  const first = reason === undefined ? 'Invalid options.' : `Invalid options: ${reason}`;
  return `${first}\nTry '--help' for more information.\n\n`;
}

/** @throws InvalidOptionsError */
function chosenAction(options: AgentGroupsOptions): AgentGroupsAction {
  const { list, listFiles, add, showGroup, showSync, remove, agentId, group } = options;
  const chosen = [list, listFiles, add, showGroup, showSync, remove].filter((option) => option !== undefined);
  if (chosen.length > 1) throw new InvalidOptionsError('Bad argument combination.');
  if (listFiles !== undefined) return showFiles(needed(group, 'Missing group.'));
  if (showGroup !== undefined) return showGroups(needed(agentId, 'Missing agent ID.'));
  if (showSync !== undefined) return showSynchronization(needed(agentId, 'Missing agent ID.'));
  if (add !== undefined) return chosenAddition(options);
  if (remove !== undefined) return chosenRemoval(options);
  return group === undefined ? listGroups : listAgents(group);
}

function chosenAddition({ agentId, group, force }: AgentGroupsOptions): AgentGroupsAction {
  if (group === undefined) {
    throw new InvalidOptionsError(agentId === undefined ? 'Missing agent ID or group.' : 'Missing group.');
  }
  return agentId === undefined ? createGroup(group) : assign(agentId, group, force === true);
}

function chosenRemoval({ agentId, group }: AgentGroupsOptions): AgentGroupsAction {
  if (agentId !== undefined) return group === undefined ? unassignAll(agentId) : unassign(agentId, group);
  return removeGroup(needed(group, 'Missing agent ID or group.'));
}

function needed(value: string | undefined, missing: string): string {
  if (value === undefined) throw new InvalidOptionsError(missing);
  return value;
}

/** An id as it is shown, also one that was typed without zeros. */
const shownId = (text: string) => (isAgentId(text) ? formatAgentId(Number(text)) : text);

const listGroups: AgentGroupsAction = async (tool) => {
  const { groups, unassigned } = await tool.groups();
  const lines = groups.map(({ name, count }) => `  ${name} (${count})\n`);
  return `Groups (${groups.length}):\n${lines.join('')}Unassigned agents: ${unassigned}.\n`;
};

function listAgents(group: string): AgentGroupsAction {
  return async (tool) => {
    const agents = await tool.agentsOf(group);
    if (agents.length === 0) return `No agents found in group '${group}'.\n`;
    const lines = agents.map(({ id, name }) => `  ID: ${id}  Name: ${name}.\n`);
    return `${agents.length} agent(s) in group '${group}':\n${lines.join('')}`;
  };
}

function showFiles(group: string): AgentGroupsAction {
  return async (tool) => {
    const files = await tool.files(group);
    const width = files.reduce((longest, { filename }) => Math.max(longest, filename.length), 0) + 2;
    const lines = files.map(({ filename, hash }) => `  ${shownText(filename).padEnd(width)}[${hash}]\n`);
    return `${files.length} files for '${group}' group:\n${lines.join('')}`;
  };
}

function showGroups(id: string): AgentGroupsAction {
  return async (tool) => {
    const agent = await tool.agent(id);
    const groups = agent.group.length === 0 ? 'Null' : agent.group.join(', ');
    return `The agent '${agent.name}' with ID '${agent.id}' belongs to groups: ${groups}.\n`;
  };
}

function showSynchronization(id: string): AgentGroupsAction {
  return async (tool) => {
    const agent = await tool.agent(id);
    const word = (await tool.isSynchronized(agent)) ? 'is' : 'is not';
    return `Agent '${agent.id}' ${word} synchronized. \n`;
  };
}

/** Asks, does, and says that it was done. */
function asked(question: string, done: string, work: (tool: AgentGroups) => Promise<void>): AgentGroupsAction {
  return async (tool, agree) => {
    if (!(await agree(`${question} [y/N]: `))) return CANCELLED;
    await work(tool);
    return `${done}\n`;
  };
}

const createGroup = (group: string) =>
  asked(`Do you want to create the group '${group}'?`, `Group '${group}' created.`, (tool) => tool.create(group));

const removeGroup = (group: string) =>
  asked(`Do you want to remove the '${group}' group?`, `Group ${group} removed.`, (tool) => tool.remove(group));

function assign(text: string, group: string, single: boolean): AgentGroupsAction {
  const id = shownId(text);
  const question = `Do you want to add the group '${group}' to the agent '${id}'?`;
  return asked(question, `Group '${group}' added to agent '${id}'.`, (tool) => tool.assign(text, group, single));
}

function unassign(text: string, group: string): AgentGroupsAction {
  const id = shownId(text);
  const question = `Do you want to delete the group '${group}' of agent '${id}'?`;
  return asked(question, `Agent '${id}' removed from ${group}.`, (tool) => tool.unassign(text, group));
}

function unassignAll(text: string): AgentGroupsAction {
  const id = shownId(text);
  // The reference says `None`, and scripts may look for it.
  return asked(`Do you want to delete all groups of agent '${id}'?`, `Agent '${id}' removed from None.`, (tool) =>
    tool.unassignAll(text),
  );
}
