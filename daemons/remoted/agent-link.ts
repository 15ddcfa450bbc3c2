import type { BusAgent } from '../../lib/bus/bus-event.js';
import type { AgentChanges } from '../../lib/bus/contracts/db-agents.js';
import type { KnownAgent } from './link/known-agent.js';

/** A way to an agent: its TCP connection, or the address its last datagram came from. */
export interface Route {
  /** UDP: a message may be lost on the way. */
  readonly lossy: boolean;
  /** Address of the peer, as `normalizeAddress` gives it. */
  readonly source: string;
  /** Whether something can be sent. */
  readonly open: boolean;
  /** When a message of the agent was last opened, epoch milliseconds. */
  lastReceivedAt: number;
  /**
   * Sends a message that is ready for the wire: framed unless `lossy`.
   * @param flushed called when nothing of it waits here any more, or it never will be sent; never if `lossy`
   * @returns false without room, or when closed
   */
  send(wire: Buffer, flushed?: () => void): boolean;
  /** Ends it; nothing of it counts any more. */
  close(): void;
}

/** Messages of and to an agent since svc-remoted started (daemons-and-config.md 11.3, "Per agent"). */
export class AgentCounts {
  event = 0;
  keepalive = 0;
  startup = 0;
  shutdown = 0;
  /** Answers of it. */
  request = 0;
  readonly sent = { ack: 0, ar: 0, request: 0, sca: 0, shared: 0, discarded: 0 };
}

/** What svc-remoted keeps of an agent between its messages. */
export type AgentLink = {
  readonly counts: AgentCounts;
  route: Route | undefined;
  /** As its events carry it; one object as long as nothing changes, since the bus tells agents apart by it. */
  busAgent: BusAgent | undefined;
  labels: ReadonlyMap<string, string> | undefined;
  /** Digest of the last keepalive: the same one again needs not be read. */
  keepalive: string | undefined;
  /** What the last keepalive told and svc-db does not know yet. */
  report: AgentChanges | undefined;
  /** Checksum of its merged file, as its last keepalive told; `x` when it has none. */
  mergedSum: string | undefined;
  /** The file pushed to it last, how often, and when the last time ended (milliseconds of the pusher's clock). */
  pushed: { readonly md5: string; readonly times: number; readonly at: number } | undefined;
};

export type Agent = KnownAgent<AgentLink>;

/** The link of an agent, made when first needed. */
export function linkOf(agent: Agent): AgentLink {
  return (agent.state ??= {
    counts: new AgentCounts(),
    route: undefined,
    busAgent: undefined,
    labels: undefined,
    keepalive: undefined,
    report: undefined,
    mergedSum: undefined,
    pushed: undefined,
  });
}

/** The agent as its events carry it. */
export function busAgentOf(agent: Agent): BusAgent {
  const link = linkOf(agent);
  const known = link.busAgent;
  if (known !== undefined && known.name === agent.name && known.labels === link.labels) return known;
  const made = { id: agent.id, name: agent.name, ip: agent.ip, labels: link.labels };
  link.busAgent = made;
  return made;
}
