/** Address of `/proc/net/tcp` and its like: the bytes of each word in the order of this host. */
export function addressOf(hex: string): string | undefined {
  if (!/^(?:[0-9A-Fa-f]{8}|[0-9A-Fa-f]{32})$/.test(hex)) return undefined;
  const bytes: number[] = [];
  for (let word = 0; word < hex.length; word += 8) {
    // Hosts that Node runs on are little-endian but for s390x.
    const swapped = [6, 4, 2, 0].map((at) => Number.parseInt(hex.slice(word + at, word + at + 2), 16));
    bytes.push(...swapped);
  }
  return bytes.length === 4 ? bytes.join('.') : ipv6Text(bytes);
}

/** Address of `/proc/net/ipv6_route`: the bytes in the order of the network. */
export function plainAddressOf(hex: string): string | undefined {
  if (!/^[0-9A-Fa-f]{32}$/.test(hex)) return undefined;
  return ipv6Text([...Buffer.from(hex, 'hex')]);
}

/** As inet_ntop(3) writes it: the longest run of zeros, of two groups at least, is left out. */
function ipv6Text(bytes: readonly number[]): string {
  const groups = Array.from({ length: 8 }, (_none, at) => (bytes[at * 2] ?? 0) * 256 + (bytes[at * 2 + 1] ?? 0));
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return `::ffff:${bytes.slice(12).join('.')}`;
  let best = { at: -1, length: 1 };
  for (let at = 0; at < 8; at += 1) {
    let length = 0;
    while (at + length < 8 && groups[at + length] === 0) length += 1;
    if (length > best.length) best = { at, length };
  }
  const text = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':');
  if (best.at < 0) return text(groups);
  return `${text(groups.slice(0, best.at))}::${text(groups.slice(best.at + best.length))}`;
}

/** Last address of a network of IPv4; undefined where it has none of its own. */
export function broadcastOf(address: string, netmask: string): string | undefined {
  const host = address.split('.').map(Number);
  const mask = netmask.split('.').map(Number);
  if (host.length !== 4 || mask.length !== 4) return undefined;
  const hostBits = mask.reduce((sum, part) => sum + (8 - (part.toString(2).match(/1/g)?.length ?? 0)), 0);
  if (hostBits < 2) return undefined;
  return host.map((part, at) => (part & (mask[at] ?? 0)) | (~(mask[at] ?? 0) & 255)).join('.');
}
