import type { RemoteConfig } from '../../../lib/config/sections/remote.js';
import { IpExpression } from '../../../lib/network/ip-expression.js';
import { MAX_REMEMBERED_SENDERS } from './syslog-limits.js';

type AddressLists = Pick<RemoteConfig, 'allowed-ips' | 'denied-ips'>;

/** Who may send syslog: those in `<allowed-ips>` that are not in `<denied-ips>` (daemons-and-config.md 1.2); without the first nobody. */
export class AllowedSenders {
  readonly #inForce: () => AddressLists;
  #lists: AddressLists | undefined;
  #allowed: IpExpression | undefined;
  #denied: IpExpression | undefined;
  #known = new Map<string, boolean>();

  /** @param inForce the block as the last reload left it; another object is another setting */
  constructor(inForce: () => AddressLists) {
    this.#inForce = inForce;
  }

  /** @param address as `normalizeAddress` gives it */
  allows(address: string): boolean {
    const lists = this.#inForce();
    if (lists !== this.#lists) this.#take(lists);
    let allowed = this.#known.get(address);
    if (allowed === undefined) {
      allowed = this.#denied?.contains(address) !== true && this.#allowed?.contains(address) === true;
      if (this.#known.size >= MAX_REMEMBERED_SENDERS) this.#known.clear();
      this.#known.set(address, allowed);
    }
    return allowed;
  }

  #take(lists: AddressLists): void {
    this.#lists = lists;
    this.#allowed = expression(lists['allowed-ips']);
    this.#denied = expression(lists['denied-ips']);
    this.#known = new Map();
  }
}

function expression(sources: readonly string[]): IpExpression {
  const compiled = IpExpression.compile(sources);
  if (compiled instanceof IpExpression) return compiled;
  throw new Error(`'${compiled.invalid}' is no address: the configuration should not have let it through`);
}
