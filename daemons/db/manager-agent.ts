import { MANAGER_KEEPALIVE } from '../../lib/bus/contracts/db-agents.js';
import { hostSystem } from '../../lib/manager/host-system.js';
import { COMPATIBILITY_VERSION } from '../../lib/product/version.js';
import { MANAGER_ID } from './agent-record.js';
import type { Registry } from './registry.js';

/** Version of the manager as agents report theirs. */
export const MANAGER_VERSION = `Wazuh v${COMPATIBILITY_VERSION}`;

const LOOPBACK = '127.0.0.1';

/**
 * Makes agent 000, the manager itself, what it is now (agents-and-groups.md 10.1); it was added with the database.
 * @param now epoch seconds
 */
export async function ensureManagerAgent(
  registry: Registry,
  host: string,
  nodeName: string,
  now: number,
): Promise<void> {
  const { uname, ...os } = hostSystem();
  await registry.edit((edit) => {
    const row = edit.setAgent(MANAGER_ID, {
      name: host,
      ip: LOOPBACK,
      registerIP: LOOPBACK,
      os,
      uname,
      version: MANAGER_VERSION,
      manager: host,
      nodeName,
      dateAdd: registry.agents.get(MANAGER_ID)?.record.dateAdd ?? now,
      groups: [],
      status: 'active',
      statusCode: 0,
      disconnectionTime: 0,
    });
    edit.setKeepAlive(row, MANAGER_KEEPALIVE);
  });
}
