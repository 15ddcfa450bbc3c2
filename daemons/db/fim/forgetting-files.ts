import type { Handlers } from '../../../lib/bus/contract.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { FimDatabase } from './fim-database.js';

type Removing = Pick<Handlers<typeof dbContract>, 'agents.register' | 'agents.remove'>;

/**
 * Handlers that remove agents, with what is stored of their files going, too. An agent that is registered under a number
 * that was used before begins with nothing.
 */
export function forgettingFiles(handlers: Removing, fim: FimDatabase, logger: Logger): Removing {
  const forget = async (ids: readonly string[]): Promise<void> => {
    if (ids.length === 0) return;
    try {
      await fim.forget(ids);
    } catch (error) {
      // The agents are gone, and are reported as such; the next start finds what is left.
      logger.error(`Files of removed agents are still stored, the next start removes them: ${describeError(error)}`);
    }
  };
  return {
    'agents.register': async (params) => {
      const result = await handlers['agents.register'](params);
      await forget([params.id, ...result.removed.map(({ id }) => id)].filter((id) => fim.holds(id)));
      return result;
    },
    'agents.remove': async (params) => {
      const result = await handlers['agents.remove'](params);
      await forget(result.removed.map(({ id }) => id).filter((id) => fim.holds(id)));
      return result;
    },
  };
}
