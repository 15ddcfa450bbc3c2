import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import { known, UNKNOWN } from '../host/known.js';
import type { AddressFamily } from './address-family.js';
import { broadcastOf } from './address-text.js';
import type { Dhcp } from './dhcp.js';
import type { DefaultRoute } from './routes.js';

/** An address of an interface that is up. */
export type InterfaceAddress = {
  readonly iface: string;
  readonly family: AddressFamily;
  readonly address: string;
  readonly netmask: string;
};

/** Protocols that an interface has addresses of, with the way out of the host: table `network_protocol`. */
export function protocolRows(
  addresses: readonly InterfaceAddress[],
  routes: Readonly<Record<AddressFamily, readonly DefaultRoute[]>>,
  dhcp: (iface: string, family: AddressFamily) => Dhcp,
): InventoryRow[] {
  const pairs = new Map(addresses.map(({ iface, family }) => [`${iface} ${family}`, { iface, family }]));
  return [...pairs.values()].map(({ iface, family }) => {
    const route = routes[family].find((one) => one.iface === iface);
    return {
      iface,
      type: family,
      gateway: known(route?.gateway),
      dhcp: dhcp(iface, family),
      metric: known(route?.metric),
    };
  });
}

/** Table `network_address`; `proto` is 0 for IPv4 and 1 for IPv6. */
export function addressRows(addresses: readonly InterfaceAddress[]): InventoryRow[] {
  return addresses.map(({ iface, family, address, netmask }) => ({
    iface,
    proto: family === 'ipv4' ? 0 : 1,
    address,
    netmask: known(netmask),
    broadcast: family === 'ipv4' ? known(broadcastOf(address, netmask)) : UNKNOWN,
  }));
}
