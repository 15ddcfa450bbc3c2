import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { HomeRole } from '../home/home-record.js';
import type { DaemonName } from '../product/daemon-names.js';
import { productRoot } from '../product/product-root.js';

/** Order of stop and status; a start goes the other way round (daemons-and-config.md 3.1). */
const MANAGER_STOP_ORDER: readonly DaemonName[] = [
  'svc-clusterd',
  'svc-modulesd',
  'svc-monitord',
  'svc-logcollector',
  'svc-remoted',
  'svc-syscheckd',
  'svc-analysisd',
  'svc-execd',
  'svc-db',
  'svc-authd',
  'svc-apid',
];

const AGENT_STOP_ORDER: readonly DaemonName[] = [
  'svc-modulesd',
  'svc-logcollector',
  'svc-syscheckd',
  'svc-agentd',
  'svc-execd',
];

/** Daemons that take what others send: they stop after them, in this order, so that nothing sent last is lost. */
const RECEIVERS: readonly DaemonName[] = ['svc-analysisd', 'svc-agentd', 'svc-db'];

/**
 * Groups of daemons to stop one after another: first all that send, then each receiver by itself.
 * @param daemons in stop order; it is kept within a group
 */
export function stopPhases(daemons: readonly DaemonName[]): DaemonName[][] {
  const senders = daemons.filter((name) => !RECEIVERS.includes(name));
  const receivers = RECEIVERS.filter((name) => daemons.includes(name)).map((name) => [name]);
  return [senders, ...receivers].filter((phase) => phase.length > 0);
}

/**
 * Groups of daemons to start one after another: those that take what others send, then all others. Receivers wait for each
 * other without a word, so that they begin together.
 * @param daemons in start order; it is kept within a group
 */
export function startPhases(daemons: readonly DaemonName[]): DaemonName[][] {
  const receivers = daemons.filter((name) => RECEIVERS.includes(name));
  const senders = daemons.filter((name) => !RECEIVERS.includes(name));
  return [receivers, senders].filter((phase) => phase.length > 0);
}

/** A program and its arguments, without what the caller adds. */
export type Program = { readonly command: string; readonly args: readonly string[] };

/** The daemons that exist and how they are run. Tests hand in one of their own. */
export interface DaemonCatalogue {
  /** Program of a daemon; undefined when this version does not have it. */
  program(daemon: DaemonName): Program | undefined;
  /** URL of the module with the daemon's `SETTINGS` (lib/daemon/daemon-settings.ts); without one `-t` is run. */
  settingsModule?(daemon: DaemonName): string | undefined;
  /** The control program itself, to run the supervisor with. */
  readonly control: Program;
}

/** Daemons of a home in stop order. */
export function stopOrder(role: HomeRole): readonly DaemonName[] {
  return role === 'server' ? MANAGER_STOP_ORDER : AGENT_STOP_ORDER;
}

/** Daemons of a home in start order. */
export function startOrder(role: HomeRole): readonly DaemonName[] {
  return [...stopOrder(role)].reverse();
}

/**
 * Flags of Node. A scan of svc-syscheckd makes and drops objects for each of very many files: with as much room as usual
 * they fill it before they are taken away. What it holds grows with none of them, 30 MB as a rule.
 */
const NODE_FLAGS: Readonly<Partial<Record<DaemonName, readonly string[]>>> = {
  'svc-syscheckd': ['--max-semi-space-size=8', '--max-old-space-size=256'],
};

/** Where each daemon says how it reads its configuration. The build finds these by the way they are written. */
const SETTINGS_MODULES: Readonly<Partial<Record<DaemonName, URL>>> = {
  'svc-agentd': new URL('../../daemons/agentd/agentd-settings.js', import.meta.url),
  'svc-analysisd': new URL('../../daemons/analysisd/analysisd-settings.js', import.meta.url),
  'svc-apid': new URL('../../api/apid-settings.js', import.meta.url),
  'svc-authd': new URL('../../daemons/authd/authd-settings.js', import.meta.url),
  'svc-clusterd': new URL('../../daemons/clusterd/clusterd-settings.js', import.meta.url),
  'svc-db': new URL('../../daemons/db/db-settings.js', import.meta.url),
  'svc-execd': new URL('../../daemons/execd/execd-settings.js', import.meta.url),
  'svc-logcollector': new URL('../../daemons/logcollector/logcollector-settings.js', import.meta.url),
  'svc-modulesd': new URL('../../daemons/modulesd/modulesd-settings.js', import.meta.url),
  'svc-monitord': new URL('../../daemons/monitord/monitord-settings.js', import.meta.url),
  'svc-remoted': new URL('../../daemons/remoted/remoted-settings.js', import.meta.url),
  'svc-syscheckd': new URL('../../daemons/syscheckd/syscheckd-settings.js', import.meta.url),
};

/** The daemons of this build: `bin/<daemon>` with its compiled program. */
export function productCatalogue(): DaemonCatalogue {
  const root = productRoot();
  return {
    settingsModule: (daemon) => SETTINGS_MODULES[daemon]?.href,
    program(daemon) {
      const launcher = new URL(`bin/${daemon}`, root);
      if (!existsSync(launcher) || !existsSync(new URL(`dist/programs/${daemon}.js`, root))) return undefined;
      return { command: process.execPath, args: [...(NODE_FLAGS[daemon] ?? []), fileURLToPath(launcher)] };
    },
    control: { command: process.execPath, args: [fileURLToPath(new URL('bin/svc-control', root))] },
  };
}

/** Thrown when a command names a daemon that there is none of. */
export class UnknownDaemonError extends Error {
  override readonly name = 'UnknownDaemonError';
  readonly code = 'unknown_daemon';
}

/**
 * Turns names as people type them (`svc-apid` or `apid`) into daemons of this home, in the order of `order`.
 * @throws UnknownDaemonError
 */
export function selectDaemons(order: readonly DaemonName[], typed: readonly string[]): DaemonName[] {
  const selected = new Set<DaemonName>();
  for (const text of typed) {
    const name = order.find((daemon) => daemon === text || daemon === `svc-${text}`);
    if (name === undefined) throw new UnknownDaemonError(`'${text}' is not a daemon of this home`);
    selected.add(name);
  }
  return order.filter((daemon) => selected.has(daemon));
}
