import { type Command, Option } from 'commander';
import { ApiCaller } from './api-caller.js';
import type { ApiStreams } from './api-streams.js';
import type { SessionOptions } from './login.js';
import { firstLine } from './password.js';
import { DEFAULT_SESSION } from './session-store.js';
import { type ApiOutput, outputOf, OUTPUTS } from './show-answer.js';
import { ApiUsageError } from './usage-error.js';

/** Exit codes: done, not done or not of all, not understood or not sent. */
export const EXIT = { fine: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** What commands have in common while the program runs. */
export type CommandKit = {
  readonly streams: ApiStreams;
  /** Told the exit code of the command that ran. */
  readonly ended: (exitCode: number) => void;
};

/** Options of every command that calls the API. */
export type CallOptions = SessionOptions & {
  readonly output?: ApiOutput;
  readonly json?: true;
  readonly yes?: true;
};

/** What a command does its work with. */
export type CommandRun<Options> = {
  readonly caller: ApiCaller;
  readonly streams: ApiStreams;
  readonly options: Options & CallOptions;
  readonly output: ApiOutput;
};

/** Options that say whose login is used. */
export function sessionOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--session <name>', 'login to use, of several').env('SVC_API_SESSION').default(DEFAULT_SESSION),
    )
    .option('--home <dir>', 'home of a manager on this host');
}

/** Options that say how an answer is shown. */
function outputOptions(command: Command): Command {
  return command
    .addOption(new Option('-o, --output <form>', 'form of the answer; table on a terminal, else json').choices(OUTPUTS))
    .option('--json', 'the same as -o json');
}

/**
 * Adds a command that calls the API.
 * @param usage name and arguments: `restart <agent...>`
 * @param run does it and gives the exit code; arguments are those of the usage
 */
export function addCall<Options extends object, Arguments extends unknown[]>(
  parent: Command,
  { usage, description, setUp = (command) => command }: CallParts,
  kit: CommandKit,
  run: (context: CommandRun<Options>, ...args: Arguments) => Promise<number>,
): void {
  setUp(outputOptions(sessionOptions(parent.command(usage).description(description)))).action(
    async (...given: unknown[]) => {
      // The last two are the options and the command itself.
      const args = given.slice(0, -2) as Arguments;
      const options = given.at(-2) as Options & CallOptions;
      const { streams } = kit;
      const caller = new ApiCaller(options, streams);
      kit.ended(await run({ caller, streams, options, output: outputOf(options, streams) }, ...args));
    },
  );
}

/** How a command is called and what its help says. */
export type CallParts = {
  readonly usage: string;
  readonly description: string;
  readonly setUp?: (command: Command) => Command;
};

/** Adds the option that answers the question of {@link confirmed}. */
export function withYes(command: Command): Command {
  return command.option('-y, --yes', 'ask nothing');
}

/**
 * Asks before something is done that cannot be undone.
 * @throws ApiUsageError where nobody can be asked
 */
export async function confirmed(question: string, yes: true | undefined, streams: ApiStreams): Promise<boolean> {
  if (yes === true) return true;
  if (streams.terminalInput === undefined) throw new ApiUsageError('no terminal to ask whether this is meant: --yes');
  streams.writeError(`${question} [y/N]: `);
  if (/^y(es)?$/i.test((await firstLine(streams.input)) ?? '')) return true;
  streams.writeError('svc-api: nothing was changed\n');
  return false;
}

/** A command that holds others. */
export function addGroup(program: Command, name: string, description: string): Command {
  return program.command(name).description(description);
}
