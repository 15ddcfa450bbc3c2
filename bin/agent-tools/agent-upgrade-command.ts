import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { formatAgentId, isAgentId } from '../../lib/agentlink/agent-identity.js';
import type { WantedPackage } from '../../lib/bus/contracts/modulesd.js';
import { readHomeRecord } from '../../lib/home/home-record.js';
import { resolveHome } from '../../lib/home/resolve-home.js';
import { describeError } from '../../lib/log/describe-error.js';
import { becomeServiceUser } from '../../lib/process/drop-privileges.js';
import { versionText } from '../../lib/product/version.js';
import { shownText } from '../terminal/shown-text.js';
import { parseArguments, type ToolStreams } from '../terminal/tool-arguments.js';
import { AgentUpgrade, type UpgradeOutcome } from './agent-upgrade.js';

type AgentUpgradeOptions = {
  readonly home?: string;
  readonly agents?: readonly string[];
  readonly repository?: string;
  readonly version?: string;
  readonly force?: true;
  readonly silent?: true;
  readonly listOutdated?: true;
  readonly file?: string;
  readonly execute?: string;
  readonly http?: true;
  readonly package_type?: 'rpm' | 'deb';
  readonly debug?: true;
};

/** Options that cannot be meant so. */
class InvalidOptionsError extends Error {}

/** Widths of the table of `-l`. */
const ID_WIDTH = 6;
const NAME_WIDTH = 36;
const RELEASE = /^v?(\d{1,6}\.\d{1,6}\.\d{1,6})$/;

/**
 * `agent_upgrade`: upgrades agents and shows which are outdated (agents-and-groups.md 9.3).
 * @param args without node and script
 * @returns exit code: 0 done, 1 not done, or not of all agents
 */
export async function agentUpgradeCommand(args: readonly string[], streams: ToolStreams): Promise<number> {
  const command = new Command('agent_upgrade')
    .description('Upgrades agents with packages of the manager, and shows which are outdated.')
    .version(versionText('agent_upgrade'), '-V, --show-version', 'show version and licence')
    .helpOption('-h, --help', 'show this help')
    .option('-a, --agents <ids...>', "the agents, or 'all' that are connected")
    .option('-v, --version <version>', 'version to upgrade to; without it, that of the manager')
    .option('-F, --force', "upgrade also to a version not above the agent's, or above the manager's")
    .option('-f, --file <package>', 'a package of your own, below var/upgrade of the manager')
    .option('-x, --execute <program>', 'with -f: the program of the package that is run')
    .addOption(new Option('--package_type <type>', 'kind of package').choices(['rpm', 'deb']))
    .option('-s, --silent', 'say nothing of upgrades')
    .option('-l, --list-outdated', 'list the agents of another version than the manager')
    .option('-r, --repository <url>', 'of no effect: packages are taken from var/upgrade')
    .option('--http', 'of no effect: packages are taken from var/upgrade')
    .option('-d, --debug', 'show where an unexpected error comes from')
    .option('--home <dir>', 'home of the manager');
  const ended = parseArguments(command, args, streams);
  if (ended !== undefined) return ended;
  const options = command.opts<AgentUpgradeOptions>();
  if (options.agents === undefined && options.listOutdated === undefined) {
    streams.write(command.helpInformation());
    return 0;
  }
  let tool: AgentUpgrade | undefined;
  try {
    const wanted = wantedPackage(options);
    const ids = (options.agents ?? []).flatMap((text) => text.split(',')).filter((text) => text !== '');
    const known = ids.includes('all') ? undefined : ids.map(agentId);
    const home = resolveHome(options.home);
    becomeServiceUser(readHomeRecord(home));
    tool = new AgentUpgrade(home);
    if (options.listOutdated !== undefined) return await listOutdated(tool, streams);
    if (options.repository !== undefined || options.http !== undefined) {
      streams.writeError('agent_upgrade: packages are taken from var/upgrade: no repository is asked\n');
    }
    const say = options.silent === true ? () => {} : streams.write;
    const agents = known ?? (await tool.active());
    const outcomes = await tool.upgrade(agents, wanted, () => {
      say('\nUpgrading...\n');
    });
    say(outcomeText(outcomes));
    return outcomes.every(({ done }) => done) ? 0 : 1;
  } catch (error) {
    streams.writeError(`agent_upgrade: ${describeError(error)}\n`);
    if (options.debug === true && error instanceof Error) streams.writeError(`${error.stack ?? error.message}\n`);
    return 1;
  } finally {
    tool?.close();
  }
}

/** @throws InvalidOptionsError */
function wantedPackage({ file, execute, version, force, package_type: type }: AgentUpgradeOptions): WantedPackage {
  if (file !== undefined) {
    if (version !== undefined || type !== undefined) {
      throw new InvalidOptionsError('-f names the package: -v and --package_type have no meaning beside it');
    }
    const path = file.includes('/') ? resolve(file) : file;
    return execute === undefined ? { kind: 'file', path } : { kind: 'file', path, installer: execute };
  }
  if (execute !== undefined) throw new InvalidOptionsError('-x needs a package of your own: -f');
  const release = version === undefined ? undefined : RELEASE.exec(version)?.[1];
  if (version !== undefined && release === undefined) {
    throw new InvalidOptionsError(`'${version}' is no version: v4.14.0, say`);
  }
  return {
    kind: 'release',
    force: force === true,
    ...(release === undefined ? {} : { version: `v${release}` }),
    ...(type === undefined ? {} : { packageType: type }),
  };
}

/** @throws InvalidOptionsError */
function agentId(text: string): string {
  if (!isAgentId(text)) throw new InvalidOptionsError(`'${text}' is no id of an agent`);
  return formatAgentId(Number(text));
}

async function listOutdated(tool: AgentUpgrade, streams: ToolStreams): Promise<number> {
  const agents = await tool.outdated();
  if (agents.length === 0) {
    streams.write('All agents are updated.\n');
    return 0;
  }
  const row = (id: string, name: string, version: string): string =>
    `${id.padEnd(ID_WIDTH)}${name.padEnd(NAME_WIDTH)}${version}\n`;
  const rows = agents.map(({ id, name, version = '' }) => row(id, name, shownText(version)));
  streams.write(`${row('ID', 'Name', 'Version')}${rows.join('')}\nTotal outdated agents: ${agents.length}\n`);
  return 0;
}

function outcomeText(outcomes: readonly UpgradeOutcome[]): string {
  const done = outcomes.flatMap((outcome) =>
    outcome.done ? [`\tAgent ${outcome.agent} upgraded: ${shownText(`${outcome.from} -> ${outcome.to}`)}\n`] : [],
  );
  const failed = outcomes.flatMap((outcome) =>
    outcome.done ? [] : [`\tAgent ${outcome.agent} status: ${shownText(outcome.reason)}\n`],
  );
  const upgraded = done.length === 0 ? '' : `\nUpgraded agents:\n${done.join('')}`;
  return failed.length === 0 ? upgraded : `${upgraded}\nFailed upgrades:\n${failed.join('')}`;
}
