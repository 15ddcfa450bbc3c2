import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { requestAgentKey } from '../../lib/agents/enrollment-client.js';
import {
  ENROLLMENT_CIPHERS,
  ENROLLMENT_PORT,
  enrollmentRequest,
  enrollmentTls,
  PASSWORD_FILE,
} from '../../lib/agents/enrollment-settings.js';
import { storeOwnKey } from '../../lib/agents/own-key.js';
import { readHomeRecord } from '../../lib/home/home-record.js';
import { resolveHome } from '../../lib/home/resolve-home.js';
import { describeError } from '../../lib/log/describe-error.js';
import { versionText } from '../../lib/product/version.js';
import { parseArguments, type ToolStreams } from '../terminal/tool-arguments.js';

type AgentAuthOptions = {
  readonly home?: string;
  readonly m: string;
  readonly p: number;
  readonly A?: string;
  readonly P?: string;
  readonly G?: string;
  readonly I?: string;
  readonly i?: true;
  readonly v?: string;
  readonly x?: string;
  readonly k?: string;
  readonly c: string;
  readonly a?: true;
};

const MAX_PORT = 65_535;

/**
 * `agent-auth`: gets a key from a manager and makes it the one of this agent (agents-and-groups.md 2.7, 9.3).
 * @param args without node and script
 * @returns exit code: 0 the key is in place, 1 not
 */
export async function agentAuthCommand(args: readonly string[], streams: ToolStreams): Promise<number> {
  const command = new Command('agent-auth')
    .description('Enrols this agent at a manager and stores the key it is given.')
    .version(versionText('agent-auth'), '-V, --version', 'show version and licence')
    .helpOption('-h, --help', 'show this help')
    .requiredOption('-m <manager>', 'host name or address of the manager')
    .option('-p <port>', 'port of enrolment', port, ENROLLMENT_PORT)
    .option('-A <name>', "name of the agent (default: the host's)")
    .option('-P <password>', `password; others on this host may see it, unlike ${PASSWORD_FILE}, the default`)
    .option('-G <groups>', 'groups, separated by commas')
    .option('-I <address>', 'address of the agent: any, an address or a network')
    .option('-i', 'the address the manager sees')
    .option('-v <file>', "verify the manager's certificate with this authority")
    .option('-x <file>', 'certificate of the agent')
    .option('-k <file>', 'its key')
    .option('-c <ciphers>', 'ciphers, as OpenSSL lists them', ENROLLMENT_CIPHERS)
    .option('-a', 'TLS 1.0 and 1.1, too')
    .option('--home <dir>', 'home of the agent');
  const ended = parseArguments(command, args, streams);
  if (ended !== undefined) return ended;
  try {
    await enrol(command.opts<AgentAuthOptions>(), streams);
    return 0;
  } catch (error) {
    streams.writeError(`agent-auth: ERROR: ${describeError(error)}\n`);
    return 1;
  }
}

async function enrol(options: AgentAuthOptions, streams: ToolStreams): Promise<void> {
  const say = (text: string): void => {
    streams.write(`agent-auth: INFO: ${text}\n`);
  };
  const home = resolveHome(options.home);
  const record = readHomeRecord(home);
  if (record.role !== 'agent') throw new Error(`this is done on an agent, and '${home.root}' is none`);
  // Paths on the command line are those of the caller, not of the home.
  const file = (path: string | undefined) => (path === undefined ? undefined : resolve(path));
  const tls = enrollmentTls(home, {
    ca: file(options.v),
    certificate: file(options.x),
    key: file(options.k),
    ciphers: options.c,
    anyVersion: options.a === true,
  });
  const request = await enrollmentRequest(home, {
    name: options.A,
    groups: options.G,
    address: options.I,
    useSourceIp: options.i,
    password: options.P,
    passwordFile: PASSWORD_FILE,
  });
  say(`Requesting a key from server: ${options.m}`);
  say(`Using agent name as: ${request.name}`);
  say('Waiting for server reply');
  const key = await requestAgentKey({ host: options.m, port: options.p, tls }, request);
  storeOwnKey(home, record, key);
  say('Valid key received');
}

function port(text: string): number {
  const value = Number(text);
  if (!/^\d{1,5}$/.test(text) || value < 1 || value > MAX_PORT) {
    throw new InvalidArgumentError(`a port is a number from 1 to ${MAX_PORT}`);
  }
  return value;
}
