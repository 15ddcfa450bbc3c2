import { Command, CommanderError, Option } from 'commander';
import type { DaemonCatalogue } from '../../lib/control/daemon-catalogue.js';
import type { Home } from '../../lib/home/home.js';
import { readHomeRecord } from '../../lib/home/home-record.js';
import { resolveHome } from '../../lib/home/resolve-home.js';
import { describeError } from '../../lib/log/describe-error.js';
import { usageErrors } from '../../lib/product/usage-errors.js';
import { versionText } from '../../lib/product/version.js';
import type { ControlOutput } from './control-output.js';
import type { Suite } from './suite-commands.js';

/** What the control program runs in. Tests hand in their own. */
export type ControlEnvironment = {
  readonly catalogue: DaemonCatalogue;
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Whether standard output is a terminal: people get a table there. */
  readonly terminal: boolean;
  /** Ends what goes on by itself, `stats --watch`; without it a signal to the process does. */
  readonly signal?: AbortSignal;
};

type HomeOption = { readonly home?: string };

/** The command line of `svc-control`, to which groups of commands are added, and what becomes of the one that is typed. */
export class ControlProgram {
  /** Of all commands. */
  readonly command: Command;
  readonly environment: ControlEnvironment;
  readonly output: ControlOutput;
  #exitCode = 0;

  constructor(environment: ControlEnvironment, output: ControlOutput) {
    this.environment = environment;
    this.output = output;
    this.command = new Command('svc-control')
      .description('Controls the daemons of a Security Manager home.')
      .exitOverride()
      .configureOutput({
        writeOut: environment.write,
        writeErr: environment.writeError,
        ...usageErrors('svc-control'),
      })
      .helpOption('-h, --help', 'show this help')
      .version(versionText('svc-control'), '-V, --version', 'show version and licence')
      .option('-d', 'accepted as in other programs; daemons: see "enable debug"')
      .addOption(new Option('-j', 'JSON output, in any place'))
      .addOption(homeOption())
      .showHelpAfterError('Try: svc-control --help');
  }

  /** Does what was typed. @returns the exit code; what goes wrong is said */
  async run(args: readonly string[]): Promise<number> {
    try {
      await this.command.parseAsync([...args], { from: 'user' });
      return this.#exitCode;
    } catch (error) {
      if (error instanceof CommanderError) return error.exitCode;
      const message = describeError(error);
      this.environment.writeError(`svc-control: ${message}\n`);
      this.output.document({ error: 1, message });
      return 1;
    }
  }

  /**
   * Adds a command with an operand.
   * @param spec name and operand: `<file>` is a text, `[daemon...]` a list
   * @param act gives the exit code
   * @param group of `group`; without it the command is the program's own
   */
  withOperand<T extends string | string[]>(
    spec: string,
    description: string,
    act: (operand: T, command: Command) => number | Promise<number>,
    group = this.command,
  ): Command {
    return group
      .command(spec)
      .description(description)
      .addOption(homeOption())
      .action(async (operand: T, _options: unknown, command: Command) => {
        this.#exitCode = await act(operand, command);
      });
  }

  /** Adds one without; its action gets one argument less. */
  withoutOperand(
    name: string,
    description: string,
    act: (command: Command) => number | Promise<number>,
    group = this.command,
  ): Command {
    return group
      .command(name)
      .description(description)
      .addOption(homeOption())
      .action(async (_options: unknown, command: Command) => {
        this.#exitCode = await act(command);
      });
  }

  /** Adds a word before commands that belong together. */
  group(name: string, description: string): Command {
    return this.command.command(name).description(description);
  }

  /** What commands about daemons work on. @throws HomeError */
  suite(home: Home): Suite {
    return { home, record: readHomeRecord(home), catalogue: this.environment.catalogue, output: this.output };
  }
}

/** The home that a command is about. @throws Error when there is none */
export function homeOf(command: Command): Home {
  return resolveHome(command.optsWithGlobals<HomeOption>().home);
}

function homeOption(): Option {
  return new Option('--home <dir>', 'the home (default: $SVC_HOME, else the installed one, else .home)');
}
