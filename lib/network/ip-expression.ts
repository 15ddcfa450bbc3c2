import { isIPv4 } from 'node:net';

/** A network: the first `bits` of `address` must be equal. IPv4 is held as its IPv4 family, never as mapped IPv6. */
type Network = { readonly family: 4 | 6; readonly address: readonly number[]; readonly mask: readonly number[] };

/**
 * A list of addresses and networks, as `srcip`, `dstip` and white lists write them (rules-and-alerts.md 6.5):
 * `a.b.c.d`, `a.b.c.d/0..32`, `a.b.c.d/m.m.m.m`, `::ffff:` before any of them, IPv6 with an optional `/0..128`, `any`.
 */
export class IpExpression {
  readonly #networks: readonly Network[];
  readonly #any: boolean;

  private constructor(networks: readonly Network[], any: boolean) {
    this.#networks = networks;
    this.#any = any;
  }

  /**
   * Compiles the sources of one list.
   * @returns the expression, or the first source that is no address
   */
  static compile(sources: readonly string[]): IpExpression | { readonly invalid: string } {
    const networks: Network[] = [];
    let any = false;
    for (const source of sources) {
      // A leading `!` is accepted without any effect; `negate="yes"` is the supported way (13.1, Q13).
      const text = source.startsWith('!') ? source.slice(1) : source;
      if (text === 'any') {
        any = true;
        continue;
      }
      const network = parseNetwork(text);
      if (network === undefined) return { invalid: source };
      networks.push(network);
    }
    return new IpExpression(networks, any);
  }

  /** Whether the text is an address of the list. A text that is no address is not in any list, `any` included. */
  contains(text: string): boolean {
    const address = parseAddress(text);
    if (address === undefined) return false;
    if (this.#any) return true;
    return this.#networks.some((network) => inNetwork(network, address));
  }
}

function inNetwork(network: Network, address: readonly number[]): boolean {
  // Families never mix: 4 numbers are IPv4, 8 are IPv6.
  if (network.address.length !== address.length) return false;
  for (let i = 0; i < address.length; i += 1) {
    const mask = network.mask[i] ?? 0;
    if (((network.address[i] ?? 0) & mask) !== ((address[i] ?? 0) & mask)) return false;
  }
  return true;
}

function parseNetwork(text: string): Network | undefined {
  const slash = text.indexOf('/');
  const address = parseAddress(slash < 0 ? text : text.slice(0, slash));
  if (address === undefined) return undefined;
  const family = address.length === 4 ? 4 : 6;
  const unit = family === 4 ? 8 : 16;
  const width = unit * address.length;
  if (slash < 0) return { family, address, mask: prefixMask(width, unit, address.length) };
  const suffix = text.slice(slash + 1);
  if (/^\d{1,3}$/.test(suffix)) {
    const bits = Number(suffix);
    return bits <= width ? { family, address, mask: prefixMask(bits, unit, address.length) } : undefined;
  }
  const mask = family === 4 ? parseIpv4(suffix) : undefined;
  return mask === undefined ? undefined : { family, address, mask };
}

function prefixMask(bits: number, unit: number, count: number): number[] {
  const full = 2 ** unit - 1;
  return Array.from({ length: count }, (_, i) => {
    const used = Math.min(unit, Math.max(0, bits - i * unit));
    return full & ~(2 ** (unit - used) - 1);
  });
}

/** The numbers of an address: 4 bytes, or 8 groups of 16 bits; undefined when the text is no address. */
export function parseAddress(text: string): number[] | undefined {
  // The mapped form is IPv4 here, so that one network covers both spellings.
  const plain = /^::ffff:/i.test(text) && text.includes('.') ? text.slice(7) : text;
  return plain.includes(':') ? parseIpv6(plain) : parseIpv4(plain);
}

function parseIpv4(text: string): number[] | undefined {
  return isIPv4(text) ? text.split('.').map(Number) : undefined;
}

function parseIpv6(text: string): number[] | undefined {
  if (text.length > 39) return undefined;
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = groupsOf(halves[0] ?? '');
  const tail = halves.length === 2 ? groupsOf(halves[1] ?? '') : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  return [...head, ...Array.from({ length: missing }, () => 0), ...tail];
}

function groupsOf(text: string): number[] | undefined {
  if (text === '') return [];
  const groups = text.split(':');
  return groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))
    ? groups.map((group) => parseInt(group, 16))
    : undefined;
}
