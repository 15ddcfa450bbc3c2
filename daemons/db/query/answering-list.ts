import { LimiterFullError } from '../../../lib/async/limiter.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import { queryFailure } from '../../../lib/bus/contracts/db-agents.js';
import { QueryError } from '../../../lib/query/query-error.js';

/** Makes a list for an answer. @throws BusError `busy`, and what is wrong with the question */
export async function answeringList<T>(list: () => T | Promise<T>): Promise<T> {
  try {
    return await list();
  } catch (error) {
    if (error instanceof LimiterFullError) throw new BusError('busy', 'too many lists are being made');
    throw error instanceof QueryError ? queryFailure(error) : error;
  }
}
