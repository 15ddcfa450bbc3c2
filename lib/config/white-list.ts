import { IpExpression } from '../network/ip-expression.js';
import { MatchContext } from '../patterns/matcher.js';
import { OsMatch } from '../patterns/os-match.js';

/** `::ffff:` before an IPv4 address. */
const MAPPED = /^::ffff:(?=\d+\.)/i;

/**
 * Who is never locked out: `<global><white_list>` (daemons-and-config.md 1.2, rules-and-alerts.md 8.3). What is no address and
 * no network is a pattern for host names. With `!` in front an address or network is taken out; where there is such an entry
 * everybody else is in.
 */
export class WhiteList {
  readonly #listed: IpExpression | undefined;
  readonly #negated: IpExpression | undefined;
  readonly #hosts: readonly OsMatch[];
  readonly #context = new MatchContext();

  /** @param entries as written @throws PatternError for a pattern that is too long */
  constructor(entries: readonly string[]) {
    const addresses = entries.filter(isAddress);
    this.#listed = compiled(addresses.filter((entry) => !entry.startsWith('!')));
    this.#negated = compiled(addresses.filter((entry) => entry.startsWith('!')));
    this.#hosts = entries.filter((entry) => !isAddress(entry)).map((entry) => new OsMatch(entry));
  }

  /** @param source an address, or the name of a host */
  contains(source: string): boolean {
    const text = source.replace(MAPPED, '');
    if (this.#listed?.contains(text) === true) return true;
    if (this.#negated !== undefined && isAddress(text) && !this.#negated.contains(text)) return true;
    const bytes = Buffer.from(text, 'utf8').toString('latin1');
    return this.#hosts.some((pattern) => pattern.test(bytes, this.#context));
  }
}

function isAddress(entry: string): boolean {
  return IpExpression.compile([entry]) instanceof IpExpression;
}

function compiled(entries: readonly string[]): IpExpression | undefined {
  if (entries.length === 0) return undefined;
  const expression = IpExpression.compile(entries);
  return expression instanceof IpExpression ? expression : undefined;
}
