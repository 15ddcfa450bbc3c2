import { setTimeout as pause } from 'node:timers/promises';
import { BusError } from '../../lib/bus/bus-error.js';
import type { CallParams, CallResult } from '../../lib/bus/contract.js';
import { type authdContract, MAX_REMOVED_PER_CALL } from '../../lib/bus/contracts/authd.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import type { Home } from '../../lib/home/home.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest } from '../http/api-request.js';
import { daemonFailure } from '../routes/daemon-call.js';

/** Longest wait for svc-authd when the client lifted the request time limit, milliseconds. */
const MAX_DEADLINE_MS = 600_000;
/** How long an answer waits for svc-db to hear of a change, so that the next request shows it; milliseconds. */
const SETTLE_MS = 2000;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;
/** Of a long list of removed agents so many are looked for: svc-db removes them all at once. */
const MAX_LOOKED_FOR = 1000;

export type NewAgent = CallParams<typeof authdContract, 'add'>;
export type AgentWithKey = CallResult<typeof authdContract, 'add'>;

export type AgentKeyParts = {
  readonly home: Home;
  readonly node: () => string;
  readonly authd: RequestClient<typeof authdContract>;
  readonly db: RequestClient<typeof dbContract>;
};

/** The agents' keys: svc-authd alone writes them, and tells svc-db (agents-and-groups.md 2.6, 10.2). */
export class AgentKeys {
  constructor(private readonly parts: AgentKeyParts) {}

  /** @throws ApiError 1705, 1706, 1708, 1709, 1725, 1726 */
  async add(request: ApiRequest, agent: NewAgent): Promise<AgentWithKey> {
    let added: AgentWithKey;
    try {
      added = await this.parts.authd.call('add', agent, callOptions(request));
    } catch (error) {
      throw await this.#refusal(request, agent, error);
    }
    await this.#settled([added.id], 1);
    return added;
  }

  /** @throws ApiError 1701, 1726 */
  async get(request: ApiRequest, id: string): Promise<AgentWithKey> {
    try {
      return await this.parts.authd.call('get', { id }, callOptions(request));
    } catch (error) {
      if (error instanceof BusError && error.code === 'unknown_agent') throw new ApiError(1701);
      throw await this.#failure(request, error);
    }
  }

  /**
   * @param purge also leave no line of them in the file
   * @returns ids of the removed ones @throws ApiError 1726, 1757
   */
  async remove(request: ApiRequest, ids: readonly string[], purge: boolean): Promise<readonly string[]> {
    const removed: string[] = [];
    for (let at = 0; at < ids.length; at += MAX_REMOVED_PER_CALL) {
      const some = { ids: ids.slice(at, at + MAX_REMOVED_PER_CALL), purge };
      try {
        const answer = await this.parts.authd.call('remove', some, callOptions(request));
        for (const { id } of answer.removed) removed.push(id);
      } catch (error) {
        if (error instanceof BusError && error.code === 'write_failed') {
          throw new ApiError(1757, { extra: error.message });
        }
        throw await this.#failure(request, error);
      }
    }
    if (removed.length > 0) await this.#settled(removed.slice(-MAX_LOOKED_FOR), 0);
    return removed;
  }

  async #refusal(request: ApiRequest, { name, ip = 'any', id = '' }: NewAgent, error: unknown): Promise<unknown> {
    if (!(error instanceof BusError)) return error;
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
        return this.#failure(request, error);
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

  async #failure(request: ApiRequest, error: unknown): Promise<unknown> {
    const gone = error instanceof BusError && ['unavailable', 'closed', 'bad_path'].includes(error.code);
    if (gone) return new ApiError(1726);
    return daemonFailure(error, this.parts.home, request.nodeName(this.parts.node()), 'svc-authd');
  }

  /** The change is made and on disk: when svc-db cannot be asked, or hears of it late, that changes nothing. */
  async #settled(ids: readonly string[], wanted: 0 | 1): Promise<void> {
    const end = performance.now() + SETTLE_MS;
    for (let wait = FIRST_PAUSE_MS; performance.now() < end; wait = Math.min(2 * wait, LONGEST_PAUSE_MS)) {
      try {
        const known = { ids: [...ids], select: ['id'] };
        const { items } = await this.parts.db.call('agents.get', known, { deadlineMs: SETTLE_MS });
        if (items.length === wanted * ids.length) return;
      } catch {
        return;
      }
      await pause(wait);
    }
  }
}

function callOptions(request: ApiRequest): { deadlineMs: number; signal: AbortSignal } {
  return { deadlineMs: MAX_DEADLINE_MS, signal: request.signal };
}
