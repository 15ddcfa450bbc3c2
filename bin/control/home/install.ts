import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeTree } from '../../../lib/files/remove-tree.js';
import { writeFileAtomically } from '../../../lib/files/write-file-atomically.js';
import { Home } from '../../../lib/home/home.js';
import { HomeError, readHomeRecord } from '../../../lib/home/home-record.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { homeRuns } from '../../terminal/why-unavailable.js';
import { initHome, type InitOptions } from './init-home.js';
import { installProduct, programNames } from './product-files.js';
import { checkAccountName, findServiceAccount, type ServiceAccount, userExists } from './service-account.js';

/** Where an installation keeps the product's own files, below the home. */
const PRODUCT_DIRECTORY = 'lib/security-manager';

const UNIT = 'security-manager.service';

/** Files whose content makes root do something. */
const OBEYED_BY_ROOT: readonly string[] = [
  'etc/manager.conf',
  'etc/ossec.conf',
  'etc/internal_options.conf',
  'etc/local_internal_options.conf',
  'api/configuration/api.yaml',
];

/** How the product is put on a host. */
export type InstallOptions = {
  /** Absolute path the product will have on the host; it is the home. */
  readonly prefix: string;
  /** Directory that stands for `/`: files go below it, and the host itself is left alone (packaging, tests). */
  readonly root?: string;
  /** Service user, made when it is missing; undefined runs every daemon as whoever starts it. */
  readonly user?: string;
  readonly group?: string;
  readonly agent: boolean;
};

/** What was done, for people. */
export type InstallReport = { readonly home: Home; readonly unit: string; readonly lines: readonly string[] };

/**
 * `svc-control install`: product, home, programs, service user and unit file (daemons-and-config.md 3.10, 3.11). An
 * installation that is there is updated: product and shipped ruleset are replaced, everything else stays.
 * @throws HomeError with one clear line
 */
export async function install(options: InstallOptions): Promise<InstallReport> {
  const place = checkPlace(options.prefix, options.root);
  if (place.live && process.geteuid?.() !== 0) throw new HomeError('only root can install (try --root DIR)');
  const lines: string[] = [];
  const account = options.user === undefined ? undefined : ensureAccount(options, place.live, lines);
  const { home } = place;
  const role: InitOptions['role'] = options.agent ? 'agent' : 'server';
  mkdirSync(join(home.root, '..'), { recursive: true });
  const update = existsSync(home.path('etc', 'home.json'));
  const mended = new Set<string>();
  const onMended = (path: string) => void mended.add(path);
  const accountOf = account === undefined ? {} : { account };
  const product = join(options.prefix, PRODUCT_DIRECTORY);
  await initHome(home, { role, updateRuleset: update, secrets: false, product, onMended, ...accountOf });
  const owner = account === undefined ? undefined : { uid: 0, gid: account.gid };
  installProduct(fileURLToPath(productRoot()), home.path(PRODUCT_DIRECTORY), owner);
  linkPrograms(home, owner);
  lines.push(`${update ? 'Updated' : 'Installed'} ${home.root}.`);
  if (account !== undefined && mended.size > 0) lines.push(...describeMended([...mended], account));
  const unit = join(options.root ?? '/', 'etc/systemd/system', UNIT);
  mkdirSync(join(unit, '..'), { recursive: true });
  writeFileAtomically(unit, unitText(options.prefix), { mode: 0o644, durable: true });
  lines.push(`Unit file: ${unit}`);
  if (place.live && existsSync('/run/systemd/system')) {
    run('systemctl', ['daemon-reload']);
    lines.push(...nextSteps(home, options, update, true));
  } else {
    lines.push(...nextSteps(home, options, update, false));
  }
  return { home, unit, lines };
}

/** What the administrator does next: a restart where something runs, else the first three steps. */
function nextSteps(home: Home, options: InstallOptions, update: boolean, systemd: boolean): string[] {
  const place = (...path: string[]) => join(options.prefix, ...path);
  const control = place('bin/svc-control');
  if (homeRuns(home)) {
    const command = systemd ? `systemctl restart ${UNIT}` : `${control} restart`;
    return [`What runs is what was there before this update. A restart is due: ${command}`];
  }
  const start = `Start it with: ${systemd ? `systemctl enable --now ${UNIT}` : `${control} start`}`;
  if (update) return [start];
  const password = place('api/configuration/security/initial-admin-password');
  return [
    `Next: 1. Look through ${place('etc/manager.conf')}${options.agent ? ', <client> names the manager' : ''}, then: ${control} validate`,
    `2. ${start}`,
    options.agent
      ? `3. See whether it is connected: ${control} status`
      : `3. Log in to the API at https://localhost:55000 as admin; the password is in ${password} then`,
  ];
}

/** What an update took out of the hands of the service user, and what the administrator must look at because of it. */
export function describeMended(paths: readonly string[], { user }: ServiceAccount): string[] {
  const lines = [`Set owner and mode of: ${paths.join(', ')}.`];
  const obeyed = paths.filter((path) => OBEYED_BY_ROOT.includes(path));
  if (obeyed.length > 0) {
    lines.push(`Look through ${obeyed.join(', ')}: root obeys it, and until now user ${user} could have changed it.`);
  }
  return lines;
}

/** How the product is taken off a host. */
export type UninstallOptions = {
  readonly prefix: string;
  readonly root?: string;
  /** Removes configuration, logs, queues and the service user, too. */
  readonly purge: boolean;
  /** Stops what runs on the home. */
  readonly stop: (home: Home) => Promise<void>;
};

/**
 * `svc-control uninstall`: takes product, programs and unit file away. Configuration, logs and data stay unless
 * `purge` is given.
 * @throws HomeError with one clear line
 */
export async function uninstall(options: UninstallOptions): Promise<readonly string[]> {
  const { home, live } = checkPlace(options.prefix, options.root);
  if (live && process.geteuid?.() !== 0) throw new HomeError('only root can uninstall (try --root DIR)');
  const record = readHomeRecord(home);
  const unit = join(options.root ?? '/', 'etc/systemd/system', UNIT);
  const ours = existsSync(unit) && readFileSync(unit, 'utf8').includes(` --home ${options.prefix}\n`);
  if (ours && live && existsSync('/run/systemd/system')) run('systemctl', ['disable', '--now', UNIT]);
  await options.stop(home);
  const lines: string[] = [];
  if (ours) {
    rmSync(unit);
    if (live && existsSync('/run/systemd/system')) run('systemctl', ['daemon-reload']);
    lines.push(`Removed ${unit}.`);
  }
  unlinkPrograms(home);
  rmSync(home.path(PRODUCT_DIRECTORY), { recursive: true, force: true });
  if (!options.purge) {
    lines.push(`Removed the product from ${home.root}; configuration, logs and data are still there (--purge).`);
    return lines;
  }
  removeTree(home.root);
  lines.push(`Removed ${home.root}.`);
  if (live && record.user !== undefined && homeOfUser(record.user) === options.prefix) {
    run('userdel', [record.user]);
    lines.push(`Removed user ${record.user}.`);
  }
  return lines;
}

/** The unit file for an installation. @param node program that runs it */
export function unitText(prefix: string, node = process.execPath): string {
  const template = readFileSync(new URL(`systemd/${UNIT}`, productRoot()), 'utf8');
  return template.replaceAll('@PREFIX@', prefix).replaceAll('@NODE@', node);
}

function checkPlace(prefix: string, root: string | undefined): { home: Home; live: boolean } {
  // Blanks, quotes, `%` and `$` mean something in unit files; no installation needs them.
  if (!/^\/[A-Za-z0-9._/-]+$/.test(prefix) || prefix.split('/').includes('..') || prefix.endsWith('/')) {
    throw new HomeError(`'${prefix}' cannot be a prefix: give an absolute path of letters, digits, '.', '_', '-', '/'`);
  }
  return { home: new Home(join(root ?? '/', prefix)), live: root === undefined };
}

function ensureAccount(options: InstallOptions, live: boolean, lines: string[]): ServiceAccount {
  const user = options.user ?? '';
  const group = options.group ?? user;
  checkAccountName(user);
  checkAccountName(group);
  if (!userExists(user)) {
    if (!live) throw new HomeError(`user '${user}' does not exist, and with --root none is made (try --no-user)`);
    if (!groupExists(group)) run('groupadd', ['--system', group]);
    run('useradd', [
      ...['--system', '--gid', group, '--home-dir', options.prefix, '--no-create-home'],
      ...['--shell', '/usr/sbin/nologin', user],
    ]);
    lines.push(`Made user ${user}.`);
  }
  return findServiceAccount(user, options.group);
}

function linkPrograms(home: Home, owner: { readonly uid: number; readonly gid: number } | undefined): void {
  unlinkPrograms(home);
  for (const name of programNames(home.path(PRODUCT_DIRECTORY))) {
    const link = home.path('bin', name);
    rmSync(link, { force: true });
    symlinkSync(`../${PRODUCT_DIRECTORY}/bin/${name}`, link);
    if (owner !== undefined) lchownSync(link, owner.uid, owner.gid);
  }
  chmodSync(home.path('bin'), 0o750);
}

/** Removes only links that lead into the product: whatever else lies in bin/ stays. */
function unlinkPrograms(home: Home): void {
  for (const name of readdirSync(home.path('bin'))) {
    const path = home.path('bin', name);
    if (lstatSync(path).isSymbolicLink() && readlinkSync(path).startsWith(`../${PRODUCT_DIRECTORY}/`)) rmSync(path);
  }
}

function groupExists(group: string): boolean {
  try {
    execFileSync('getent', ['group', group], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function homeOfUser(user: string): string | undefined {
  try {
    return execFileSync('getent', ['passwd', user], { encoding: 'utf8' }).split(':')[5];
  } catch {
    return undefined;
  }
}

function run(command: string, args: readonly string[]): void {
  try {
    execFileSync(command, [...args], { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    throw new HomeError(`'${command} ${args.join(' ')}' failed: ${(stderr ?? message).trim()}`);
  }
}
