import { Command } from 'commander';
import { describeError } from '../../lib/log/describe-error.js';
import { usageErrors } from '../../lib/product/usage-errors.js';
import { versionText } from '../../lib/product/version.js';
import { addAgentCommands } from './agent-commands.js';
import { addAlertCommands } from './alert-commands.js';
import { ApiConnectionError } from './api-client.js';
import type { ApiStreams } from './api-streams.js';
import { addCall, type CommandKit, EXIT } from './command-kit.js';
import { addCompletionCommands } from './completion-command.js';
import { addGroupCommands } from './group-commands.js';
import { LoginError } from './login.js';
import { API_METHODS, type ApiMethod } from './operations.js';
import { CalledOffError } from './password.js';
import { ApiRefusalError } from './refusal.js';
import { parseRequest, queryParameters } from './request-line.js';
import { addRoleCommands } from './role-commands.js';
import { readBody, runRequest, withParameter } from './run-request.js';
import { addSessionCommands } from './session-commands.js';
import { SessionError } from './session-store.js';
import { ApiUsageError } from './usage-error.js';
import { addUserCommands } from './user-commands.js';

const VERBS: Readonly<Record<ApiMethod, string>> = { GET: 'read', PUT: 'change', POST: 'make', DELETE: 'remove' };
const EXAMPLES = `
Examples:
  svc-api agents list --status active
  svc-api alerts --level 10 --follow
  svc-api GET '/agents?limit=5' --select id,name,os.name
  svc-api GET /rules level=12-15 search=ssh -o lines | jq .description
  svc-api POST /groups -d '{"group_id": "web"}'
  svc-api users create maria --read-group web
`;

type RequestLineOptions = { readonly select?: string; readonly data?: string; readonly all?: true };

/**
 * `svc-api`: calls the API, for people and scripts.
 * @param args without node and script
 * @returns exit code: 0 done, 1 refused or not done of all, 2 not understood, 130 called off
 */
export async function apiCommand(args: readonly string[], streams: ApiStreams): Promise<number> {
  let exitCode: number = EXIT.usage;
  const kit: CommandKit = {
    streams,
    ended: (code) => {
      exitCode = code;
    },
  };
  const program = new Command('svc-api')
    .description('Calls the API of a manager: operations of its contract, and commands for daily work.')
    .version(versionText('svc-api'), '-V, --version', 'show version and licence')
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void streams.write(text),
      writeErr: streams.writeError,
      ...usageErrors('svc-api'),
    });
  addSessionCommands(program, kit);
  for (const method of API_METHODS) addMethod(program, method, kit);
  addAgentCommands(program, kit);
  addGroupCommands(program, kit);
  addUserCommands(program, kit);
  addRoleCommands(program, kit);
  addAlertCommands(program, kit);
  addCompletionCommands(program, kit);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    return exitCodeOf(error, streams);
  }
}

function addMethod(program: Command, method: ApiMethod, kit: CommandKit): void {
  const setUp = (command: Command): Command => {
    const read = method === 'GET';
    command.alias(method.toLowerCase()).option('--select <fields>', 'fields to show, with commas: id,os.name');
    if (read) command.option('--all', 'all pages, also with a limit, which is the size of one then');
    return command.option('-d, --data <body>', 'body: the text itself, @FILE, or - for the standard input');
  };
  addCall<RequestLineOptions, [string, readonly string[]]>(
    program,
    {
      usage: `${method} <path> [parameters...]`,
      description: `${VERBS[method]}: call an operation, parameters as name=value`,
      setUp,
    },
    kit,
    async ({ caller, streams, options: { select, data, all }, output }, target, pairs) => {
      let request = parseRequest(caller.operations, method, target, pairs);
      const fields = select?.split(',').filter((field) => field !== '');
      if (select !== undefined && queryParameters(request.operation).some(({ name }) => name === 'select')) {
        request = withParameter(request, 'select', select);
      } else if (select !== undefined && output !== 'table') {
        throw new ApiUsageError(
          `${method} ${request.operation.path} has no select: it chooses columns of a table only`,
        );
      }
      const shown = fields ?? request.query.get('select')?.split(',');
      const body = data === undefined ? undefined : await readBody(data, streams.input);
      const parts = { output, all: all === true, ...(shown && { fields: shown }), ...(body !== undefined && { body }) };
      return runRequest(caller, request, parts, streams);
    },
  );
}

function exitCodeOf(error: unknown, { writeError }: ApiStreams): number {
  const say = (text: string): void => {
    writeError(`svc-api: ${text}\n`);
  };
  if (error instanceof CalledOffError) {
    say(error.message);
    return EXIT.interrupted;
  }
  if (error instanceof ApiUsageError) {
    say(error.message);
    return EXIT.usage;
  }
  if (
    error instanceof ApiRefusalError ||
    error instanceof SessionError ||
    error instanceof LoginError ||
    error instanceof ApiConnectionError
  ) {
    say(error.message);
    return EXIT.failed;
  }
  // Commander has said what it has to say.
  if (error instanceof Error && 'exitCode' in error) return error.exitCode === 0 ? EXIT.fine : EXIT.usage;
  if (error instanceof Error && 'code' in error && 'syscall' in error) {
    say(describeError(error));
    return EXIT.failed;
  }
  throw error;
}
