import { inventoryTable, type InventoryTableName } from '../../../../lib/events/inventory/inventory-tables.js';
import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import { describeError } from '../../../../lib/log/describe-error.js';
import { readBrowserExtensions } from '../browsers/browser-extensions.js';
import { readPackages } from '../packages/packages.js';
import { type Accounts, readAccounts } from '../system/accounts.js';
import { readDhcp } from '../system/dhcp.js';
import { groupRows } from '../system/groups.js';
import { readHardware } from '../system/hardware.js';
import { hostAddresses } from '../system/host-addresses.js';
import { interfaceRows } from '../system/interfaces.js';
import { addressRows, protocolRows } from '../system/network.js';
import { readPorts } from '../system/ports.js';
import { readProcesses } from '../system/processes.js';
import { parseIpv6Routes, parseRoutes } from '../system/routes.js';
import { readServices } from '../system/services.js';
import { readSystemRelease } from '../system/system-release.js';
import { readUsers } from '../system/users.js';
import { finishRows } from './finish-rows.js';
import { HostFiles } from './host-files.js';
import { ScanNotes } from './scan-notes.js';
import type { ScanNews, ScanOrder, ScanSummary } from './scan-order.js';
import { scanTimeOf } from './scan-time.js';
import { type UserHome, userHomes } from './user-homes.js';

/** Rows that are told at a time: a millisecond of the daemon. */
const ROWS_A_TIME = 256;

/** What several tables need, read once a scan. */
class ScanSources {
  readonly files: HostFiles;
  readonly allPorts: boolean;
  #accounts: Accounts | undefined;
  #homes: UserHome[] | undefined;

  constructor({ root, allPorts }: ScanOrder, notes: ScanNotes) {
    this.files = new HostFiles(root, notes);
    this.allPorts = allPorts;
  }

  get accounts(): Accounts {
    return (this.#accounts ??= readAccounts(this.files));
  }

  get homes(): readonly UserHome[] {
    return (this.#homes ??= userHomes(this.files, this.accounts));
  }
}

type Collector = (sources: ScanSources) => readonly InventoryRow[] | Promise<readonly InventoryRow[]>;

const COLLECTORS: Readonly<Record<InventoryTableName, Collector>> = {
  hwinfo: ({ files }) => readHardware(files),
  osinfo: ({ files }) => readSystemRelease(files),
  network_iface: ({ files }) => interfaceRows(files),
  network_protocol: ({ files }) => {
    const routes = {
      ipv4: parseRoutes(files.text('/proc/net/route')),
      ipv6: parseIpv6Routes(files.text('/proc/net/ipv6_route')),
    };
    return protocolRows(hostAddresses(), routes, (iface, family) => readDhcp(files, iface, family));
  },
  network_address: () => addressRows(hostAddresses()),
  packages: ({ files, homes }) => readPackages(files, homes),
  // Of Windows.
  hotfixes: () => [],
  ports: ({ files, allPorts }) => readPorts(files, allPorts),
  processes: ({ files, accounts }) => readProcesses(files, accounts),
  users: ({ files, accounts }) => readUsers(files, accounts),
  groups: ({ accounts }) => groupRows(accounts),
  services: ({ files }) => readServices(files),
  browser_extensions: ({ homes }) => readBrowserExtensions(homes),
};

/**
 * Looks at the host, one table after the other, in the thread that calls it. A table that cannot be taken fails by itself.
 * @param tell resolves when what it is told was taken
 */
export async function scanHost(order: ScanOrder, tell: (news: ScanNews) => Promise<void>): Promise<ScanSummary> {
  const notes = new ScanNotes();
  const sources = new ScanSources(order, notes);
  const scanTime = scanTimeOf(order.now);
  for (const name of order.tables) {
    const table = inventoryTable(name);
    if (table === undefined) continue;
    try {
      const rows = await COLLECTORS[name](sources);
      // The system is told anew each time (integrity-and-inventory.md 11.3).
      const checksum = name === 'osinfo' ? { checksum: `${String(Date.now())}000000` } : {};
      const finished = finishRows(table, rows, { scanTime, notes, ...checksum });
      for (let at = 0; at === 0 || at < finished.length; at += ROWS_A_TIME) {
        const last = at + ROWS_A_TIME >= finished.length;
        await tell({ table: name, rows: finished.slice(at, at + ROWS_A_TIME), last });
      }
    } catch (error) {
      await tell({ table: name, failure: describeError(error) });
    }
  }
  return { notes: notes.all };
}
