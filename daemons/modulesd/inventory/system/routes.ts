import { addressOf, plainAddressOf } from './address-text.js';

/** Way out of the host by one interface. */
export type DefaultRoute = { readonly iface: string; readonly gateway: string; readonly metric: string };

const REJECT = 0x200;

/** Default routes of `/proc/net/route`, those that are taken first in front. */
export function parseRoutes(text: string): DefaultRoute[] {
  return sorted(
    text.split('\n').flatMap((line) => {
      const [iface, destination, gateway = '', flags, , , metric = '', mask] = line.split(/\s+/);
      if (iface === undefined || destination !== '00000000' || mask !== '00000000') return [];
      if ((Number.parseInt(flags ?? '0', 16) & REJECT) !== 0) return [];
      return [{ iface, gateway: addressOf(gateway) ?? '', metric }];
    }),
  );
}

/** Default routes of `/proc/net/ipv6_route`. */
export function parseIpv6Routes(text: string): DefaultRoute[] {
  return sorted(
    text.split('\n').flatMap((line) => {
      const fields = line.trim().split(/\s+/);
      const [destination, length, , , gateway = '', metric = '', , , flags = '0'] = fields;
      const iface = fields[9];
      if (iface === undefined || length !== '00' || !/^0{32}$/.test(destination ?? '')) return [];
      if ((Number.parseInt(flags, 16) & REJECT) !== 0) return [];
      return [{ iface, gateway: plainAddressOf(gateway) ?? '', metric: String(Number.parseInt(metric, 16) || 0) }];
    }),
  );
}

function sorted(routes: DefaultRoute[]): DefaultRoute[] {
  return routes.sort((one, other) => Number(one.metric) - Number(other.metric));
}
