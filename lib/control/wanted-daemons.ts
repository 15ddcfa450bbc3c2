import { loadManagerConfig } from '../config/load-manager-config.js';
import type { Home } from '../home/home.js';
import type { DaemonName } from '../product/daemon-names.js';
import type { DaemonCatalogue } from './daemon-catalogue.js';

/**
 * Daemons that should run: those this version has, without those the configuration switches off
 * (daemons-and-config.md 3.1 "Not started"). While its sections cannot be read, svc-clusterd and svc-authd count as off.
 */
export function wantedDaemons(
  home: Home,
  catalogue: DaemonCatalogue,
  order: readonly DaemonName[],
): ReadonlySet<DaemonName> {
  const off = switchedOff(home);
  return new Set(order.filter((name) => catalogue.program(name) !== undefined && !off.has(name)));
}

function switchedOff(home: Home): ReadonlySet<DaemonName> {
  const off = new Set<DaemonName>();
  if (!isOn(() => loadManagerConfig(home, ['cluster']).cluster)) off.add('svc-clusterd');
  if (!isOn(() => loadManagerConfig(home, ['auth']).auth)) off.add('svc-authd');
  return off;
}

function isOn(section: () => { readonly disabled: boolean } | undefined): boolean {
  try {
    return section()?.disabled === false;
  } catch {
    return false;
  }
}
