import type { AgentRow } from '../agent-record.js';
import type { Edit } from '../edit.js';

/** Which agents this node decides about: those that are connected to it, or were last. */
export interface Owners {
  isOwn(row: AgentRow): boolean;
  /**
   * Before agents that were heard here are taken: what they had here before they were elsewhere goes.
   * @throws BusError `disk_full`, `disk_failed`
   */
  prepare(agents: readonly string[]): Promise<void>;
  /** Makes an agent that was heard here one of this node. */
  take(edit: Edit, row: AgentRow): void;
  /** Notes a keepalive of an own agent of which nothing else is new. */
  beat(row: AgentRow): void;
  /**
   * Whether an agent that is not heard here can be called disconnected: it may be connected elsewhere by now.
   * @param seconds after which agents count as disconnected
   */
  mayDisconnect(seconds: number): boolean;
  /** Resolves when it is known which agents other nodes have, or that is not to be waited for. */
  settled(): Promise<void>;
}

/** Without a cluster: all agents are this manager's. */
export const ALONE: Owners = {
  isOwn: () => true,
  prepare: () => Promise.resolve(),
  take: () => {},
  beat: () => {},
  mayDisconnect: () => true,
  settled: () => Promise.resolve(),
};
