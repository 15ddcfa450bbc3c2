import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError, Option } from 'commander';
import { type DaemonCatalogue, selectDaemons, stopOrder } from '../../lib/control/daemon-catalogue.js';
import type { Home } from '../../lib/home/home.js';
import { type HomeRecord, readHomeRecord } from '../../lib/home/home-record.js';
import { resolveHome } from '../../lib/home/resolve-home.js';
import { describeError } from '../../lib/log/describe-error.js';
import { productRoot } from '../../lib/product/product-root.js';
import { usageErrors } from '../../lib/product/usage-errors.js';
import { versionText } from '../../lib/product/version.js';
import { certificateCommand } from './certificate-command.js';
import { ControlOutput } from './control-output.js';
import { switchDebug } from './debug-switch.js';
import { initHome } from './home/init-home.js';
import { describeMended, install, uninstall } from './home/install.js';
import { findServiceAccount } from './home/service-account.js';
import { welcome } from './home/welcome.js';
import { noEffectItems, noEffectLines, readNoEffect } from './no-effect-report.js';
import { backupSecurity, restoreSecurity, type SecurityBackupParts } from './security-backup-command.js';
import { DEFAULT_WATCH_SECONDS, showStats } from './stats-command.js';
import { readStatusReport, statusItems, statusTable } from './status-report.js';
import { cleanStalePidFiles, reloadSuite, restartSuite, startSuite, stopSuite, type Suite } from './suite-commands.js';
import { INFO_FLAGS, suiteInfo } from './suite-info.js';
import { restartDue } from './supervisor/restart-due.js';
import { runSupervisor } from './supervisor/run-supervisor.js';
import { stopStrays } from './supervisor/stray-processes.js';
import { validateConfiguration } from './validate-command.js';

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

/**
 * `svc-control` (daemons-and-config.md 3.1, 12).
 * @param args of the command line, without node and script
 * @returns the exit code
 */
export async function runControl(args: readonly string[], environment: ControlEnvironment): Promise<number> {
  // `-j` counts in any place, also where a command takes names.
  const json = args.includes('-j');
  const output = new ControlOutput(json, environment.write, environment.writeError);
  const program = new ControlProgram(environment, output);
  return program.run(args.filter((argument) => argument !== '-j'));
}

class ControlProgram {
  readonly #environment: ControlEnvironment;
  readonly #output: ControlOutput;
  #exitCode = 0;

  constructor(environment: ControlEnvironment, output: ControlOutput) {
    this.#environment = environment;
    this.#output = output;
  }

  async run(args: readonly string[]): Promise<number> {
    try {
      await this.#command().parseAsync([...args], { from: 'user' });
      return this.#exitCode;
    } catch (error) {
      if (error instanceof CommanderError) return error.exitCode;
      const message = describeError(error);
      this.#environment.writeError(`svc-control: ${message}\n`);
      this.#output.document({ error: 1, message });
      return 1;
    }
  }

  #command(): Command {
    const { write, writeError } = this.#environment;
    const program = new Command('svc-control')
      .description('Controls the daemons of a Security Manager home.')
      .exitOverride()
      .configureOutput({
        writeOut: write,
        writeErr: writeError,
        ...usageErrors('svc-control'),
      })
      .helpOption('-h, --help', 'show this help')
      .version(versionText('svc-control'), '-V, --version', 'show version and licence')
      .option('-d', 'accepted as in other programs; daemons: see "enable debug"')
      .addOption(new Option('-j', 'JSON output, in any place'))
      .addOption(homeOption())
      .showHelpAfterError('Try: svc-control --help');
    this.#addDaemonCommands(program);
    this.#addInfoCommands(program);
    this.#addSecurityCommands(program);
    this.#addHomeCommands(program);
    this.#addInstallCommands(program);
    return program;
  }

  #withNames(
    program: Command,
    spec: string,
    description: string,
    act: (names: string[], command: Command) => Promise<number>,
  ): Command {
    return program
      .command(spec)
      .description(description)
      .addOption(homeOption())
      .action(async (names: string[], _options: unknown, command: Command) => {
        this.#exitCode = await act(names, command);
      });
  }

  /** Without operands an action gets one argument less. */
  #withoutNames(
    program: Command,
    name: string,
    description: string,
    act: (command: Command) => Promise<number>,
  ): Command {
    return program
      .command(name)
      .description(description)
      .addOption(homeOption())
      .action(async (_options: unknown, command: Command) => {
        this.#exitCode = await act(command);
      });
  }

  #addDaemonCommands(program: Command): void {
    this.#withNames(
      program,
      'start [daemon...]',
      'check the configuration and start all daemons, or those named',
      (names, command) => startSuite(this.#suite(homeOf(command)), names),
    );
    this.#withNames(program, 'stop [daemon...]', 'stop all daemons, or those named', (names, command) =>
      this.#stop(homeOf(command), names),
    );
    this.#withNames(
      program,
      'restart [daemon...]',
      'stop and start; nothing is stopped when the configuration is bad',
      (names, command) => restartSuite(this.#suite(homeOf(command)), names),
    );
    this.#withNames(program, 'reload [daemon...]', 're-read configuration and ruleset in place', (names, command) =>
      reloadSuite(this.#suite(homeOf(command)), names),
    );
    this.#withoutNames(
      program,
      'validate',
      'check the whole configuration and say what of it has no effect; exit code 0 when it is right',
      (command) => validateConfiguration(this.#suite(homeOf(command))),
    );
    this.#withNames(
      program,
      'status [daemon...]',
      'show which daemons run; exit code 0 when all that should do',
      (names, command) =>
        this.#status(this.#suite(homeOf(command)), names, command.opts<{ table?: true }>().table === true),
    ).option('--table', 'a table also where standard output is no terminal');
    this.#withNames(
      program,
      'stats [daemon...]',
      'show the way of events through the daemons; exit code 0 when all answered',
      (names, command) => {
        const { watch } = command.opts<{ watch?: true | string }>();
        const { terminal, signal } = this.#environment;
        return showStats(this.#suite(homeOf(command)), names, {
          terminal,
          ...(watch === undefined ? {} : { watch: watch === true ? DEFAULT_WATCH_SECONDS : watchSeconds(watch) }),
          ...(signal === undefined ? {} : { signal }),
        });
      },
    ).option('--watch [seconds]', `again and again (default: every ${String(DEFAULT_WATCH_SECONDS)} s)`);
  }

  #addInfoCommands(program: Command): void {
    this.#withNames(program, 'info [what...]', 'show version (-v), revision (-r), type (-t)', (what, command) =>
      Promise.resolve(this.#info(this.#suite(homeOf(command)), [...infoFlags(command), ...what])),
    )
      .option('-v', 'only the version')
      .option('-r', 'only the revision')
      .option('-t', 'only the type')
      // The reference answers another flag with a line of its own.
      .allowUnknownOption();
    for (const on of [true, false]) {
      this.#withNames(
        program,
        `${on ? 'enable' : 'disable'} <what...>`,
        `debug: daemons log ${on ? 'more' : 'no more'} after their next start`,
        (what, command) => Promise.resolve(this.#debug(this.#suite(homeOf(command)), what, on)),
      );
    }
    this.#withoutNames(
      program,
      'certificate',
      "show the API's certificate; exit code 1 when it ends within 30 days",
      (command) => {
        const target = homeOf(command);
        const parts = { home: target, record: readHomeRecord(target), output: this.#output, now: Date.now };
        return certificateCommand(parts, command.opts<{ renew?: true }>().renew === true);
      },
    ).option('--renew', 'make a new one for its key; "reload svc-apid" takes it');
  }

  #addSecurityCommands(program: Command): void {
    const command = (
      spec: string,
      description: string,
      act: (parts: SecurityBackupParts, file: string) => Promise<0 | 1>,
    ) =>
      program
        .command(spec)
        .description(description)
        .addOption(homeOption())
        .action(async (file: string, _options: unknown, typed: Command) => {
          this.#exitCode = await act(this.#suite(homeOf(typed)), file);
        });
    command(
      'backup-security <file>',
      'write users with their password hashes, roles, policies, security rules and settings to a file',
      backupSecurity,
    );
    command(
      'restore-security <file>',
      'put back what such a file has, whatever became of the store; all tokens end',
      restoreSecurity,
    );
  }

  #addHomeCommands(program: Command): void {
    program
      .command('init')
      .description('make a home: configuration, keys, certificate, ruleset; what is there stays')
      .addOption(homeOption())
      .option('--agent', 'a home for an agent')
      .option('--user <user>', 'service user that daemons run as (only for root)')
      .option('--group <group>', "service group (default: the user's own)")
      .option('--update-ruleset', 'replace the shipped ruleset by the one of this version')
      .action(async (options: InitFlags, command: Command) => {
        this.#exitCode = await this.#init(homeOf(command), options);
      });
    program
      .command('run')
      .description('start all daemons and watch over them in the foreground')
      .addOption(homeOption())
      .option('--init', 'make the home first when it is not there')
      .option('--welcome', 'say what to try when everything runs')
      .option('--service', 'for service managers: no log lines here; a daemon that fails is tried again')
      .addOption(new Option('--detached').hideHelp())
      .action(async (options: RunFlags, command: Command) => {
        this.#exitCode = await this.#run(homeOf(command), options);
      });
  }

  #addInstallCommands(program: Command): void {
    const place = (name: string, description: string) =>
      program
        .command(name)
        .description(description)
        .requiredOption('--prefix <dir>', 'where the product is on the host, and its home')
        .option('--root <dir>', 'put files below this directory and leave the host itself alone');
    place('install', 'put the product on this host: files, service user, unit file; or update it')
      .option('--user <user>', 'service user, made when it is missing', 'svc-manager')
      .option('--group <group>', "service group (default: the user's)")
      .option('--no-user', 'no service user: daemons run as whoever starts them')
      .option('--agent', 'install an agent')
      .action(async (options: InstallFlags) => {
        const { lines } = await install({
          prefix: options.prefix,
          agent: options.agent === true,
          ...(options.root === undefined ? {} : { root: options.root }),
          ...(options.user === false ? {} : { user: options.user }),
          ...(options.group === undefined ? {} : { group: options.group }),
        });
        for (const line of lines) this.#output.line(line);
        this.#output.document({ error: 0, data: { lines } });
      });
    place('uninstall', 'take the product off this host; configuration, logs and data stay')
      .option('--purge', 'remove configuration, logs, data and the service user, too')
      .action(async (options: UninstallFlags) => {
        const quiet = new ControlOutput(true, () => {}, this.#environment.writeError);
        const lines = await uninstall({
          prefix: options.prefix,
          purge: options.purge === true,
          ...(options.root === undefined ? {} : { root: options.root }),
          stop: async (target) => {
            await stopSuite({ ...this.#suite(target), output: quiet }, []);
          },
        });
        for (const line of lines) this.#output.line(line);
        this.#output.document({ error: 0, data: { lines } });
      });
  }

  #suite(home: Home): Suite {
    const record: HomeRecord = readHomeRecord(home);
    return { home, record, catalogue: this.#environment.catalogue, output: this.#output };
  }

  /** Also where home or `var/run` was removed under what runs: then processes are found by what they work on. */
  async #stop(home: Home, names: readonly string[]): Promise<number> {
    const all = names.length === 0;
    if (all && !existsSync(home.path('var', 'run'))) {
      const ended = await stopStrays(home, this.#output);
      if (ended.length > 0) {
        this.#output.document({ error: 0, data: ended.map((daemon) => ({ daemon, status: 'stopped' })) });
        return 0;
      }
    }
    const code = await stopSuite(this.#suite(home), names);
    if (all) await stopStrays(home, this.#output);
    return code;
  }

  async #status(suite: Suite, typed: readonly string[], table: boolean): Promise<number> {
    const { home, record, catalogue } = suite;
    const full = await readStatusReport(home, record, catalogue);
    const names = typed.length === 0 ? undefined : selectDaemons(stopOrder(record.role), typed);
    const report =
      names === undefined ? full : { ...full, daemons: full.daemons.filter(({ daemon }) => names.includes(daemon)) };
    const noEffect = names === undefined ? readNoEffect(home, record.role) : [];
    if (this.#output.json) {
      const { supervisor } = report;
      this.#output.document({
        error: 0,
        data: statusItems(report),
        home: home.root,
        role: record.role,
        supervisor: supervisor === undefined ? null : { pid: supervisor.pid, startedAt: supervisor.startedAt },
        restart_due: restartDue(report.daemons),
        no_effect: noEffectItems(noEffect),
      });
    } else if (table || this.#environment.terminal) {
      for (const line of statusTable(report)) this.#output.line(line);
      if (noEffect.length > 0) this.#output.line(`\n${WITHOUT_EFFECT}:`);
      for (const line of noEffectLines(noEffect)) this.#output.line(`  ${line}`);
    } else {
      cleanStalePidFiles(
        suite,
        (_path, daemon, pid) => `${daemon}: Process ${pid} not used by Security Manager, removing...`,
      );
      for (const { daemon, running } of report.daemons) {
        this.#output.line(running ? `${daemon} is running...` : `${daemon} not running...`);
      }
      for (const { daemon, problem } of report.daemons) {
        if (problem !== undefined) this.#output.problem(`${daemon}: ${problem}`);
      }
      for (const line of noEffectLines(noEffect)) this.#output.problem(`${WITHOUT_EFFECT}: ${line}`);
    }
    return report.daemons.every(({ running, wanted }) => running || !(wanted || names !== undefined)) ? 0 : 1;
  }

  #info({ home, record }: Suite, what: readonly string[]): number {
    const info = suiteInfo(record.role, home.root);
    const [flag] = what;
    if (flag !== undefined) {
      const value = info.get(INFO_FLAGS.get(flag) ?? '');
      if (value === undefined) {
        this.#output.raw(`Invalid flag: ${flag}\n`);
        return 1;
      }
      this.#output.raw(`${value}\n`);
      return 0;
    }
    for (const [name, value] of info) this.#output.line(`${name}="${value}"`);
    this.#output.document({ error: 0, data: [...info].map(([name, value]) => ({ [name]: value })) });
    return 0;
  }

  #debug({ home }: Suite, what: readonly string[], on: boolean): number {
    if (what.length !== 1 || what[0] !== 'debug') throw new Error(`'${what.join(' ')}' is not known; try: debug`);
    switchDebug(home, on);
    this.#output.line(`Debug is ${on ? 'on' : 'off'} from the next start of a daemon on.`);
    this.#output.document({ error: 0, data: { debug: on } });
    return 0;
  }

  async #init(home: Home, options: InitFlags): Promise<number> {
    const account = options.user === undefined ? undefined : findServiceAccount(options.user, options.group);
    if (account === undefined && options.group !== undefined) throw new Error('--group needs --user');
    const mended = new Set<string>();
    const made = await initHome(home, {
      role: options.agent === true ? 'agent' : 'server',
      ...(account === undefined ? {} : { account }),
      updateRuleset: options.updateRuleset === true,
      onMended: (path) => void mended.add(path),
    });
    if (account !== undefined && mended.size > 0) {
      for (const line of describeMended([...mended], account)) this.#output.line(line);
    } else if (made.length === 0) {
      this.#output.line(`${home.root} is a home already; nothing was changed.`);
    }
    if (made.length > 0) {
      this.#output.line(`Made ${made.length} files and directories in ${home.root}.`);
      if (account === undefined && process.geteuid?.() === 0) {
        this.#output.line('Its daemons run as the user who starts them, root included (a service user: --user NAME).');
      }
      if (made.includes(INITIAL_PASSWORD)) {
        this.#output.line(`API user: admin, password in ${home.path(INITIAL_PASSWORD)}`);
      } else if (account !== undefined && options.agent !== true && !existsSync(home.path(INITIAL_PASSWORD))) {
        this.#output.line(`The first start makes the password of API user admin, in ${home.path(INITIAL_PASSWORD)}`);
      }
    }
    this.#output.document({ error: 0, data: { home: home.root, made } });
    return 0;
  }

  async #run(home: Home, options: RunFlags): Promise<number> {
    if (options.init === true) await this.#initWhereMissing(home);
    const control = fileURLToPath(new URL('bin/svc-control', productRoot()));
    return runSupervisor({
      home,
      record: readHomeRecord(home),
      catalogue: this.#environment.catalogue,
      mode: options.detached === true ? 'detached' : options.service === true ? 'service' : 'foreground',
      ...(options.welcome === true ? { onReady: () => this.#environment.write(welcome(home, control)) } : {}),
    });
  }

  /** The role of a home that is there stays what it is. */
  async #initWhereMissing(home: Home): Promise<void> {
    let role: HomeRecord['role'] = 'server';
    try {
      role = readHomeRecord(home).role;
    } catch {
      // Not a home yet.
      this.#output.line(`Making a home in ${home.root}: configuration, ruleset, keys and certificates.`);
    }
    await initHome(home, { role });
    this.#output.line('Starting the daemons: each says when it runs.');
  }
}

const WITHOUT_EFFECT = 'Configured, without effect';

const INITIAL_PASSWORD = 'api/configuration/security/initial-admin-password';

type InitFlags = {
  readonly agent?: true;
  readonly user?: string;
  readonly group?: string;
  readonly updateRuleset?: true;
};
type InstallFlags = {
  readonly prefix: string;
  readonly root?: string;
  readonly user: string | false;
  readonly group?: string;
  readonly agent?: true;
};
type UninstallFlags = { readonly prefix: string; readonly root?: string; readonly purge?: true };
type RunFlags = {
  readonly init?: true;
  readonly welcome?: true;
  readonly service?: true;
  readonly detached?: true;
};

function homeOf(command: Command): Home {
  return resolveHome(command.optsWithGlobals<HomeOption>().home);
}

function homeOption(): Option {
  return new Option('--home <dir>', 'the home (default: $SVC_HOME, else the installed one, else .home)');
}

/** @throws Error for anything but 0.1 to 3600 */
function watchSeconds(text: string): number {
  const seconds = /^\d{1,4}(\.\d)?$/.test(text) ? Number(text) : 0;
  if (seconds < 0.1 || seconds > 3600) throw new Error(`--watch ${text}: seconds are a number from 0.1 to 3600`);
  return seconds;
}

function infoFlags(command: Command): string[] {
  const options = command.opts<Record<string, unknown>>();
  return ['v', 'r', 't'].filter((flag) => options[flag] === true).map((flag) => `-${flag}`);
}
