import { isIP, isIPv4 } from 'node:net';
import { IpExpression, parseAddress } from './ip-expression.js';

const ANY = 'any';
const IPV4_BITS = 32;
const IPV6_BITS = 128;

/**
 * The text of an address as keys and logs show it (agents-and-groups.md 1.1): IPv4 mapped in IPv6 as IPv4, IPv6 as eight
 * groups of four digits in upper case, without a zone. Any other text is returned as it is.
 */
export function normalizeAddress(text: string): string {
  if (!text.includes(':')) return text;
  const zone = text.indexOf('%');
  const numbers = parseAddress(zone < 0 ? text : text.slice(0, zone));
  if (numbers === undefined) return text;
  if (numbers.length === 4) return numbers.join('.');
  return numbers.map((group) => group.toString(16).toUpperCase().padStart(4, '0')).join(':');
}

/** From where an agent may send: the third field of its key (agents-and-groups.md 1.1). */
export class AgentAddress {
  static readonly any = new AgentAddress(ANY, undefined);

  readonly #network: IpExpression | undefined;

  private constructor(
    /** `any`, an address, or an address with `/n`, as it is written to the key file. */
    readonly text: string,
    network: IpExpression | undefined,
  ) {
    this.#network = network;
  }

  /**
   * Reads `any`, an address, or a network with `/n` or an IPv4 mask; a `!` before it has no effect.
   * @returns undefined when the text is none of these
   */
  static parse(source: string): AgentAddress | undefined {
    const text = source.startsWith('!') ? source.slice(1) : source;
    if (text === ANY) return AgentAddress.any;
    const slash = text.indexOf('/');
    const address = normalizeAddress(slash < 0 ? text : text.slice(0, slash));
    if (slash < 0) return isIP(address) === 0 ? undefined : new AgentAddress(address, undefined);
    const bits = address.includes(':') ? IPV6_BITS : IPV4_BITS;
    const prefix = prefixLength(text.slice(slash + 1));
    const full = Number(prefix) === bits;
    const network = IpExpression.compile([`${address}/${prefix}`]);
    if (!(network instanceof IpExpression)) return undefined;
    return full ? new AgentAddress(address, undefined) : new AgentAddress(`${address}/${prefix}`, network);
  }

  /**
   * Whether it is one IPv4 address: only then an agent leaves the id out of its messages, and is found by its address.
   * Networks, `any` and every IPv6 value are not.
   */
  get single(): boolean {
    return this.#network === undefined && this.text !== ANY && isIPv4(this.text);
  }

  /** Whether an address belongs to it. @param source as `normalizeAddress` gives it */
  contains(source: string): boolean {
    return this.text === ANY || (this.#network === undefined ? this.text === source : this.#network.contains(source));
  }
}

/** The `n` of `/n` for a mask of leading ones; any other text as it is. */
function prefixLength(mask: string): string {
  const numbers = isIPv4(mask) ? parseAddress(mask) : undefined;
  if (numbers === undefined) return mask;
  const binary = numbers.map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return /^1*0*$/.test(binary) ? String(binary.lastIndexOf('1') + 1) : mask;
}
