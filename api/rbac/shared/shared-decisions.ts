import { BusError } from '../../../lib/bus/bus-error.js';
import type { Decision, SharedRecords } from '../../../lib/cluster/shared-records.js';
import type { TokenKeyPair } from '../../../lib/security/token-keys.js';
import type { SecuritySettings } from '../../auth/security-settings.js';
import { ProblemError } from '../../http/problem-error.js';
import type { AccessDecision, AccessDecisions } from '../access-decisions.js';
import type { RbacStore } from '../rbac-store.js';
import type { SecurityBackup } from '../security-backup.js';
import { decisionRecords } from './decision-records.js';
import { exchangeRecords } from './exchange-records.js';

export type SharedDecisionsParts = {
  readonly shared: Pick<SharedRecords, 'change'>;
  readonly store: RbacStore;
  readonly settings: Pick<SecuritySettings, 'current'>;
  /** How long somebody waits for what he asked for, milliseconds; 0 for as long as it takes, which is the default. */
  readonly waitMs?: () => number;
};

/**
 * Decisions of a node of a cluster: made on this node's view, which the cluster takes only if nothing of users and permissions
 * has changed meanwhile anywhere. They come into force here as those of other nodes do.
 */
export class SharedDecisions implements AccessDecisions {
  readonly #parts: SharedDecisionsParts;

  constructor(parts: SharedDecisionsParts) {
    this.#parts = parts;
  }

  change<T>(decide: () => AccessDecision<T>): Promise<T> {
    return this.#decide(() => {
      const { result, ...decision } = decide();
      return { changes: decisionRecords(decision, this.#parts.store), result };
    });
  }

  /** In an order in which nobody may more than before or after it, wherever it is broken off. */
  replace(backup: SecurityBackup, tokenKeys: TokenKeyPair): Promise<string[]> {
    const { store, settings } = this.#parts;
    return this.#decide(() => ({
      changes: exchangeRecords({ backup, tokenKeys, store, current: settings.current() }),
      result: [],
    }));
  }

  async #decide<T>(decide: () => Decision<T>): Promise<T> {
    const { shared, waitMs = () => 0 } = this.#parts;
    const mostMs = waitMs();
    const until = mostMs === 0 ? Infinity : performance.now() + mostMs;
    try {
      return await shared.change(decide, () => performance.now() < until);
    } catch (error) {
      throw error instanceof BusError ? refusal(error) : error;
    }
  }
}

/** @returns BusError `cluster_unavailable`, or a problem of the request */
function refusal(error: BusError): Error {
  switch (error.code) {
    case 'too_large':
    case 'bad_record':
      return ProblemError.badRequest(`The cluster does not take it: ${error.message}`);
    case 'cluster_unavailable':
      return error;
    default:
      // It is made, and not in force here yet.
      return new BusError('cluster_unavailable', `The change is made, but ${error.message}`, { cause: error });
  }
}
