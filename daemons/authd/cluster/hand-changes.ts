import { formatAgentId } from '../../../lib/agentlink/agent-identity.js';
import type { AgentKey } from '../../../lib/agentlink/agent-key.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { AdmissionError } from '../admission-error.js';
import { removedLine } from '../client-keys-document.js';
import type { KeyRegistry } from '../key-registry.js';
import type { AgentView } from './agent-view.js';
import type { LeftOutKeys } from './left-out-keys.js';
import type { SharedKeys } from './shared-keys.js';

export type HandChangesParts = {
  readonly registry: KeyRegistry;
  readonly view: AgentView;
  readonly keys: Pick<SharedKeys, 'decide'>;
  readonly leftOut: LeftOutKeys;
  readonly logger: Logger;
  /** Seconds since 1970. */
  readonly now: () => number;
};

/**
 * Changes of the key file by hand, at a node of a cluster. A file that lags behind, was restored or cut off looks like one from
 * which agents were taken, so only what cannot be mistaken is a decision: a line with an id that was never given adds an
 * agent, and a line that was made one of a removed agent, by a `!` before the name, removes it (agents-and-groups.md 2.8).
 */
export class HandChanges {
  constructor(private readonly parts: HandChangesParts) {}

  /** Agents that stand in the file, and whose ids the cluster has never given. */
  added(): AgentKey[] {
    const { registry, view } = this.parts;
    return [...registry.agents].filter(
      ({ id }) => view.byId(id) === undefined && Number(id) > view.removedUpTo && formatAgentId(Number(id)) === id,
    );
  }

  /** Agents of the cluster whose lines say that they were removed. */
  removed(): AgentKey[] {
    const { registry, view } = this.parts;
    return registry.removed.flatMap(({ id, line }) => {
      const agent = registry.byId(id) === undefined ? view.byId(id) : undefined;
      return agent !== undefined && line === removedLine(agent) ? [agent] : [];
    });
  }

  /** Has the cluster decide about them; what it does not take is said. */
  async decide(added: readonly AgentKey[], removed: readonly AgentKey[]): Promise<void> {
    const { leftOut, logger } = this.parts;
    for (const agent of added) {
      try {
        await this.#add(agent);
        logger.info(
          `Agent '${agent.id}' (${agent.name}) was added to etc/client.keys by hand: it is one of the cluster's.`,
        );
      } catch (error) {
        leftOut.keep([agent]);
        logger.error(
          `Agent '${agent.id}' (${agent.name}) was added to etc/client.keys by hand, and is taken out again: ${describeError(error)}. Its line is kept in ${leftOut.file}.`,
        );
      }
    }
    for (const agent of removed) {
      try {
        await this.#remove(agent);
        logger.info(
          `Agent '${agent.id}' (${agent.name}) was removed in etc/client.keys by hand: it is removed from the cluster.`,
        );
      } catch (error) {
        logger.error(
          `Agent '${agent.id}' (${agent.name}) was removed in etc/client.keys by hand, and is put back: ${describeError(error)}.`,
        );
      }
    }
  }

  #add(agent: AgentKey): Promise<void> {
    const { view, now } = this.parts;
    return this.parts.keys.decide((keys) => {
      if (keys.byName(agent.name) !== undefined) {
        throw new AdmissionError('duplicate_name', `The cluster has an agent of the name '${agent.name}'`);
      }
      if (keys.byAddress(agent.ip) !== undefined) {
        throw new AdmissionError('duplicate_ip', `The cluster has an agent of the address '${agent.ip}'`);
      }
      if (keys.byId(agent.id) !== undefined || Number(agent.id) <= view.removedUpTo) {
        throw new AdmissionError('duplicate_id', `The cluster has given the id ${agent.id} to another agent`);
      }
      return {
        change: { remove: [], add: { agent, dateAdd: now(), groups: undefined }, purge: false },
        result: undefined,
      };
    });
  }

  #remove(agent: AgentKey): Promise<void> {
    return this.parts.keys.decide((keys) => {
      const there = keys.byId(agent.id);
      if (there?.equals(agent) !== true) return { result: undefined };
      return { change: { remove: [there], purge: false }, result: undefined };
    });
  }
}
