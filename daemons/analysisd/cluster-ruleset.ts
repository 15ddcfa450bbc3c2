import { existsSync } from 'node:fs';
import { relative, sep } from 'node:path';
import type { clusterdContract } from '../../lib/bus/contracts/clusterd.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import { RULESET_FOLDERS, rulesetFolder, rulesetInForce } from '../../lib/cluster/ruleset-in-force.js';
import {
  DiskRulesetFileSystem,
  type ReadFailure,
  type RulesetFileSystem,
} from '../../lib/engine/load/ruleset-file-system.js';
import type { Home } from '../../lib/home/home.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { Settings } from './settings.js';

/** A reload waits so long for all nodes to say whether the ruleset in etc loads there, milliseconds. */
const SETTLE_MS = 6000;
const SHARED = RULESET_FOLDERS.map((name) => `etc${sep}${name}`);

/**
 * Files of the home, but rules, decoders and lists of the user from a ruleset of the cluster: what somebody is editing in etc
 * is not what this node works by.
 */
export class ClusterRulesetFiles implements RulesetFileSystem {
  readonly #home: Home;
  readonly #folder: string;
  readonly #disk: DiskRulesetFileSystem;

  /** @param id of the ruleset @throws Error when it is not on the disk: a node does not work by no rules at all */
  constructor(home: Home, id: string) {
    this.#home = home;
    this.#folder = rulesetFolder(id);
    this.#disk = new DiskRulesetFileSystem(home.root);
    if (!existsSync(home.path(this.#folder))) {
      throw new Error(`The ruleset of the cluster is missing (${this.#folder}): svc-clusterd brings it again`);
    }
  }

  list(directory: string): readonly string[] | undefined {
    return this.#disk.list(this.#place(directory));
  }

  read(path: string): string | ReadFailure {
    return this.#disk.read(this.#place(path));
  }

  #place(path: string): string {
    const below = relative(this.#home.root, path.startsWith(sep) ? path : this.#home.path(path));
    const isShared = SHARED.some((folder) => below === folder || below.startsWith(folder + sep));
    return isShared ? `${this.#folder}${below.slice('etc'.length)}` : path;
  }
}

/** Whether this node is one of a cluster. */
export function isInCluster({ config: { cluster } }: Settings): boolean {
  return cluster !== undefined && !cluster.disabled;
}

/** Id of the ruleset of the cluster that is in force here; undefined where the files in etc are. @throws the file system's error */
export function clusterRulesetOf(home: Home, settings: Settings): string | undefined {
  return isInCluster(settings) ? rulesetInForce(home) : undefined;
}

/** A ruleset that the cluster does not take, with what stands in the way. */
class RulesetRefusedError extends Error {
  override readonly name = 'RulesetRefusedError';
}

/**
 * Has what was changed in etc put in force in the cluster, as whoever asks for a reload expects it to be when it is done.
 * Where that cannot be decided now the reload goes on with the set in force, and the log says so.
 * @throws RulesetRefusedError
 */
export async function settleClusterRuleset(
  clusterd: Pick<RequestClient<typeof clusterdContract>, 'call'>,
  logger: Logger,
): Promise<void> {
  try {
    const { state, problems } = await clusterd.call(
      'ruleset.settle',
      { waitMs: SETTLE_MS },
      { deadlineMs: SETTLE_MS + 5000 },
    );
    if (state === 'refused') {
      throw new RulesetRefusedError(`The cluster does not take the ruleset in etc: ${problems.join('; ')}`);
    }
    if (state === 'pending') {
      logger.info('The nodes of the cluster look at the ruleset in etc; the one in force stays until then.');
    }
    if (state === 'unavailable') {
      logger.warn(`Changes of the ruleset in etc wait, the set in force in the cluster stays: ${problems.join('; ')}`);
    }
  } catch (error) {
    if (error instanceof RulesetRefusedError) throw error;
    logger.warn(`Changes of the ruleset in etc wait, the set in force in the cluster stays: ${describeError(error)}`);
  }
}
