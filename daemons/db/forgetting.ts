import type { Handlers } from '../../lib/bus/contract.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';

type Removing = Pick<Handlers<typeof dbContract>, 'agents.register' | 'agents.remove'>;

/** A store of what agents told. */
export type AgentStore = {
  /** What is in it, `Files`. */
  readonly what: string;
  /** How it is filled again after damage, `their synchronisation`. */
  readonly comesWith: string;
  holds(agent: string): boolean;
  /** @throws BusError when the disk does not take it */
  forget(agents: readonly string[]): Promise<void>;
};

/**
 * Handlers that remove agents, with what is stored of them going, too. An agent that is registered under a number
 * that was used before begins with nothing.
 */
export function forgetting(handlers: Removing, stores: readonly AgentStore[], logger: Logger): Removing {
  const forget = async (ids: readonly string[]): Promise<void> => {
    for (const store of stores) {
      const held = ids.filter((id) => store.holds(id));
      if (held.length === 0) continue;
      try {
        await store.forget(held);
      } catch (error) {
        // The agents are gone, and are reported as such; the next start finds what is left.
        const reason = describeError(error);
        logger.error(`${store.what} of removed agents are still stored, the next start removes them: ${reason}`);
      }
    }
  };
  return {
    'agents.register': async (params) => {
      const result = await handlers['agents.register'](params);
      await forget([params.id, ...result.removed.map(({ id }) => id)]);
      return result;
    },
    'agents.remove': async (params) => {
      const result = await handlers['agents.remove'](params);
      await forget(result.removed.map(({ id }) => id));
      return result;
    },
  };
}
