import { normalizeAddress } from './agent-address.js';

/** Groups of four hex digits that name an IPv6 network of /64. */
const NETWORK_GROUPS = 4;

/**
 * What counts as one address where addresses have budgets: an IPv4 address, or the /64 network of an IPv6 address, since
 * whoever has one address of such a network has them all.
 * @param address as a socket tells it; IPv4 mapped in IPv6 is IPv4
 */
export function addressGroup(address: string): string {
  const text = normalizeAddress(address);
  return text.includes(':') ? `${text.split(':').slice(0, NETWORK_GROUPS).join(':')}::/64` : text;
}
