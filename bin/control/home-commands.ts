import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Option } from 'commander';
import type { Home } from '../../lib/home/home.js';
import { type HomeRole, readHomeRecord } from '../../lib/home/home-record.js';
import { productRoot } from '../../lib/product/product-root.js';
import type { ControlOutput } from './control-output.js';
import { type ControlProgram, homeOf } from './control-program.js';
import { initHome } from './home/init-home.js';
import { describeMended } from './home/install.js';
import { findServiceAccount } from './home/service-account.js';
import { welcome } from './home/welcome.js';
import { isToldToBegin } from './supervisor/detached-supervisor.js';
import { runSupervisor } from './supervisor/run-supervisor.js';

const INITIAL_PASSWORD = 'api/configuration/security/initial-admin-password';

type InitFlags = {
  readonly agent?: true;
  readonly user?: string;
  readonly group?: string;
  readonly updateRuleset?: true;
};
type RunFlags = {
  readonly init?: true;
  readonly welcome?: true;
  readonly service?: true;
  readonly detached?: true;
  readonly whenTold?: true;
};

/** Adds what makes a home and runs what is in it. */
export function addHomeCommands(program: ControlProgram): void {
  program
    .withoutOperand('init', 'make a home: configuration, keys, certificate, ruleset; what is there stays', (command) =>
      makeHome(program, homeOf(command), command.opts<InitFlags>()),
    )
    .option('--agent', 'a home for an agent')
    .option('--user <user>', 'service user that daemons run as (only for root)')
    .option('--group <group>', "service group (default: the user's own)")
    .option('--update-ruleset', 'replace the shipped ruleset by the one of this version');
  program
    .withoutOperand('run', 'start all daemons and watch over them in the foreground', (command) =>
      run(program, homeOf(command), command.opts<RunFlags>()),
    )
    .option('--init', 'make the home first when it is not there')
    .option('--welcome', 'say what to try when everything runs')
    .option('--service', 'for service managers: no log lines here; a daemon that fails is tried again')
    .addOption(new Option('--detached').hideHelp())
    .addOption(new Option('--when-told').hideHelp());
}

async function makeHome({ output }: ControlProgram, home: Home, options: InitFlags): Promise<number> {
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
    for (const line of describeMended([...mended], account)) output.line(line);
  } else if (made.length === 0) {
    output.line(`${home.root} is a home already; nothing was changed.`);
  }
  if (made.length > 0) {
    output.line(`Made ${made.length} files and directories in ${home.root}.`);
    if (account === undefined && process.geteuid?.() === 0) {
      output.line('Its daemons run as the user who starts them, root included (a service user: --user NAME).');
    }
    if (made.includes(INITIAL_PASSWORD)) {
      output.line(`API user: admin, password in ${home.path(INITIAL_PASSWORD)}`);
    } else if (account !== undefined && options.agent !== true && !existsSync(home.path(INITIAL_PASSWORD))) {
      output.line(`The first start makes the password of API user admin, in ${home.path(INITIAL_PASSWORD)}`);
    }
  }
  output.document({ error: 0, data: { home: home.root, made } });
  return 0;
}

async function run({ environment, output }: ControlProgram, home: Home, options: RunFlags): Promise<number> {
  if (options.init === true) await initWhereMissing(home, output);
  const control = fileURLToPath(new URL('bin/svc-control', productRoot()));
  if (options.whenTold === true && !isToldToBegin()) return 0;
  return runSupervisor({
    home,
    record: readHomeRecord(home),
    catalogue: environment.catalogue,
    mode: options.detached === true ? 'detached' : options.service === true ? 'service' : 'foreground',
    ...(options.welcome === true ? { onReady: () => environment.write(welcome(home, control)) } : {}),
  });
}

/** The role of a home that is there stays what it is. */
async function initWhereMissing(home: Home, output: ControlOutput): Promise<void> {
  let role: HomeRole = 'server';
  try {
    role = readHomeRecord(home).role;
  } catch {
    // Not a home yet.
    output.line(`Making a home in ${home.root}: configuration, ruleset, keys and certificates.`);
  }
  await initHome(home, { role });
  output.line('Starting the daemons: each says when it runs.');
}
