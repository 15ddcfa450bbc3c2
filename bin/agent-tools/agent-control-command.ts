import { Command } from 'commander';
import { resolveHome } from '../../lib/home/resolve-home.js';
import { describeError } from '../../lib/log/describe-error.js';
import { versionText } from '../../lib/product/version.js';
import { shownText } from '../terminal/shown-text.js';
import { parseArguments, type ToolStreams } from '../terminal/tool-arguments.js';
import { AgentControl, type ListedAgent } from './agent-control.js';
import { AgentControlError } from './agent-control-error.js';
import type { AgentOrder } from './agent-order.js';

type AgentControlOptions = {
  readonly home?: string;
  readonly l?: true;
  readonly c?: true;
  readonly n?: true;
  readonly i?: string;
  readonly R?: true;
  readonly r?: true;
  readonly a?: true;
  readonly u?: string;
  readonly b?: string;
  readonly f?: string;
  readonly L?: true;
  readonly s?: true;
  readonly j?: true;
};

type AgentControlAction = (tool: AgentControl, options: AgentControlOptions, streams: ToolStreams) => Promise<void>;

const TITLE = 'Security Manager agent_control.';
const LIST_TITLES = { all: 'available', active: 'active', 'not active': 'not active' } as const;

/**
 * `agent_control`: shows agents and tells them to restart or to scan (agents-and-groups.md 9.3, daemons-and-config.md 12).
 * @param args without node and script
 * @returns exit code: 0 done, 1 not
 */
export async function agentControlCommand(args: readonly string[], streams: ToolStreams): Promise<number> {
  const command = new Command('agent_control')
    .description('Shows the agents of a manager and tells them what to do.')
    .version(versionText('agent_control'), '-V, --version', 'show version and licence')
    .helpOption('-h, --help', 'show this help')
    .option('-l', 'list the agents')
    .option('-c', 'with -l: only those that are active')
    .option('-n', 'with -l: only those that are not active')
    .option('-i <id>', 'what is known of an agent')
    .option('-R', 'restart agents: -a or -u')
    .option('-r', 'run an integrity scan on agents: -a or -u')
    .option('-b <ip>', 'run an active response against this address, with -f and -a or -u')
    .option('-f <response>', 'name of the active response')
    .option('-a', 'all active agents')
    .option('-u <id>', 'this agent')
    .option('-L', 'list the active responses')
    .option('-s', 'answer in CSV')
    .option('-j', 'answer in JSON')
    .option('--home <dir>', 'home of the manager');
  const ended = parseArguments(command, args, streams);
  if (ended !== undefined) return ended;
  const options = command.opts<AgentControlOptions>();
  const action = chosenAction(options);
  if (action === undefined) {
    streams.writeError("** Invalid argument combination.\nTry 'agent_control --help' for more information.\n");
    return 1;
  }
  return run(action, options, streams);
}

/** @returns undefined when the options do not belong together */
function chosenAction({ l, c, n, i, R, r, a, u, b, f, L, s, j }: AgentControlOptions): AgentControlAction | undefined {
  const actions = [
    ...(l === undefined ? [] : [list]),
    ...(i === undefined ? [] : [info]),
    ...(R === undefined ? [] : [order('restart')]),
    ...(r === undefined ? [] : [order('scan')]),
    ...(b === undefined && f === undefined ? [] : [respond]),
    ...(L === undefined ? [] : [listResponses]),
  ];
  const forAgents = R !== undefined || r !== undefined || b !== undefined || f !== undefined;
  const wrong =
    actions.length !== 1 ||
    (l === undefined && (c !== undefined || n !== undefined)) ||
    (c !== undefined && n !== undefined) ||
    (!forAgents && (a !== undefined || u !== undefined)) ||
    (a !== undefined && u !== undefined) ||
    (b === undefined) !== (f === undefined) ||
    (s !== undefined && j !== undefined);
  return wrong ? undefined : actions[0];
}

async function run(action: AgentControlAction, options: AgentControlOptions, streams: ToolStreams): Promise<number> {
  let tool: AgentControl | undefined;
  try {
    tool = new AgentControl(resolveHome(options.home));
    await action(tool, options, streams);
    return 0;
  } catch (error) {
    if (options.j === true && error instanceof AgentControlError) {
      streams.write(`${JSON.stringify({ error: error.number, message: error.message })}\n`);
    } else {
      streams.writeError(error instanceof AgentControlError ? `** ${error.message}\n` : `${describe(error)}\n`);
    }
    return 1;
  } finally {
    tool?.close();
  }
}

const describe = (error: unknown) => `agent_control: ${describeError(error)}`;

const csv = (values: readonly string[]) => `${shownText(values.join(','))},\n`;

const json = (data: unknown) => `${JSON.stringify({ error: 0, data })}\n`;

/** Name as lists show it. */
function title({ id, name }: ListedAgent): string {
  return id === '000' ? `${name} (server)` : name;
}

const list: AgentControlAction = async (tool, { c, n, s, j }, { write }) => {
  const which = c === true ? 'active' : n === true ? 'not active' : 'all';
  const agents: ListedAgent[] = [];
  for await (const agent of tool.list(which)) agents.push(agent);
  if (j === true) {
    write(json(agents));
  } else if (s === true) {
    write(agents.map((agent) => csv([agent.id, title(agent), agent.ip, agent.status])).join(''));
  } else {
    const lines = agents.map(
      (agent) => `   ID: ${agent.id}, Name: ${title(agent)}, IP: ${agent.ip}, ${agent.status}\n`,
    );
    write(`\n${TITLE} List of ${LIST_TITLES[which]} agents:\n${lines.join('')}\n`);
  }
};

const info: AgentControlAction = async (tool, { i = '', s, j }, { write }) => {
  const agent = await tool.info(i);
  const { id, ip, status, os, version, configSum, mergedSum, lastKeepAlive } = agent;
  if (j === true) {
    write(json(agent));
  } else if (s === true) {
    write(csv([id, title(agent), ip, status, os, version, configSum, mergedSum, lastKeepAlive]));
  } else {
    const lines = [
      `   Agent ID:   ${id}`,
      `   Agent Name: ${title(agent)}`,
      `   IP address: ${ip}`,
      `   Status:     ${status}`,
      '',
      `   Operating system:    ${os}`,
      `   Client version:      ${version}`,
      `   Configuration hash:  ${configSum}`,
      `   Shared file hash:    ${mergedSum}`,
      `   Last keep alive:     ${lastKeepAlive}`,
      '',
      `   Syscheck last started at:  ${agent.syscheckTime}`,
      `   Syscheck last ended at:    ${agent.syscheckEndTime}`,
    ];
    write(`\n${TITLE} Agent information:\n${lines.map(shownText).join('\n')}\n\n`);
  }
};

/** What is said of an order: to one agent, of which the id follows, and to all. */
function orderTexts(what: AgentOrder): { readonly one: string; readonly all: string } {
  if (what === 'restart') return { one: 'Restarting agent:', all: 'Restarting agent: (all)' };
  const scan = 'Restarting Syscheck/Rootcheck on';
  if (what === 'scan') return { one: `${scan} agent:`, all: `${scan} all agents.` };
  const response = `Running active response '${what.response}' on:`;
  return { one: response, all: `${response} all` };
}

function order(what: AgentOrder): AgentControlAction {
  return async (tool, { a, u, j }, { write }) => {
    if (a === undefined && u === undefined) throw new AgentControlError(45, 'Agent not specified');
    const { one, all } = orderTexts(what);
    let text = all;
    if (u !== undefined) {
      await tool.order(what, u);
      text = `${one} ${u}`;
    }
    const sent = u === undefined ? await tool.orderAll(what) : 1;
    write(j === true ? json(text) : `\n${TITLE} ${text}\n${u === undefined ? `Sent to ${sent} active agents.\n` : ''}`);
  };
}

const respond: AgentControlAction = (tool, options, streams) =>
  order({ response: options.f ?? '', address: options.b ?? '' })(tool, options, streams);

const listResponses: AgentControlAction = (tool, { j }, { write }) => {
  const responses = tool.responses();
  const lines = responses.map(({ name, executable }) => `   Response name: ${name}, command: ${executable}\n`);
  const text = lines.length === 0 ? '   No active response available.\n' : lines.join('');
  write(j === true ? json(responses) : `\n${TITLE} Available active responses:\n\n${text}\n`);
  return Promise.resolve();
};
