import { Command } from 'commander';
import { versionText } from '../../lib/product/version.js';
import { parseArguments, type ToolStreams } from '../terminal/tool-arguments.js';

/** What svc-sca was asked for. */
export type ScaOptions = {
  readonly home?: string;
  /** Ids of checks. */
  readonly check?: readonly string[];
  readonly base: string;
  readonly validate?: true;
  readonly commands: boolean;
  readonly trust?: true;
  readonly json?: true;
  readonly verbose?: true;
};

/** Exit codes: all passed, one failed, something could not be run or read, called off. */
export const SCA_EXIT = { passed: 0, failed: 1, broken: 2, interrupted: 130 } as const;

const HELP = `
Without POLICY those of the home's <sca> are taken: all of ruleset/sca, and what the configuration names. Each check is shown
with its result; of one that failed or is not applicable each rule that was evaluated, and what was found.

Exit status: 0 when every check passed or is not applicable, 1 when one failed, 2 when a policy is not right or nothing could be
evaluated.

Examples:
  svc-sca                                   what this host's own policies say
  svc-sca --validate my-policy.yml          only reads it, and names file, line, check and field of what is wrong
  svc-sca --check 1800010 -v my-policy.yml  one check, with every rule
`;

/** Reads the command line; help and errors are printed here. @returns the exit code when there is nothing more to do */
export function parseScaOptions(
  args: readonly string[],
  streams: ToolStreams,
): { readonly paths: readonly string[]; readonly options: ScaOptions } | number {
  const command = new Command('svc-sca')
    .description('Evaluates policies of the security configuration assessment on this host, without a daemon.')
    .argument('[policy...]', 'policy files')
    .version(versionText('svc-sca'), '-V, --version', 'show version and licence')
    .helpOption('-h, --help', 'show this help')
    .option('--check <id...>', 'only checks with these ids')
    .option('--validate', 'read the policies and evaluate nothing')
    .option('--base <dir>', 'look for all paths below this directory', '')
    .option('--no-commands', 'run no commands: rules that need one say nothing')
    .option('--trust', 'run commands of policies that others than root could have written, too')
    .option('-j, --json', 'one JSON object a check')
    .option('-v, --verbose', 'show the rules of checks that passed, too')
    .option('--home <dir>', 'home whose policies and options are used')
    .addHelpText('after', HELP);
  const done = parseArguments(command, args, streams);
  if (done !== undefined) return done === 0 ? SCA_EXIT.passed : SCA_EXIT.broken;
  return { paths: command.args, options: command.opts<ScaOptions>() };
}
