import { Command } from 'commander';
import { checkAgentConf } from '../../lib/config/agent-conf.js';
import { readAgentConfFile } from '../../lib/config/agent-conf-file.js';
import { ConfigError, type ConfigWarning, describeWarning } from '../../lib/config/config-error.js';
import { loadInternalOption } from '../../lib/config/internal-options.js';
import { GroupFolders } from '../../lib/groups/group-folders.js';
import type { Home } from '../../lib/home/home.js';
import { resolveHome } from '../../lib/home/resolve-home.js';
import { describeError } from '../../lib/log/describe-error.js';
import { formatLogTime, formatPlainLine, type LogLevel } from '../../lib/log/log-line.js';
import { versionText } from '../../lib/product/version.js';
import { parseArguments, type ToolStreams } from '../terminal/tool-arguments.js';

const PROGRAM = 'verify-agent-conf';

const HELP = `
${PROGRAM}: Verify agent.conf syntax for errors.
Usage:  ${PROGRAM} [-f <agent.conf file>]
    -f <file>    Verify this file instead of those of all groups; may be repeated.
    --home <dir> Home of the manager whose groups are verified.
    -d           Tell more; may be repeated.
    -V           Version.
    -h           This help.

`;

type VerifyOptions = {
  readonly f: readonly string[];
  readonly home?: string;
  readonly d?: true;
  readonly help?: true;
};

/** What became of one file. */
type CheckedFile = 'ok' | 'wrong' | 'missing';

/**
 * `verify-agent-conf`: says whether an agent.conf may be distributed, of one file or of all groups
 * (agents-and-groups.md 9.1).
 * @param args without node and script
 * @returns exit code: 0 everything is right, 1 not
 */
export async function verifyAgentConfCommand(args: readonly string[], streams: ToolStreams): Promise<number> {
  const command = new Command(PROGRAM)
    .helpOption(false)
    .version(versionText(PROGRAM), '-V, --version', 'show version and licence')
    .option('-f <file>', 'file', (file: string, files: readonly string[]) => [...files, file], [])
    .option('-d', 'debug')
    .option('-h, --help', 'help')
    .option('--home <dir>', 'home');
  const ended = parseArguments(command, args, streams);
  if (ended !== undefined) return ended;
  const { f: files, home: root, d, help } = command.opts<VerifyOptions>();
  if (help === true) {
    streams.write(HELP);
    return 1;
  }
  const verifier = new Verifier(resolveHome(root), streams, d === true);
  const right = files.length > 0 ? verifier.verifyFiles(files) : await verifier.verifyGroups();
  return right ? 0 : 1;
}

class Verifier {
  readonly #home: Home;
  readonly #streams: ToolStreams;
  readonly #debug: boolean;
  readonly #checks: boolean;

  constructor(home: Home, streams: ToolStreams, debug: boolean) {
    this.#home = home;
    this.#streams = streams;
    this.#debug = debug;
    this.#checks = this.#remoteConf();
  }

  /** @returns whether all are right */
  verifyFiles(files: readonly string[]): boolean {
    let right = true;
    for (const file of files) {
      const outcome = this.#verify(file, file, true);
      if (outcome === 'ok') this.#streams.write(`${PROGRAM}: OK\n\n`);
      else right = false;
    }
    return right;
  }

  /** @returns whether those of all groups are right */
  async verifyGroups(): Promise<boolean> {
    const { write } = this.#streams;
    const shared = this.#home.path('etc', 'shared');
    let groups: readonly string[];
    try {
      groups = await new GroupFolders(this.#home).list();
    } catch (error) {
      this.#say('error', `Could not read the groups in '${shared}': ${describeError(error)}`);
      return false;
    }
    if (groups.length === 0) {
      // A manager has the group default at least: this is another directory, and nothing was verified.
      this.#say('error', `There are no groups in '${shared}'.`);
      return false;
    }
    let right = true;
    for (const group of groups) {
      const name = `etc/shared/${group}/agent.conf`;
      write(`\n${PROGRAM}: Verifying [${name}]\n`);
      const outcome = this.#verify(this.#home.path(name), name, false);
      if (outcome === 'ok') write(`${PROGRAM}: OK\n`);
      if (outcome === 'missing') write(`${PROGRAM}: File not found\n`);
      if (outcome !== 'ok') right = false;
    }
    write('\n');
    return right;
  }

  /** @param given whether the user named the file: a link is then followed, and what is no file is an error */
  #verify(path: string, name: string, given: boolean): CheckedFile {
    let text: string | undefined;
    try {
      text = readAgentConfFile(path, name, { follow: given, isOfGroup: true });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      if (given) this.#say('error', `[${name}] is not a valid file.`);
      this.#say(given ? 'info' : 'error', error.text);
      return 'wrong';
    }
    if (text === undefined) {
      if (given) this.#say('error', `[${name}] is not a valid file.`);
      return 'missing';
    }
    if (!this.#checks) {
      this.#say('debug', `'${name}' is not checked: agent.remote_conf is 0.`);
      return 'ok';
    }
    const warnings: ConfigWarning[] = [];
    const failure = checkAgentConf(text, name, warnings);
    for (const warning of warnings) this.#say(warning.level ?? 'warning', describeWarning(warning));
    if (failure === undefined) return 'ok';
    for (const line of failure.lines) this.#say('error', line);
    // The lines users know do not say where, other than those about XML.
    if (failure.error.code !== 1226) this.#say('info', `The error is in line ${failure.error.line} of '${name}'.`);
    return 'wrong';
  }

  /** Whether agents are told to take what is checked here (agents-and-groups.md 9.1). */
  #remoteConf(): boolean {
    try {
      return loadInternalOption(this.#home, 'agent.remote_conf') === 1;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      // Where there is no home, files are checked all the same.
      this.#say('debug', error.message);
      return true;
    }
  }

  #say(level: LogLevel, text: string): void {
    if (level === 'debug' && !this.#debug) return;
    this.#streams.writeError(`${formatPlainLine(formatLogTime(new Date()), PROGRAM, level, text, undefined)}\n`);
  }
}
