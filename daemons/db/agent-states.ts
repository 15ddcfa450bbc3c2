import type { z } from 'zod';
import type { agentMethods } from '../../lib/bus/contracts/db-agents.js';
import type { AgentRecord, AgentRow } from './agent-record.js';
import { Tallies } from './tallies.js';

type AgentsSummary = z.output<(typeof agentMethods)['agents.summary']['result']>;

/** Counts agents by status and synchronization. */
export class AgentStates {
  readonly #statuses = new Tallies<AgentRecord['status']>();
  readonly #configurations = new Tallies<AgentRow['groupConfigStatus']>();
  #total = 0;

  add(row: AgentRow): void {
    this.#statuses.add(row.record.status, row);
    this.#configurations.add(row.groupConfigStatus, row);
    this.#total += 1;
  }

  get counts(): Pick<AgentsSummary, 'connection' | 'configuration'> {
    const [statuses, total, synced] = [this.#statuses, this.#total, this.#configurations.count('synced')];
    return {
      connection: {
        active: statuses.count('active'),
        disconnected: statuses.count('disconnected'),
        never_connected: statuses.count('never_connected'),
        pending: statuses.count('pending'),
        total,
      },
      configuration: { synced, not_synced: total - synced, total },
    };
  }
}
