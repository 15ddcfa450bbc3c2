import { rm } from 'node:fs/promises';
import type { AgentKey } from '../../lib/agentlink/agent-key.js';
import type { Home } from '../../lib/home/home.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { NewKey } from './agent-keys.js';
import type { AgentRegistrar } from './agent-registrar.js';
import type { RegistrationTimes } from './registration-times.js';
import type { RequestedGroups } from './requested-groups.js';

export type AgentUpkeepParts = {
  readonly home: Home;
  readonly registrar: Pick<AgentRegistrar, 'registered' | 'removed'>;
  readonly times: Pick<RegistrationTimes, 'set' | 'remove'>;
  readonly groups: Pick<RequestedGroups, 'done'>;
  /** Whether an agent has the name now. */
  readonly isNameUsed: (name: string) => boolean;
  readonly logger: Logger;
};

/** What hangs on agents beside their keys, once the keys are on the disk; nobody waits for it (agents-and-groups.md 1.4). */
export class AgentUpkeep {
  constructor(private readonly parts: AgentUpkeepParts) {}

  /**
   * An agent has come, or has another key.
   * @param replaces agents that made room for it
   * @param since when it came by this host's clock, seconds since 1970
   */
  came({ agent, dateAdd, groups }: NewKey, replaces: readonly AgentKey[], since = dateAdd): void {
    const { registrar, times } = this.parts;
    this.#forget(replaces);
    const { id, name, ip } = agent;
    times.set(id, since);
    registrar.registered({ id, name, registerIP: ip, dateAdd, groups, replaces: replaces.map((old) => old.id) });
  }

  /** Agents have gone, and nobody came for them. */
  went(agents: readonly AgentKey[]): void {
    if (agents.length === 0) return;
    this.#forget(agents);
    this.parts.registrar.removed(agents.map(({ id }) => id));
  }

  #forget(agents: readonly AgentKey[]): void {
    const { home, times, groups, isNameUsed, logger } = this.parts;
    for (const { id, name } of agents) {
      times.remove(id);
      groups.done(id);
      // An agent that came with the same name has its differences under the same path: they stay with it.
      const paths = [home.path('queue', 'rids', id)];
      if (!isNameUsed(name)) paths.push(home.path('queue', 'diff', name));
      for (const path of paths) {
        rm(path, { recursive: true, force: true }).catch((error: unknown) => {
          logger.warn(`Unable to remove '${path}': ${describeError(error)}`);
        });
      }
    }
  }
}
