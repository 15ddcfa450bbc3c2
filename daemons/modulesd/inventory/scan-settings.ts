import type { SyscollectorConfig } from '../../../lib/config/sections/modules.js';
import type { InventoryTableName } from '../../../lib/events/inventory/inventory-tables.js';

/** Tables that a configuration asks for, in the order in which they are taken (integrity-and-inventory.md 11.1). */
export function wantedTables(config: SyscollectorConfig): InventoryTableName[] {
  const wanted: readonly (readonly [boolean, readonly InventoryTableName[]])[] = [
    [config.hardware, ['hwinfo']],
    [config.os, ['osinfo']],
    [config.network, ['network_iface', 'network_protocol', 'network_address']],
    [config.packages, ['packages']],
    [config.ports.enabled, ['ports']],
    [config.processes, ['processes']],
    [config.groups, ['groups']],
    [config.users, ['users']],
    [config.services, ['services']],
    [config.browser_extensions, ['browser_extensions']],
  ];
  return wanted.flatMap(([isWanted, tables]) => (isWanted ? tables : []));
}

/** Messages a second where 0 is configured, and where nothing is. */
const DEFAULT_EPS = 10;

/** Messages of the synchronisation a second. */
export function syncEps({ synchronization }: SyscollectorConfig): number {
  return synchronization.max_eps === 0 ? DEFAULT_EPS : synchronization.max_eps;
}

/** The module as agents show it (11.1). */
export function activeInventory(config: SyscollectorConfig): Record<string, unknown> {
  const yesNo = (value: boolean): string => (value ? 'yes' : 'no');
  const { interval } = config;
  return {
    disabled: yesNo(config.disabled),
    'scan-on-start': yesNo(config.scan_on_start),
    interval: interval.count,
    ...(interval.unit === 'month' ? { interval_unit: 'month' } : {}),
    network: yesNo(config.network),
    os: yesNo(config.os),
    hardware: yesNo(config.hardware),
    packages: yesNo(config.packages),
    ports: yesNo(config.ports.enabled),
    ports_all: yesNo(config.ports.all),
    processes: yesNo(config.processes),
    groups: yesNo(config.groups),
    users: yesNo(config.users),
    services: yesNo(config.services),
    browser_extensions: yesNo(config.browser_extensions),
    sync_max_eps: syncEps(config),
  };
}
