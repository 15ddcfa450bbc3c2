import { MANAGER_ID } from '../../lib/agentlink/agent-identity.js';
import type { Operation } from '../../lib/contract/api-contract.js';
import { AgentView, isAboutAgents } from '../agents/agent-view.js';
import { parseAlertName } from '../alerts/alert-place.js';
import type { CallSpreader, SpreadCall } from '../http/dispatcher.js';
import type { ApiResult } from '../http/envelope.js';
import { NodeFailure } from './node-failure.js';
import { WHOLE_REQUEST } from './request-part.js';
import { spreadAgents } from './spread-agents.js';
import { spreadAlertStream } from './spread-alert-stream.js';
import { spreadAlerts } from './spread-alerts.js';
import { spreadEverywhere, spreadNodes } from './spread-nodes.js';
import { spreadRows } from './spread-rows.js';
import type { SpreaderParts } from './spreader-parts.js';

/**
 * Has requests answered by the nodes that they concern, as the contract says of each operation (`x-cluster`,
 * daemons-and-config.md 10.5). Without a cluster nothing of it is asked.
 */
export class ClusterSpreader implements CallSpreader {
  readonly #parts: SpreaderParts;

  constructor(parts: SpreaderParts) {
    this.#parts = parts;
  }

  takes({ spread }: Operation): boolean {
    return spread !== 'here' && this.#parts.members.enabled;
  }

  run(asked: SpreadCall): Promise<ApiResult> {
    switch (asked.call.operation.spread) {
      case 'agent':
        return this.#byAgent(asked);
      case 'agents':
        return spreadAgents(this.#parts, asked);
      case 'agent-rows':
        return spreadRows(this.#parts, asked);
      case 'node':
        return this.#byNode(asked);
      case 'nodes':
        return spreadNodes(this.#parts, asked, false);
      case 'nodes-master-last':
        return spreadNodes(this.#parts, asked, true);
      case 'everywhere':
        return spreadEverywhere(this.#parts, asked);
      case 'alerts':
        return spreadAlerts(this.#parts, asked, this.#parts.now());
      case 'alert-stream':
        return spreadAlertStream(this.#parts, asked);
      case 'alert':
        return this.#byAlert(asked);
      case 'here':
        return asked.here(WHOLE_REQUEST);
    }
  }

  /** One look-up says where the agent is; one that nobody knows, or that never connected, is this node's. */
  async #byAgent(asked: SpreadCall): Promise<ApiResult> {
    const { db, members } = this.#parts;
    const { request } = asked;
    if (!isAboutAgents(request)) throw new Error(`${request.operation.id} is about no agent`);
    const { agents } = await new AgentView(db, request).choose(['node_name']);
    const [agent] = agents;
    const node = agent?.['node_name'];
    const isHere = agent?.id === MANAGER_ID || typeof node !== 'string' || node === 'unknown' || node === members.self;
    return isHere ? asked.here(WHOLE_REQUEST) : this.#at(node, asked, () => asked.here(WHOLE_REQUEST));
  }

  #byNode(asked: SpreadCall): Promise<ApiResult> {
    const node = String(asked.call.parameters['node_id']);
    return node === this.#parts.members.self ? asked.here(WHOLE_REQUEST) : this.#at(node, asked);
  }

  /** An alert is where it was made. */
  #byAlert(asked: SpreadCall): Promise<ApiResult> {
    const { node } = parseAlertName(String(asked.call.parameters['alert_id']));
    return node === undefined || node === this.#parts.members.self ? asked.here(WHOLE_REQUEST) : this.#at(node, asked);
  }

  /** @param unknown what is done when the cluster has no such node */
  async #at(
    node: string,
    { call, request, limitMs }: SpreadCall,
    unknown?: () => Promise<ApiResult>,
  ): Promise<ApiResult> {
    try {
      return await this.#parts.calls.answer(node, { call, limitMs, signal: request.signal });
    } catch (error) {
      if (unknown !== undefined && error instanceof NodeFailure && error.unknown) return unknown();
      throw error;
    }
  }
}
