import type { AgentKey } from '../../lib/agentlink/agent-key.js';

/** The keys there are, as a decision sees them. */
export interface KeyView {
  byId(id: string): AgentKey | undefined;
  byName(name: string): AgentKey | undefined;
  /** @param ip as `AgentAddress` writes it; `any` belongs to nobody */
  byAddress(ip: string): AgentKey | undefined;
  /** An id that no agent has or ever had. @throws ClientKeysError when every id is used */
  nextId(): string;
  /** Whether agents can be in the group, as far as that is known here. */
  hasGroup(name: string): boolean;
}

/** An agent that is to be added. */
export type NewKey = {
  readonly agent: AgentKey;
  /** Seconds since 1970. */
  readonly dateAdd: number;
  /** Undefined leaves it in the groups it has. */
  readonly groups: readonly string[] | undefined;
  /** It was added by a process that may have died before its answer. */
  readonly unanswered?: true;
};

/** One change: some agents go, one comes. Both or nothing. */
export type AgentChange = {
  /** One whose id is that of the new agent gets another key. */
  readonly remove: readonly AgentKey[];
  readonly add?: NewKey;
  /** Leaves no line of the removed ones in the key file. */
  readonly purge: boolean;
};

/** What a decision about agents comes to: nothing is to be done without a change. */
export type AgentDecision<T> = { readonly change?: AgentChange; readonly result: T };

/** The agents of this manager, or of all managers of a cluster: decisions about them come one after the other. */
export interface AgentKeys extends KeyView {
  /** Agents that can be removed with one change. */
  readonly mostRemoved: number;
  /** Whether the agent may never have got its key. */
  unanswered(id: string): boolean;
  /**
   * Decides and makes the change; it is on the disk when the promise settles, and what hangs on agents follows by itself.
   * @param decide called again when somebody else has changed something meanwhile
   * @param isWanted whether somebody still waits for it: else it is not decided any more
   * @throws AdmissionError `write_failed`, `cluster_unavailable`; what `decide` throws
   */
  decide<T>(decide: (keys: KeyView) => AgentDecision<T>, isWanted?: () => boolean): Promise<T>;
}
