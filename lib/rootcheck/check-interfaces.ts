import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckContext } from './check-context.js';
import { promiscuous } from './findings.js';

const SYSTEM_INTERFACES = '/sys/class/net';
/** IFF_PROMISC of netdevice(7). */
const PROMISCUOUS = 0x100;

/**
 * Looks for interfaces that take every packet (integrity-and-inventory.md 9.2, `if`). The kernel's own flags also tell of
 * programs that listen, which ifconfig does not show on today's Linux: it is no trojan for that, and is not asked.
 * Ports of bridges, bonds and the like take every packet by their nature, and are left out.
 */
export async function checkInterfaces(context: CheckContext, directory = SYSTEM_INTERFACES): Promise<void> {
  let names: string[];
  try {
    names = readdirSync(directory, 'latin1');
  } catch (error) {
    context.note('debug', `The check 'if' is left out: ${(error as Error).message}`);
    return;
  }
  for (const name of names.sort()) {
    context.step();
    if (isPromiscuous(join(directory, name))) await context.report(promiscuous(name));
  }
}

function isPromiscuous(path: string): boolean {
  try {
    const flags = Number(readFileSync(join(path, 'flags'), 'latin1').trim());
    if ((flags & PROMISCUOUS) === 0) return false;
    return !readdirSync(path).some((name) => name === 'master' || name === 'brport' || name.startsWith('upper_'));
  } catch {
    // It went, or is no interface: there is a file `bonding_masters` among them.
    return false;
  }
}
