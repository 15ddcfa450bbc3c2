import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { usageErrors } from '../../lib/product/usage-errors.js';
import { SHIPPED_LOG_LEVEL } from '../offline/offline-ruleset.js';

/** What svc-logtest was asked for. */
export type LogtestCommandOptions = {
  readonly version?: true;
  readonly debug?: true;
  readonly unitTest?: string;
  readonly location: string;
  readonly quiet?: true;
  readonly explain?: true;
  /** Id of a rule. */
  readonly why?: number;
  readonly verbose?: true;
  readonly home?: string;
  readonly offline?: true;
  readonly ruleset?: readonly string[];
  readonly ndjson?: true;
  readonly text?: true;
  /** Epoch seconds at which the clock stands still. */
  readonly clock?: number;
  readonly logLevel: number;
};

const HELP = `
Log lines are read from the standard input, one event a line. Without --offline they go to the running svc-analysisd
of the home, through queue/sockets/logtest; all lines are one session, which is removed at the end.

Exit status: 0, or 1 when something failed or no line was given. With -U: when the last event met the expectation, how many parts of it are
empty, else 1.

Examples:
  svc-logtest -v                                         type or paste log lines, and see each rule that is tried
  svc-logtest -q -U 5710:5:sshd < sshd.log               expect a rule, a level and a decoder
  svc-logtest --offline --ruleset etc/ruleset            the same without a manager
  svc-logtest --why 5712 < sshd.log                      see what stopped rule 5712
  svc-logtest --offline --ruleset A,B --ndjson --text < any.log
`;

/** Reads the command line; help and errors are printed here. @returns the options, or the exit status */
export function parseLogtestOptions(argv: readonly string[]): LogtestCommandOptions | number {
  const command = new Command('svc-logtest')
    .description('Shows what decoders and rules make of log lines.')
    .configureOutput(usageErrors('svc-logtest'))
    .helpOption('-h, --help', 'show this help')
    .option('-V, --version', 'show version and licence')
    .option('-d, --debug', 'show requests and replies on the standard error stream')
    .option('-U, --unit-test <triple>', 'expect rule:level:decoder; a part may be empty')
    .option(
      '-l, --location <location>',
      'where the events come from; `[001] (web) 10.0.0.4->/path` is an agent',
      'stdin',
    )
    .option('-q, --quiet', 'show errors and failed expectations only')
    .option('-v, --verbose', 'show every rule that is tried')
    .option('--explain', 'show every step that mattered, from the header to the final rule; with -v none is left out')
    .option('--why <rule>', 'show why this rule did not fire', ruleId)
    .option('--home <dir>', 'home of the manager (default: $SVC_HOME, else the installed one)')
    .option('--offline', 'work without any daemon, on the ruleset that --ruleset names')
    .option('--ruleset <dirs>', 'directories with decoders/, rules/ and lists/, separated by commas', splitList)
    .option('--ndjson', 'with --offline: read one JSON object a line and answer each with one')
    .option('--text', 'with --ndjson: every input line is a log, all of one session')
    .option('--clock <seconds>', 'with --offline: freeze the clock at this epoch time (also: SVC_CLOCK)', clockTime)
    .option('--log-level <level>', 'with --offline: level from which an alert is generated', level, SHIPPED_LOG_LEVEL)
    .addHelpText('after', HELP)
    .allowExcessArguments(false)
    .exitOverride();
  try {
    command.parse([...argv], { from: 'user' });
    const options = command.opts<LogtestCommandOptions>();
    const problem = options.version === true ? undefined : problemOf(options);
    if (problem !== undefined) command.error(`error: ${problem}`);
    return options;
  } catch (error) {
    // commander has printed what there is to say
    if (error instanceof CommanderError) return error.exitCode;
    throw error;
  }
}

/** Reads a time of the clock. @throws InvalidArgumentError */
export function clockTime(text: string): number {
  if (!/^[0-9]{1,12}$/.test(text)) throw new InvalidArgumentError(`'${text}' is not a number of seconds.`);
  return Number(text);
}

/** What of the options does not go together. */
function problemOf(options: LogtestCommandOptions): string | undefined {
  const { offline, ruleset, ndjson, text, clock, unitTest } = options;
  if (offline === true && (ruleset === undefined || ruleset.length === 0)) return '--offline needs --ruleset';
  if (offline !== true) {
    if (ruleset !== undefined) return '--ruleset needs --offline';
    if (ndjson === true) return '--ndjson needs --offline';
    if (clock !== undefined) return '--clock needs --offline';
  }
  if (text === true && ndjson !== true) return '--text needs --ndjson';
  if (unitTest !== undefined && ndjson === true) return '-U and --ndjson do not go together';
  return undefined;
}

function splitList(text: string): string[] {
  return text.split(',').filter((dir) => dir !== '');
}

function ruleId(text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new InvalidArgumentError(`'${text}' is not the id of a rule.`);
  return Number(text);
}

function level(text: string): number {
  if (!/^[0-9]{1,2}$/.test(text) || Number(text) > 16) throw new InvalidArgumentError(`'${text}' is not a level.`);
  return Number(text);
}
