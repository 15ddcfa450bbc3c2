import { BusError } from '../../../lib/bus/bus-error.js';
import type { CallParams } from '../../../lib/bus/contract.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';

/** A state of the memberships in svc-db. */
export type MembershipMark = { readonly epoch: string; readonly version: number };
export type AgentGroups = { readonly id: string; readonly groups: readonly string[] };

export type MembershipChanges = {
  /** What to ask with the next time. */
  readonly mark: MembershipMark;
  /** These are all agents: those that are not named are gone. */
  readonly full: boolean;
  /** Each once. Without groups: the agent is gone, or has none until its first keepalive. */
  readonly agents: readonly AgentGroups[];
};

type Params = CallParams<typeof dbContract, 'agents.memberships'>;
export type MembershipPage = MembershipMark & {
  readonly full: boolean;
  readonly more: boolean;
  readonly agents: readonly AgentGroups[];
};

/** Times that it is begun anew when svc-db was restarted, or too much changed, between two pages. */
const MAX_RUNS = 5;

/**
 * Asks svc-db for the memberships that changed, all pages.
 * @param ask calls `agents.memberships`
 * @param since the mark of the last answer; without it all agents
 * @throws BusError of the call; `busy` when memberships change faster than they can be read
 */
export async function readMemberships(
  ask: (params: Params) => Promise<MembershipPage>,
  since?: MembershipMark,
): Promise<MembershipChanges> {
  for (let run = 0; run < MAX_RUNS; run += 1) {
    const params = since === undefined ? {} : { since: { epoch: since.epoch, version: since.version } };
    let page = await ask(params);
    const { epoch, version, full } = page;
    const agents = [...page.agents];
    while (page.more) {
      const after = agents.at(-1)?.id;
      page = await ask(after === undefined ? params : { ...params, after });
      if (page.epoch !== epoch || page.full !== full) break;
      for (const agent of page.agents) agents.push(agent);
    }
    if (page.epoch === epoch && page.full === full) return { mark: { epoch, version }, full, agents };
  }
  throw new BusError('busy', 'The groups of agents changed faster than they could be read');
}
