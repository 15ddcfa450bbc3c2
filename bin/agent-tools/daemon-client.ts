import type { Contract } from '../../lib/bus/contract.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import type { Home } from '../../lib/home/home.js';
import { whyUnavailable } from '../terminal/why-unavailable.js';

/** Calls a daemon for a program that a person runs: when it is away, the error says what does not run and how to start it. */
export function daemonClient<C extends Contract>(home: Home, contract: C): RequestClient<C> {
  const { daemon } = contract;
  return new RequestClient({
    contract,
    path: home.socket(daemon),
    describeAbsence: (reason) => whyUnavailable(home, daemon, reason),
  });
}
