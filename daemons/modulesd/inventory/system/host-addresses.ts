import { networkInterfaces } from 'node:os';
import type { InterfaceAddress } from './network.js';

/** Addresses of the interfaces that are up, without those of the loopback one. */
export function hostAddresses(): InterfaceAddress[] {
  return Object.entries(networkInterfaces()).flatMap(([iface, addresses = []]) =>
    addresses
      .filter(({ internal }) => !internal)
      .map(({ family, address, netmask }) => ({
        iface,
        family: family === 'IPv4' ? ('ipv4' as const) : ('ipv6' as const),
        address,
        netmask,
      })),
  );
}
