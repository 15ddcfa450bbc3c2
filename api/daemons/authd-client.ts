import { waitUntil } from '../../lib/async/wait-until.js';
import type { BusError } from '../../lib/bus/bus-error.js';
import type { CallParams, CallResult } from '../../lib/bus/contract.js';
import { type authdContract, MAX_REMOVED_PER_CALL } from '../../lib/bus/contracts/authd.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest } from '../http/api-request.js';
import type { DaemonClient } from './daemon-client.js';
import { isAway } from './daemon-failure.js';

/** How long an answer waits for svc-db to hear of a change, so that the next request shows it; milliseconds. */
const SETTLE_MS = 2000;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;
/** Of a long list of removed agents so many are looked for: svc-db removes them all at once. */
const MAX_LOOKED_FOR = 1000;

export type AgentToAdd = CallParams<typeof authdContract, 'add'>;
export type AgentWithKey = CallResult<typeof authdContract, 'add'>;

export type AuthdClientParts = {
  readonly calls: DaemonClient<typeof authdContract>;
  /** Asked for what explains a refusal, and whether a change has arrived: neither is what the request is about. */
  readonly authd: RequestClient<typeof authdContract>;
  readonly db: RequestClient<typeof dbContract>;
};

/** The agents' keys: svc-authd alone writes them, and tells svc-db (agents-and-groups.md 2.6, 10.2). */
export class AuthdClient {
  constructor(private readonly parts: AuthdClientParts) {}

  /** @throws ApiError 1705, 1706, 1708, 1709, 1725, 1726 */
  async add(request: ApiRequest, agent: AgentToAdd): Promise<AgentWithKey> {
    const refusal = (error: BusError) => this.#refusal(agent, error);
    const added = await this.parts.calls.call(request, 'add', agent, { refusal });
    await this.#settled([added.id], 1);
    return added;
  }

  /** @throws ApiError 1701, 1726 */
  get(request: ApiRequest, id: string): Promise<AgentWithKey> {
    const refusal = (error: BusError) => (error.code === 'unknown_agent' ? new ApiError(1701) : absence(error));
    return this.parts.calls.call(request, 'get', { id }, { refusal });
  }

  /**
   * @param purge also leave no line of them in the file
   * @returns ids of the removed ones @throws ApiError 1726, 1757
   */
  async remove(request: ApiRequest, ids: readonly string[], purge: boolean): Promise<readonly string[]> {
    const refusal = (error: BusError) =>
      error.code === 'write_failed' ? new ApiError(1757, { extra: error.message }) : absence(error);
    const removed: string[] = [];
    for (let at = 0; at < ids.length; at += MAX_REMOVED_PER_CALL) {
      const some = { ids: ids.slice(at, at + MAX_REMOVED_PER_CALL), purge };
      const answer = await this.parts.calls.call(request, 'remove', some, { refusal });
      for (const { id } of answer.removed) removed.push(id);
    }
    if (removed.length > 0) await this.#settled(removed.slice(-MAX_LOOKED_FOR), 0);
    return removed;
  }

  async #refusal({ name, ip = 'any', id = '' }: AgentToAdd, error: BusError): Promise<ApiError | undefined> {
    switch (error.code) {
      case 'duplicate_name':
        return new ApiError(1705, { extra: `${name}${await this.#conflict(name)}` });
      case 'duplicate_ip':
      case 'bad_ip':
        return new ApiError(1706, { extra: ip });
      case 'duplicate_id':
        return new ApiError(1708, { extra: id });
      case 'bad_key':
        return new ApiError(1709);
      case 'bad_name':
      case 'bad_id':
      case 'bad_groups':
        return new ApiError(1725, { extra: error.message, status: 400 });
      case 'write_failed':
        return new ApiError(1725, { extra: error.message });
      default:
        return absence(error);
    }
  }

  /** What is known of hosts that take a name from each other: the cause is elsewhere than in the request. */
  async #conflict(name: string): Promise<string> {
    try {
      const { conflicts } = await this.parts.authd.call('conflicts', {}, { deadlineMs: SETTLE_MS });
      const found = conflicts.find((conflict) => conflict.name === name);
      if (found === undefined) return '';
      const { id, sources, replacements } = found;
      const owner = id === null ? '' : `, agent ${id} has it now`;
      const hosts = sources.length === 0 ? '' : `: ${sources.join(', ')}`;
      return ` (used by several hosts${hosts}; replaced ${replacements} times within an hour${owner})`;
    } catch {
      // It only explains the refusal, which stands without it.
      return '';
    }
  }

  /** The change is made and on disk: when svc-db cannot be asked, or hears of it late, that changes nothing. */
  async #settled(ids: readonly string[], wanted: 0 | 1): Promise<void> {
    const settled = async (): Promise<boolean> => {
      try {
        const known = { ids: [...ids], select: ['id'] };
        const { items } = await this.parts.db.call('agents.get', known, { deadlineMs: SETTLE_MS });
        return items.length === wanted * ids.length;
      } catch {
        return true;
      }
    };
    await waitUntil(settled, { everyMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS, mostMs: SETTLE_MS });
  }
}

/** 1726: svc-authd is not there, and has done nothing. One that went away may have done what was asked: that is no refusal. */
function absence(error: BusError): ApiError | undefined {
  return isAway(error) && !error.isUnclear ? new ApiError(1726) : undefined;
}
