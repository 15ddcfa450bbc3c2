import type { HandlerParams, Handlers } from '../../../lib/bus/contract.js';
import { clusterdContract } from '../../../lib/bus/contracts/clusterd.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import type { handoverMethods } from '../../../lib/bus/contracts/db-handover.js';
import type { presenceMethods } from '../../../lib/bus/contracts/db-presence.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonParts } from '../../../lib/daemon/daemon-parts.js';
import type { Home } from '../../../lib/home/home.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { AgentStores } from '../agent-stores.js';
import type { DbSettings } from '../db-settings.js';
import { RowHandover } from '../handover/row-handover.js';
import type { Registry } from '../registry.js';
import { AgentPresence, TELL_MS } from './agent-presence.js';
import { ALONE, type Owners } from './owners.js';
import { withoutCluster } from './without-cluster.js';

/** Longest wait for a page of an agent's rows. */
const ROWS_MS = 30_000;
const BUS_MS = 1000;

export type PresenceOfDaemon = {
  readonly owners: Owners;
  readonly handlers: Pick<Handlers<typeof dbContract>, keyof typeof presenceMethods | keyof typeof handoverMethods>;
  /** Members of the daemon's statistics. */
  readonly stats: () => Record<string, unknown>;
};

export type PresenceOfDaemonParts = {
  readonly home: Home;
  readonly logger: Logger;
  readonly settings: DbSettings;
  readonly registry: Registry;
  readonly stores: AgentStores;
  readonly now: () => number;
};

/** Has other nodes told of agents, hears from them, and has rows follow agents; without a cluster there is nothing of it. */
export async function openPresence(
  { home, logger, settings, registry, stores, now }: PresenceOfDaemonParts,
  parts: DaemonParts,
): Promise<PresenceOfDaemon> {
  if (!settings.clustered) return { owners: ALONE, handlers: withoutCluster(), stats: () => ({}) };
  const node = settings.nodeName;
  const client = parts.use(new RequestClient({ contract: clusterdContract, path: home.socket('svc-clusterd') }));
  const rows = parts.use(
    new RowHandover({
      stores: stores.handover,
      all: stores.all,
      isOwn: (agent) => registry.agents.get(Number(agent))?.record.nodeName === node,
      nameOf: (agent) => registry.agents.get(Number(agent))?.record.name ?? '',
      ask: async (other, params) => {
        const asked = { node: other, daemon: 'svc-db', method: 'agents.rows', params, deadlineMs: ROWS_MS } as const;
        return (await client.call('nodes.ask', asked, { deadlineMs: ROWS_MS + BUS_MS })).result;
      },
      log: logger.limited(),
    }),
  );
  const presence = await parts.start(
    new AgentPresence({ registry, client, node, logger, now, monotonic: () => performance.now(), rows }),
  );
  parts.every(TELL_MS, () => void presence.turn());
  return {
    owners: presence,
    handlers: {
      ...presence.handlers(),
      'agents.rows': (params: HandlerParams<typeof dbContract, 'agents.rows'>) => rows.page(params),
    },
    stats: () => ({ presence: presence.stats(), handover: { waiting: rows.waiting, ...rows.counters } }),
  };
}
