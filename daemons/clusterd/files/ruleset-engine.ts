import { BusError } from '../../../lib/bus/bus-error.js';
import type { analysisdContract } from '../../../lib/bus/contracts/analysisd.js';
import type { RequestClient } from '../../../lib/bus/request-client.js';
import type { Verdict } from './ruleset-ballot.js';

/** A ruleset of thousands of rules takes seconds, and others may be looked at before, milliseconds. */
const ENGINE_MS = 60_000;

/** What svc-analysisd of this node does with rulesets of the cluster. */
export interface RulesetEngine {
  /** Whether one that is on the disk would load. @throws BusError when that cannot be told now */
  check(id: string): Promise<Verdict>;
  /** Works by the one in force from now on. @returns what is wrong with it; nothing also when it does not run */
  load(id: string): Promise<readonly string[]>;
}

/** svc-analysisd over the bus. One that does not run has no say, and takes what is in force when it starts. */
export class AnalysisdEngine implements RulesetEngine {
  readonly #analysisd: Pick<RequestClient<typeof analysisdContract>, 'call'>;

  constructor(analysisd: Pick<RequestClient<typeof analysisdContract>, 'call'>) {
    this.#analysisd = analysisd;
  }

  async check(id: string): Promise<Verdict> {
    try {
      const { errors } = await this.#analysisd.call('ruleset.check', { ruleset: id }, { deadlineMs: ENGINE_MS });
      return { verdict: errors.length === 0 ? 'good' : 'refused', problems: errors };
    } catch (error) {
      if (!isAway(error)) throw error;
      return { verdict: 'absent', problems: [] };
    }
  }

  async load(id: string): Promise<readonly string[]> {
    try {
      const { error, data } = await this.#analysisd.call('ruleset.switch', { ruleset: id }, { deadlineMs: ENGINE_MS });
      return error === 0 ? [] : data;
    } catch (error) {
      if (!isAway(error)) throw error;
      return [];
    }
  }
}

function isAway(error: unknown): boolean {
  return error instanceof BusError && error.code === 'unavailable';
}
