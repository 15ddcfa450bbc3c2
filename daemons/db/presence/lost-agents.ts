import type { HandlerParams, HandlerResult } from '../../../lib/bus/contract.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import type { Singleton } from '../../../lib/cluster/singleton.js';
import { disconnected, NO_KEEPALIVE_CODE } from '../agent-changes.js';
import { type AgentRecord, type AgentRow, MANAGER_ID } from '../agent-record.js';
import { namedAgent } from '../agent-rows.js';
import type { Registry } from '../registry.js';
import type { ClusterNodes } from './cluster-nodes.js';
import type { Outgoing } from './outgoing.js';

export type LostAgentsParts = {
  readonly registry: Registry;
  readonly outgoing: Pick<Outgoing, 'noteRow'>;
  readonly nodes: Pick<ClusterNodes, 'connected' | 'awayMs'>;
  readonly lease: Pick<Singleton, 'mayAct'>;
  /** Whether it is known well enough where agents are, or has not been for so many seconds. */
  readonly mayDisconnect: (seconds: number) => boolean;
};

const SECOND_MS = 1000;

/** Agents of nodes that are lost: the holder of the lease says what becomes of them. */
export class LostAgents {
  constructor(private readonly parts: LostAgentsParts) {}

  /** As `agents.lost` of the contract. @throws BusError `disk_full`, `disk_failed` */
  async judge({
    seconds,
    disconnect,
    at,
  }: HandlerParams<typeof dbContract, 'agents.lost'>): Promise<HandlerResult<typeof dbContract, 'agents.lost'>> {
    const { registry, nodes, outgoing, lease, mayDisconnect } = this.parts;
    const mayJudge = (): boolean => nodes.connected && mayDisconnect(seconds);
    if (!mayJudge() || !(await lease.mayAct())) return { agents: [], judged: false };
    const rows = await registry.edit((edit) => {
      // This process may have stood still since it asked.
      if (!mayJudge()) return undefined;
      const lost = registry.agents.byId().filter((row) => this.#isLost(row, seconds, disconnect));
      if (disconnect) for (const row of lost) edit.setAgent(row.id, lostRecord(row.record, at));
      return lost;
    });
    if (rows === undefined) return { agents: [], judged: false };
    if (disconnect) for (const { id } of rows) outgoing.noteRow(id);
    return { agents: rows.map(namedAgent), judged: true };
  }

  #isLost({ id, record: { claim, nodeName, status } }: AgentRow, seconds: number, connected: boolean): boolean {
    if (id === MANAGER_ID || claim === undefined || status === 'never_connected') return false;
    return (status !== 'disconnected') === connected && this.parts.nodes.awayMs(nodeName) >= seconds * SECOND_MS;
  }
}

/** Under the same claim: wherever the agent connects, that is newer. */
function lostRecord(record: AgentRecord, at: number): AgentRecord {
  return { ...disconnected(record, NO_KEEPALIVE_CODE, at), revision: (record.revision ?? 0) + 1 };
}
