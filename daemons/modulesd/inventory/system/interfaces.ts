import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import type { HostFiles } from '../host/host-files.js';
import { count, known, UNKNOWN } from '../host/known.js';

const SYSFS = '/sys/class/net';

/** Kinds of hardware, as the kernel numbers them (if_arp.h). */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['1', 'ethernet'],
  ['4', 'token ring'],
  ['19', 'ATM'],
  ['24', 'firewire'],
  ['32', 'infiniband'],
  ['512', 'point-to-point'],
  ['768', 'tunnel'],
  ['769', 'tunnel'],
  ['776', 'tunnel'],
  ['778', 'tunnel'],
  ['801', 'wireless'],
  ['803', 'wireless'],
]);
const LOOPBACK = '772';

/** Interfaces of the host by their names, without the loopback one, as the reference has it. */
function interfaceNames(files: HostFiles): string[] {
  // Beside the interfaces there may be files, such as those of bonding.
  return files.names(SYSFS).filter((name) => {
    const type = files.line(`${SYSFS}/${name}/type`);
    return type !== '' && type !== LOOPBACK;
  });
}

/** Interfaces with their counters: table `network_iface`. */
export function interfaceRows(files: HostFiles): InventoryRow[] {
  return interfaceNames(files).map((name) => {
    const line = (file: string): string => files.line(`${SYSFS}/${name}/${file}`);
    const counter = (file: string): number => count(line(`statistics/${file}`));
    return {
      name,
      adapter: UNKNOWN,
      type: known(TYPES.get(line('type'))),
      state: known(line('operstate')),
      mtu: count(line('mtu')),
      mac: known(line('address')),
      tx_packets: counter('tx_packets'),
      rx_packets: counter('rx_packets'),
      tx_bytes: counter('tx_bytes'),
      rx_bytes: counter('rx_bytes'),
      tx_errors: counter('tx_errors'),
      rx_errors: counter('rx_errors'),
      tx_dropped: counter('tx_dropped'),
      rx_dropped: counter('rx_dropped'),
    };
  });
}
