import type { AgentFacts } from './replacement-rule.js';

/** An agent as the table of svc-db has it. */
export type TableAgent = { readonly id: string; readonly name: string; readonly registerIP: string };

/** A new agent for the table. */
export type NewAgent = TableAgent & {
  /** Seconds since 1970. */
  readonly dateAdd: number;
  readonly groups: readonly string[] | undefined;
  /** Agents that made room for it. */
  readonly replaces: readonly string[];
};

/** svc-db will not take this, however often it is asked. */
export class TableRefusedError extends Error {
  override readonly name = 'TableRefusedError';
}

/**
 * What svc-authd asks of svc-db. Every method rejects when svc-db is not there, and with TableRefusedError when asking
 * again is of no use.
 */
export interface AgentTable {
  /** Also settles when the agent is there already: it then has the address and the groups that were asked for. */
  register(agent: NewAgent): Promise<void>;
  /** Unknown ids do not matter. */
  remove(ids: readonly string[]): Promise<void>;
  rename(agent: TableAgent): Promise<void>;
  /** @param deadlineMs a client waits for the answer */
  facts(id: string, deadlineMs: number): Promise<AgentFacts | undefined>;
  /** All agents, without the manager. */
  all(): Promise<readonly TableAgent[]>;
  /** Something that differs after each start of svc-db. */
  incarnation(): Promise<string>;
}
