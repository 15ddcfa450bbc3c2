import { statSync } from 'node:fs';
import { MANAGER_CONF, OSSEC_CONF } from '../../lib/config/configuration-file.js';
import { loadManagerConfig } from '../../lib/config/load-manager-config.js';
import type { ClusterConfig } from '../../lib/config/sections/cluster.js';
import type { RulesetConfig } from '../../lib/config/sections/ruleset.js';
import type { Home } from '../../lib/home/home.js';
import { OnceATurn } from '../once-a-turn.js';

/** Who this manager is in a cluster. */
export type NodeIdentity = { readonly name: string; readonly clusterEnabled: boolean };

/** Node name of a manager that has no cluster section. */
const DEFAULT_NODE: NodeIdentity = { name: 'node01', clusterEnabled: false };

/** What the API needs of the main configuration: read again when a file changed. */
export class ManagerConfiguration {
  readonly #home: Home;
  readonly #look = new OnceATurn();
  #stamp: string | undefined;
  #ruleset: RulesetConfig | Error | undefined;
  #node = DEFAULT_NODE;
  #cluster: ClusterConfig | undefined;

  constructor(home: Home) {
    this.#home = home;
  }

  /** The `ruleset` section. @throws ConfigError when it cannot be read */
  ruleset(): RulesetConfig {
    this.#refresh();
    this.#ruleset ??= attempt(() => loadManagerConfig(this.#home, ['ruleset']).ruleset);
    if (this.#ruleset instanceof Error) throw this.#ruleset;
    return this.#ruleset;
  }

  /** Name and role of the node; those last read when the section is not valid now. */
  node(): NodeIdentity {
    this.#refresh();
    return this.#node;
  }

  /** The `cluster` section, as {@link node}; undefined when there is none. */
  cluster(): ClusterConfig | undefined {
    this.#refresh();
    return this.#cluster;
  }

  #refresh(): void {
    if (!this.#look.due()) return;
    const stamp = [MANAGER_CONF, OSSEC_CONF]
      .map((file) => {
        const stats = statSync(this.#home.path(file), { throwIfNoEntry: false });
        return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
      })
      .join(',');
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    this.#ruleset = undefined;
    const cluster = attempt(() => loadManagerConfig(this.#home, ['cluster']).cluster);
    if (cluster instanceof Error) return;
    this.#cluster = cluster;
    this.#node = cluster === undefined ? DEFAULT_NODE : { name: cluster.node_name, clusterEnabled: !cluster.disabled };
  }
}

function attempt<T>(work: () => T): T | Error {
  try {
    return work();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
