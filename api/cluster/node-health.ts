import type { ClusterNode } from '../../lib/bus/contracts/clusterd.js';
import { COMPATIBILITY_VERSION } from '../../lib/product/version.js';

/** What has not happened, or means nothing here. */
const NOT_APPLICABLE = 'n/a';

/**
 * An item of `GET /cluster/healthcheck` (daemons-and-config.md 10.6). Files and tables do not travel between two nodes here, so there are
 * no such synchronisations to tell of: they have the contract's neutral form. The master has no status, as in the contract.
 * @param activeAgents agents that are connected to the node
 */
export function nodeHealth(node: ClusterNode, activeAgents: number): Readonly<Record<string, unknown>> {
  const { name, type, ip, heardAt } = node;
  const info = { name, type, version: COMPATIBILITY_VERSION, ip, n_active_agents: activeAgents };
  if (type === 'master') return { info };
  const between = { date_start_master: NOT_APPLICABLE, date_end_master: NOT_APPLICABLE };
  const during = { date_start: NOT_APPLICABLE, date_end: NOT_APPLICABLE, n_synced_chunks: 0 };
  return {
    info,
    status: {
      sync_integrity_free: true,
      last_check_integrity: between,
      last_sync_integrity: {
        date_start_master: NOT_APPLICABLE,
        tmp_date_start_master: NOT_APPLICABLE,
        date_end_master: NOT_APPLICABLE,
        total_extra_valid: 0,
        total_files: { missing: 0, shared: 0, extra: 0, extra_valid: 0 },
      },
      sync_agent_info_free: true,
      last_sync_agentinfo: { ...between, n_synced_chunks: 0 },
      last_sync_agentgroup: during,
      last_sync_full_agentgroup: during,
      last_keep_alive: heardAt === null ? NOT_APPLICABLE : microseconds(heardAt),
    },
  };
}

/** `2025-06-05T08:00:09.000000Z`. @param at epoch milliseconds */
function microseconds(at: number): string {
  return new Date(at).toISOString().replace('Z', '000Z');
}
