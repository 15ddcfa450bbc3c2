/**
 * Has our responses work with the real tools of the system, in a network of its own: run by `unshare --net` as root. The first
 * argument is a directory with the tools they may use. Writes what came of each step as JSON.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, isIPv6 } from 'node:net';
import { FIREWALL_DROP } from '../../../daemons/execd/scripts/firewall-drop.js';
import type { ResponseHost } from '../../../daemons/execd/scripts/response.js';
import { ROUTE_NULL } from '../../../daemons/execd/scripts/route-null.js';
import { Tools } from '../../../daemons/execd/scripts/tools.js';
import { pause } from '../../../lib/async/pause.js';

/** Attackers, and somebody else each. */
const ADDRESSES = [
  { attacker: '203.0.113.9', other: '203.0.113.10', server: '198.51.100.1' },
  { attacker: '2001:db8::9', other: '2001:db8::10', server: '2001:db8:1::1' },
];
/** What is dropped is never answered; what is not may take a while on a busy machine. */
const SILENCE_MS = 400;
const PATIENCE_MS = 10_000;
const RETRY_MS = 20;

const [directory = ''] = process.argv.slice(2);
const host: ResponseHost = {
  tools: new Tools([directory]),
  home: '/nonexistent',
  etc: '/nonexistent',
  restart: () => Promise.reject(new Error('not asked for')),
};

function ip(...args: string[]): boolean {
  return spawnSync('/usr/sbin/ip', args).status === 0;
}

/** Whether a connection from an address comes about in so many milliseconds. */
async function reaches(from: string, server: string, port: number, timeout = PATIENCE_MS): Promise<boolean> {
  const end = performance.now() + timeout;
  for (;;) {
    const socket = connect({ host: server, port, localAddress: from, timeout: Math.max(1, end - performance.now()) });
    try {
      return await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'timeout').then(() => false)]);
    } catch (error) {
      // An address that is new is not known everywhere at once.
      if (performance.now() > end) throw error;
      await pause(RETRY_MS);
    } finally {
      socket.destroy();
    }
  }
}

const server = createServer((socket) => socket.end()).listen(0, '::');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
ip('link', 'set', 'lo', 'up');
const result: Record<string, unknown> = {};
for (const { attacker, other, server: to } of ADDRESSES) {
  const more = isIPv6(attacker) ? ['nodad'] : [];
  for (const address of [attacker, other, to]) {
    ip('addr', 'add', `${address}/${isIPv6(address) ? '128' : '32'}`, 'dev', 'lo', ...more);
  }
  const steps = {
    open: await reaches(attacker, to, port),
    added: FIREWALL_DROP.add(attacker, host) ?? 'ok',
    addedTwice: FIREWALL_DROP.add(attacker, host) ?? 'ok',
    dropped: !(await reaches(attacker, to, port, SILENCE_MS)),
    othersOpen: await reaches(other, to, port),
    removed: FIREWALL_DROP.remove?.(attacker, host) ?? 'ok',
    openAgain: await reaches(attacker, to, port),
    removedTwice: FIREWALL_DROP.remove?.(attacker, host) ?? 'ok',
  };
  result[attacker] = steps;
}
if (host.tools.find('ip') !== undefined) {
  for (const address of ['192.0.2.77', '2001:db8:77::1']) {
    const family = isIPv6(address) ? '-6' : '-4';
    ip(family, 'route', 'add', 'default', 'dev', 'lo');
    const routed = (): boolean => ip(family, 'route', 'get', address);
    result[address] = {
      open: routed(),
      added: ROUTE_NULL.add(address, host) ?? 'ok',
      addedTwice: ROUTE_NULL.add(address, host) ?? 'ok',
      nowhere: !routed(),
      removed: ROUTE_NULL.remove?.(address, host) ?? 'ok',
      openAgain: routed(),
      removedTwice: ROUTE_NULL.remove?.(address, host) ?? 'ok',
    };
  }
}
process.stdout.write(JSON.stringify(result), () => process.exit(0));
