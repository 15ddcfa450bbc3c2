import { MANAGER_ID } from '../../lib/agentlink/agent-identity.js';
import { pause } from '../../lib/async/pause.js';
import { BusError } from '../../lib/bus/bus-error.js';
import type { modulesdContract } from '../../lib/bus/contracts/modulesd.js';
import { MAX_AGENTS_PER_SEND, type remotedContract } from '../../lib/bus/contracts/remoted.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../lib/log/logger.js';

/** How long requests are gathered before they go out, milliseconds: the engine and svc-db ask for the same. */
const GATHER_MS = 200;
/** How long an agent is not asked again for the same, milliseconds. */
const QUIET_MS = 5000;
/** Requests that wait, or are remembered, at once: three policies of each of 100,000 agents after an update of the policies. */
const MAX_REQUESTS = 300_000;
/** Tries of what svc-remoted or svc-modulesd does not take, and the time between two, milliseconds: a restart takes less. */
const MAX_TRIES = 10;
const RETRY_MS = 1000;
/** Sending to 100,000 agents takes a while. */
const SEND_DEADLINE_MS = 60_000;

/** Characters of a policy's id that svc-db takes. */
const MAX_POLICY_ID = 256;
const CONTROL = /[\u0000-\u001f\u007f]/;
const ORDER = /^sca-dump:(.+):([01])$/s;

/** Who lacks results. */
export type Asker = 'engine' | 'svc-db';

type DumpRequest = {
  readonly agent: string;
  readonly policyId: string;
  first: boolean;
  readonly askers: Set<Asker>;
  /** When it may go out, by the monotonic clock. */
  readonly due: number;
};
/** When it went out, by the monotonic clock. */
type SentRequest = { readonly first: boolean; readonly askers: Set<Asker>; readonly at: number };

export type DumpRequestsParts = {
  readonly remoted: Pick<RequestClient<typeof remotedContract>, 'call'>;
  /** Of this manager, which is an agent of its own. */
  readonly modulesd: Pick<RequestClient<typeof modulesdContract>, 'call'>;
  readonly logger: Logger;
  readonly gatherMs?: number;
  readonly quietMs?: number;
  readonly retryMs?: number;
};

/** The way to some agents: what waits for it, and whether something is on its way. */
type Lane = {
  readonly waiting: Map<string, DumpRequest>;
  running: Promise<void> | undefined;
  readonly send: (text: string, agents: readonly string[]) => Promise<void>;
};

/**
 * Asks agents for the results of policies (integrity-and-inventory.md 10.4): the engine and svc-db each say what they lack, and
 * no agent is asked twice for the same within some seconds. A request that is lost is made again after the agent's next scan.
 */
export class DumpRequests {
  /** Requests that went out, that were as good as made already, that found no agent, and that found no place. */
  readonly counters = { sent: 0, merged: 0, failed: 0, dropped: 0 };
  readonly #parts: DumpRequestsParts;
  readonly #failureLog: LimitedLogger;
  readonly #dropLog: LimitedLogger;
  readonly #stopped = new AbortController();
  readonly #sent = new Map<string, SentRequest>();
  /** One does not wait for the other. */
  readonly #agents: Lane = this.#lane((text, agents) => this.#sendToAgents(text, agents));
  readonly #manager: Lane = this.#lane((text) => this.#sendToManager(text));

  constructor(parts: DumpRequestsParts) {
    this.#parts = parts;
    this.#failureLog = parts.logger.limited();
    this.#dropLog = parts.logger.limited();
  }

  /** @param first whether the summary is to come again behind the results */
  ask(asker: Asker, agent: string, policyId: string, first: boolean): void {
    // Such an id is no policy's, which svc-db counts: it would end the order.
    if (this.#stopped.signal.aborted || CONTROL.test(policyId) || policyId.length > MAX_POLICY_ID) return;
    const name = `${agent}:${policyId}`;
    const lane = agent === MANAGER_ID ? this.#manager : this.#agents;
    const waiting = lane.waiting.get(name);
    if (waiting !== undefined) {
      waiting.first ||= first;
      waiting.askers.add(asker);
      this.counters.merged += 1;
      return;
    }
    const recent = this.#recent(name);
    const isEnough = recent !== undefined && (recent.first || !first);
    // For results alone agents take minutes; what they tell with the summary may be told already.
    if (isEnough && (!first || !recent.askers.has(asker))) {
      recent.askers.add(asker);
      this.counters.merged += 1;
      return;
    }
    if (lane.waiting.size >= MAX_REQUESTS) {
      this.counters.dropped += 1;
      this.#dropLog.warn(
        'Agents are not asked for results of policies, as too many are to be asked: their next scans will.',
      );
      return;
    }
    const due = isEnough ? recent.at + this.#quietMs : 0;
    lane.waiting.set(name, { agent, policyId, first, askers: new Set([asker]), due });
    lane.running ??= this.#run(lane);
  }

  /** What svc-db wants an agent to be told. @param text `sca-dump:<policy>:<first>` */
  order({ agent, text }: { readonly agent: string; readonly text: string }): void {
    const [, policyId, first] = ORDER.exec(text) ?? [];
    if (policyId !== undefined) this.ask('svc-db', agent, policyId, first === '1');
  }

  /** What waits is not sent any more. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all([this.#agents.running, this.#manager.running]);
  }

  #lane(send: Lane['send']): Lane {
    return { waiting: new Map(), running: undefined, send };
  }

  async #run(lane: Lane): Promise<void> {
    const { signal } = this.#stopped;
    const { gatherMs = GATHER_MS } = this.#parts;
    while (lane.waiting.size > 0 && !signal.aborted) {
      await pause(gatherMs, signal);
      if (signal.aborted) break;
      const now = performance.now();
      const requests = new Map([...lane.waiting].filter(([, { due }]) => due <= now));
      for (const name of requests.keys()) lane.waiting.delete(name);
      this.#remember(requests);
      for (const [text, agents] of byText(requests.values())) await lane.send(text, agents);
    }
    lane.running = undefined;
  }

  async #sendToManager(text: string): Promise<void> {
    // A byte string, as orders of other managers are.
    const order = { text: Buffer.from(text).toString('latin1') };
    await this.#try(1, async (options) => {
      await this.#parts.modulesd.call('order', order, options);
      this.counters.sent += 1;
    });
  }

  async #sendToAgents(text: string, agents: readonly string[]): Promise<void> {
    for (let from = 0; from < agents.length; from += MAX_AGENTS_PER_SEND) {
      const ids = agents.slice(from, from + MAX_AGENTS_PER_SEND);
      await this.#try(ids.length, async (options) => {
        const { sent, failed } = await this.#parts.remoted.call('agents.send', { ids, message: text }, options);
        this.counters.sent += sent;
        const [first] = failed;
        if (first !== undefined) this.#failed(failed.length, `agent '${first.id}': ${first.message}`);
      });
    }
  }

  /** Sends something; a daemon that does not answer may be restarting. @param count requests that fail with it */
  async #try(
    count: number,
    send: (options: { readonly signal: AbortSignal; readonly deadlineMs: number }) => Promise<void>,
  ): Promise<void> {
    const { signal } = this.#stopped;
    for (let tries = 1; ; tries += 1) {
      try {
        await send({ signal, deadlineMs: SEND_DEADLINE_MS });
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof BusError)) throw error;
        if (tries >= MAX_TRIES || isRefusal(error)) {
          this.#failed(count, describeError(error));
          return;
        }
        await pause(this.#parts.retryMs ?? RETRY_MS, signal);
      }
    }
  }

  #failed(count: number, reason: string): void {
    this.counters.failed += count;
    this.#failureLog.warn(`Results of policies could not be asked for, which the next scans make up for: ${reason}`);
  }

  get #quietMs(): number {
    return this.#parts.quietMs ?? QUIET_MS;
  }

  #recent(name: string): SentRequest | undefined {
    const sent = this.#sent.get(name);
    return sent !== undefined && performance.now() - sent.at < this.#quietMs ? sent : undefined;
  }

  /** The oldest, which are in front, are forgotten. */
  #remember(requests: ReadonlyMap<string, DumpRequest>): void {
    const now = performance.now();
    for (const [name, { at }] of this.#sent) {
      if (now - at < this.#quietMs && this.#sent.size < MAX_REQUESTS) break;
      this.#sent.delete(name);
    }
    for (const [name, { first, askers }] of requests) {
      this.#sent.delete(name);
      this.#sent.set(name, { first, askers, at: now });
    }
  }
}

/** Agents that get the same order. */
function byText(requests: Iterable<DumpRequest>): ReadonlyMap<string, string[]> {
  const texts = new Map<string, string[]>();
  for (const { agent, policyId, first } of requests) {
    const text = `sca-dump:${policyId}:${first ? '1' : '0'}`;
    const agents = texts.get(text);
    if (agents === undefined) texts.set(text, [agent]);
    else agents.push(agent);
  }
  return texts;
}

/** Asking again would not help. */
function isRefusal({ code }: BusError): boolean {
  return code === 'bad_message' || code === 'bad_params' || code === 'unrecognized' || code === 'unknown_method';
}
