import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { ClusterdClient } from '../../../../lib/cluster/shared-records.js';
import { describeError } from '../../../../lib/log/describe-error.js';
import type { Logger } from '../../../../lib/log/logger.js';

const facts = z.object({ outputs: z.array(z.string()).catch([]) });

/** What an output is called in the cluster: by kind and where to, so that it is the same at all nodes that have it. */
export function clusterName(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, NAME_DIGITS);
}

/** So that the names of all outputs fit into what nodes say of themselves. */
const NAME_DIGITS = 16;

/**
 * Which node is to run an output: the first by name of those that are heard and have it configured. It only says who is to ask; that
 * alerts are given to one node at a time is svc-clusterd's matter, so two that disagree for a while do no harm.
 */
export class OutputTurns {
  readonly #clusterd: ClusterdClient;
  readonly #logger: Logger;
  #outputs: readonly string[] = [];

  constructor(clusterd: ClusterdClient, logger: Logger) {
    this.#clusterd = clusterd;
    this.#logger = logger;
  }

  /** Says which outputs this node has. @param keys of their definitions */
  async describe(keys: readonly string[]): Promise<void> {
    this.#outputs = keys.map(clusterName);
    await this.repeat();
  }

  /** Says it once more: svc-clusterd forgets it when it ends. */
  async repeat(): Promise<void> {
    try {
      await this.#clusterd.call('node.describe', { daemon: 'svc-monitord', facts: { outputs: [...this.#outputs] } });
    } catch (error) {
      this.#logger.debug(`svc-clusterd was not told of outputs: ${describeError(error)}.`);
    }
  }

  /** @throws BusError */
  async isMine(name: string): Promise<boolean> {
    const { nodes, self } = await this.#clusterd.call('cluster.view', {});
    const having = nodes
      .filter(({ present, facts: said }) => present && outputsOf(said['svc-monitord']).includes(name))
      .map((node) => node.name)
      .sort();
    return having[0] === self;
  }
}

function outputsOf(said: unknown): readonly string[] {
  const read = facts.safeParse(said);
  return read.success ? read.data.outputs : [];
}
