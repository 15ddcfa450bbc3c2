import { isIP, isIPv4, isIPv6 } from 'node:net';

/** Whether the text is one IPv4 or IPv6 address. */
export function isAddress(text: string): boolean {
  return isIP(text) !== 0;
}

/**
 * Whether the text is an address, or a network: `a.b.c.d`, `a.b.c.d/0..32`, `a.b.c.d/m.m.m.m`, IPv6 with optional
 * `/0..128`, or `any` (rules-and-alerts.md 6.5).
 */
export function isNetwork(text: string): boolean {
  if (text === 'any') {
    return true;
  }
  const slash = text.indexOf('/');
  const address = slash < 0 ? text : text.slice(0, slash);
  const mask = slash < 0 ? undefined : text.slice(slash + 1);
  if (isIPv4(address)) {
    return mask === undefined || isPrefix(mask, 32) || isIPv4(mask);
  }
  return isIPv6(address) && (mask === undefined || isPrefix(mask, 128));
}

function isPrefix(text: string, most: number): boolean {
  return /^\d{1,3}$/.test(text) && Number(text) <= most;
}
