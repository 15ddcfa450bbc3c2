import type { CheckContext } from './check-context.js';
import { hiddenPort, tooManyPorts } from './findings.js';
import type { PortCalls, PortProtocol } from './port-calls.js';

const LAST_PORT = 65_535;
/** Ports tried between two pauses. */
const GROUP = 256;
/** Findings of a protocol after which it is said that there are too many. */
const MOST_FINDINGS = 20;
/** Times that a port must be hidden before it is told: sockets come and go. */
const LOOKS = 3;

/**
 * Tries every port that the system does not list as used (integrity-and-inventory.md 9.2, `ports`): /proc/net is what
 * netstat shows, without the program that could be a trojan.
 */
export async function checkPorts(context: CheckContext, calls: PortCalls): Promise<void> {
  for (const protocol of ['tcp', 'udp'] as const) {
    if (calls.listed(protocol) === undefined) {
      context.note('debug', `The check 'ports' is left out for ${protocol}: /proc/net does not list its ports`);
    } else {
      await checkProtocol(context, calls, protocol);
    }
  }
}

async function checkProtocol(context: CheckContext, calls: PortCalls, protocol: PortProtocol): Promise<void> {
  let found = 0;
  let listed = calls.listed(protocol);
  for (let first = 1; first <= LAST_PORT; first += GROUP) {
    const suspects: number[] = [];
    for (let port = first; port < first + GROUP && port <= LAST_PORT; port += 1) {
      context.step();
      if (listed?.has(port) !== true && (await calls.bind(protocol, port)) === 'used') suspects.push(port);
    }
    if (suspects.length > 0) listed = calls.listed(protocol);
    for (const port of suspects) {
      if (listed?.has(port) === true || !(await isHidden(context, calls, protocol, port))) continue;
      found += 1;
      if (found > MOST_FINDINGS) {
        await context.report(tooManyPorts(protocol));
        return;
      }
      await context.report(hiddenPort(port, protocol));
    }
    await context.pause();
  }
}

async function isHidden(
  context: CheckContext,
  calls: PortCalls,
  protocol: PortProtocol,
  port: number,
): Promise<boolean> {
  for (let look = 0; look < LOOKS; look += 1) {
    await context.pause();
    if ((await calls.bind(protocol, port)) !== 'used') return false;
    if (calls.listed(protocol)?.has(port) !== false) return false;
    // It was used all the time, so that the list should have had it.
    if ((await calls.bind(protocol, port)) !== 'used') return false;
  }
  // A TCP socket that is bound and does not listen is in no list, and is no harm: nobody can connect to it.
  return protocol === 'udp' || calls.answers(port);
}
