import { dbContract } from '../../lib/bus/contracts/db.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import type { Home } from '../../lib/home/home.js';
import type { HomeRecord } from '../../lib/home/home-record.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { ControlOutput } from './control-output.js';

/** A hundred thousand agents are written, or read and compared, in seconds. */
const DEADLINE_MS = 120_000;
const DIRECTORY = 'backup/db';

/** What the commands work on. */
export type RegistryBackupParts = {
  readonly home: Home;
  readonly record: HomeRecord;
  readonly output: ControlOutput;
};

/**
 * `svc-control backup`: agents, their labels and groups into a file of `backup/db`, by the running svc-db (daemons-and-config.md
 * 9.3). @param list shows what there is instead
 * @throws Error with one clear line
 */
export async function backupAgents(parts: RegistryBackupParts, list: boolean): Promise<0> {
  const { output } = parts;
  if (list) {
    const { items } = await withDb(parts, (client) => client.call('backups.list', {}));
    for (const { name, made, bytes } of items) output.line(`${name}  ${made}  ${String(bytes)} bytes`);
    if (items.length === 0) output.line(`There is no backup in ${DIRECTORY}.`);
    output.document({ error: 0, data: items });
    return 0;
  }
  const made = await withDb(parts, (client) => client.call('backups.create', {}, { deadlineMs: DEADLINE_MS }));
  output.line(`Backed up agents and groups to ${DIRECTORY}/${made.name} (${String(made.bytes)} bytes).`);
  output.line('Keys are not in it: keep etc/client.keys as well.');
  output.document({ error: 0, data: made });
  return 0;
}

/**
 * `svc-control restore NAME`: brings back what a backup knows of the agents that have a key, while svc-db runs.
 * @param name of a file in `backup/db`
 * @throws Error with one clear line; nothing was changed then
 */
export async function restoreAgents(parts: RegistryBackupParts, name: string): Promise<0> {
  const { output } = parts;
  const base = name.startsWith(`${DIRECTORY}/`) ? name.slice(DIRECTORY.length + 1) : name;
  const report = await withDb(parts, (client) =>
    client.call('backups.restore', { name: base }, { deadlineMs: DEADLINE_MS }),
  );
  const { made, agents, groups, withoutKey, saved } = report;
  output.line(`Restored the backup of ${made}: ${String(agents)} agents; ${String(groups)} groups were missing.`);
  if (withoutKey > 0) output.line(`${String(withoutKey)} of its agents have no key any more: they were left out.`);
  if (saved !== undefined) output.line(`What there was before is in ${DIRECTORY}/${saved}`);
  output.document({ error: 0, data: report });
  return 0;
}

async function withDb<T>(
  { home, record }: RegistryBackupParts,
  ask: (client: RequestClient<typeof dbContract>) => Promise<T>,
): Promise<T> {
  if (record.role !== 'server') throw new Error('an agent has no registry of agents');
  const client = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  try {
    return await ask(client);
  } catch (error) {
    throw new Error(`svc-db did not do it: ${describeError(error)}`, { cause: error });
  } finally {
    client.close();
  }
}
