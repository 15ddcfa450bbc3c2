import { createHash } from 'node:crypto';
import { BusError } from '../../../lib/bus/bus-error.js';
import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import type { ClusterdClient } from '../../../lib/cluster/shared-records.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { StoredOrder } from './feed-store.js';
import { PeerLog } from './peer-log.js';

/** Agents that a node is asked to send to at once: within the deadline on a busy host, too. */
const MAX_AGENTS_PER_ASK = 5000;
const ASK_MS = 20_000;
/** svc-clusterd answers that a node did not, a little later than that. */
const CALL_MS = ASK_MS + 5000;
/** Characters of messages that wait for one node: stops one that answers slowly from filling the memory. */
const MAX_LANE_CHARACTERS = 8 * 1024 * 1024;

/** What is sent to agents of another node. */
export type NodeSending = {
  readonly message: string;
  readonly agents: readonly string[];
  /** Names what is sent: the node sends it to each agent once, however often it is asked to. */
  readonly once: string;
};

/** Agents that did not get it, as `agents.send` of svc-remoted says it. */
export type SendFailures = readonly { readonly id: string; readonly code: string; readonly message: string }[];

/** What became of a sending: those that failed, or why nobody will ever get it. */
export type SendOutcome = SendFailures | BusError;

export type NodeLanesParts = {
  readonly clusterd: ClusterdClient;
  readonly logger: Logger;
  /** Agents that were not reached are tried again after so long, milliseconds; what waits for their node is not sent meanwhile. */
  readonly retryMs: number;
};

/** `characters` of messages that wait, and until when nothing is sent, as `performance.now()` has it. */
type Lane = { last: Promise<void>; characters: number; awayUntil: number; readonly log: PeerLog };

/**
 * Sends to agents that are connected to other nodes of a cluster: one thing after the other to each node, so that a node that is
 * away or slow keeps nobody else waiting.
 */
export class NodeLanes {
  readonly #parts: NodeLanesParts;
  readonly #lanes = new Map<string, Lane>();
  readonly #stopping = new AbortController();

  constructor(parts: NodeLanesParts) {
    this.#parts = parts;
  }

  /**
   * @param done told what became of it before the next one has its turn; never rejects
   * @returns false when too much waits for that node
   */
  send(node: string, sending: NodeSending, done: (outcome: SendOutcome) => Promise<void>): boolean {
    const lane = this.#lane(node);
    const { length } = sending.message;
    if (lane.characters > 0 && lane.characters + length > MAX_LANE_CHARACTERS) return false;
    lane.characters += length;
    lane.last = lane.last.then(async () => {
      const outcome = await this.#ask(lane, node, sending);
      lane.characters -= length;
      await done(outcome);
    });
    return true;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#lanes.values()].map(({ last }) => last));
  }

  #lane(node: string): Lane {
    let lane = this.#lanes.get(node);
    if (lane === undefined) {
      const what = `Active responses for agents of node '${node}'`;
      const log = new PeerLog(this.#parts.logger, `${what} wait`, `${what} are sent again`);
      lane = { last: Promise.resolve(), characters: 0, awayUntil: 0, log };
      this.#lanes.set(node, lane);
    }
    return lane;
  }

  async #ask(lane: Lane, node: string, { message, agents, once }: NodeSending): Promise<SendOutcome> {
    const { clusterd, retryMs } = this.#parts;
    const { signal } = this.#stopping;
    const failed: SendFailures[number][] = [];
    for (let at = 0; at < agents.length; at += MAX_AGENTS_PER_ASK) {
      if (signal.aborted || performance.now() < lane.awayUntil) return [...failed, ...unreached(agents.slice(at))];
      const params = { ids: agents.slice(at, at + MAX_AGENTS_PER_ASK), message, once };
      const question = { node, daemon: 'svc-remoted', method: 'agents.send', params, deadlineMs: ASK_MS } as const;
      try {
        const { result } = await clusterd.call('nodes.ask', question, { deadlineMs: CALL_MS, signal });
        failed.push(...remotedContract.methods['agents.send'].result.parse(result).failed);
      } catch (error) {
        if (error instanceof BusError && REFUSALS.has(error.code)) return error;
        if (!signal.aborted) lane.log.failed(error);
        lane.awayUntil = performance.now() + retryMs / 2;
        return [...failed, ...unreached(agents.slice(at))];
      }
      lane.log.worked();
    }
    return failed;
  }
}

/** Errors of `agents.send` that are the same each time. */
export const REFUSALS: ReadonlySet<string> = new Set(['bad_message', 'bad_params']);

function unreached(agents: readonly string[]): SendFailures {
  return agents.map((id) => ({ id, code: 'closed', message: 'its node is not reached' }));
}

/** What an order of this node is called at others: the same after a restart, and another one for each decision. */
export function orderName(node: string, order: StoredOrder): string {
  return createHash('sha256')
    .update(JSON.stringify([node, order]))
    .digest('base64url');
}
