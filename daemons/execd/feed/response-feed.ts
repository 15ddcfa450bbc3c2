import { responseMessage } from '../../../lib/agentlink/response-message.js';
import { pause } from '../../../lib/async/pause.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import type { CallResult } from '../../../lib/bus/contract.js';
import type { analysisdContract } from '../../../lib/bus/contracts/analysisd.js';
import { MAX_RESPONSE_BYTES } from '../../../lib/bus/contracts/execd.js';
import type { RequestClient } from '../../../lib/bus/request-client.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import type { Change } from '../../../lib/store/commit-queue.js';
import { StoreError } from '../../../lib/store/store-error.js';
import { ResponseError } from '../response-error.js';
import { decidedAt, type Decision, parseDecision, routeOf } from './decision.js';
import type { Deliveries } from './deliveries.js';
import type { FeedPosition, FeedStore } from './feed-store.js';
import { fitAlert } from './fit-alert.js';
import { PeerLog } from './peer-log.js';

const POSITION = 'responses';
const BEGINNING: FeedPosition = { file: '', offset: 0 };
const PAGE = 100;
/** How long svc-analysisd waits for a next decision, and how long that may take; milliseconds. */
const WAIT_MS = 25_000;
const DEADLINE_MS = 30_000;
/** Pauses after failures, milliseconds: each twice the one before. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/**
 * How long a stream that is shorter than the position is waited for: after a power cut svc-analysisd writes what is missing
 * once more.
 */
const SHORT_STREAM_MS = 300_000;
/** An order for agents that are away is kept so long, milliseconds; less when its time-out is shorter. */
const MAX_ORDER_MS = 3_600_000;
const SECOND_MS = 1000;
/** Of a message beside its alert: name, arguments, and room for escapes. */
const ALERT_BYTES = MAX_RESPONSE_BYTES - 8192;

type Page = CallResult<typeof analysisdContract, 'responses.read'>;

export type ResponseFeedParts = {
  readonly store: FeedStore;
  readonly analysisd: Pick<RequestClient<typeof analysisdContract>, 'call'>;
  /** As `ResponseRunner.accept`. */
  readonly accept: (message: string, beside: readonly Change[]) => Promise<void>;
  readonly deliveries: Pick<Deliveries, 'add'>;
  /** Name of this node. */
  readonly node: () => string;
  readonly logger: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/**
 * Follows what svc-analysisd decides (architecture.md 4 "Consumers of alerts"): each decision is taken over together with the
 * position behind it, so that it is carried out once whatever happens to either process.
 */
export class ResponseFeed {
  /** Decisions since the start: for this host, for agents, refused here, too late, and such that could not be read. */
  readonly counts = { here: 0, agents: 0, refused: 0, late: 0, unreadable: 0 };
  readonly #parts: ResponseFeedParts;
  readonly #peer: PeerLog;
  readonly #problemLog: LimitedLogger;
  readonly #lateLog: LimitedLogger;
  readonly #stopping = new AbortController();
  #position: FeedPosition;
  /** When the decision at hand was made, epoch milliseconds; undefined when none is. */
  #current: number | undefined;
  #shortSince: number | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: ResponseFeedParts) {
    this.#parts = parts;
    this.#problemLog = parts.logger.limited();
    this.#lateLog = parts.logger.limited();
    this.#peer = new PeerLog(
      parts.logger,
      'Decisions about active responses are not read',
      'Decisions about active responses are read again',
    );
    this.#position = parts.store.positions.get(POSITION) ?? BEGINNING;
  }

  get position(): FeedPosition {
    return this.#position;
  }

  /** Seconds that the decision at hand is old; 0 when none waits. */
  get lagSeconds(): number {
    return this.#current === undefined ? 0 : Math.max(0, (this.#parts.now() - this.#current) / SECOND_MS);
  }

  start(onFailure: (error: unknown) => void): void {
    this.#running = this.#run().catch(onFailure);
  }

  /** Ends between two decisions. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      try {
        const page = await this.#read(this.#position, WAIT_MS);
        this.#peer.worked();
        this.#shortSince = undefined;
        pauseMs = FIRST_PAUSE_MS;
        await this.#take(page);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof BusError && error.code === 'bad_position') await this.#streamIsShort(error);
        else if (error instanceof BusError) this.#peer.failed(error);
        else throw error;
        await pause(pauseMs, signal);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
    }
  }

  #read(after: FeedPosition | 'end', waitMs: number): Promise<Page> {
    const options = { deadlineMs: DEADLINE_MS, signal: this.#stopping.signal };
    return this.#parts.analysisd.call('responses.read', { after, max: PAGE, waitMs }, options);
  }

  /** Lines of a page stand one behind the other in its file, so that it is known where each ends. */
  async #take({ responses, next }: Page): Promise<void> {
    let left = responses.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    for (const line of responses) {
      left -= Buffer.byteLength(line) + 1;
      await this.#untilStored(line, { file: next.file, offset: next.offset - left });
      if (this.#stopping.signal.aborted) return;
    }
    this.#current = undefined;
    this.#position = next;
  }

  /** A decision is not passed over because the disk is full, say, or because too much runs: it waits, and all behind it. */
  async #untilStored(line: string, position: FeedPosition): Promise<void> {
    const { signal } = this.#stopping;
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        await this.#carryOut(line, position);
        this.#position = position;
        return;
      } catch (error) {
        const waits = error instanceof StoreError || (error instanceof ResponseError && error.code === 'too_many');
        if (!waits) throw error;
        this.#problemLog.warn(`Active responses wait: ${describeError(error)}`);
      }
      await pause(pauseMs, signal);
    }
  }

  async #carryOut(line: string, position: FeedPosition): Promise<void> {
    const { store, deliveries } = this.#parts;
    const beside = [store.positions.put(POSITION, position)];
    const decision = this.#decisionOf(line);
    if (decision === undefined || this.#isLate(decision)) return store.commit(beside);
    const route = routeOf(decision);
    if (route === 'here') return this.#runHere(decision, beside);
    if (route.agents.length === 0 && !route.all) return store.commit(beside);
    const order = {
      command: decision.response,
      extraArgs: decision.extra_args,
      alert: JSON.stringify(fitAlert(decision.alert, ALERT_BYTES)),
      expires: this.#expiryOf(decision),
    };
    await deliveries.add(order, { agents: [...route.agents], all: route.all }, beside);
    this.counts.agents += 1;
  }

  async #runHere(decision: Decision, beside: readonly Change[]): Promise<void> {
    const { store, accept, node } = this.#parts;
    const message = responseMessage({
      origin: { name: node(), module: 'wazuh-analysisd' },
      command: decision.response,
      extraArgs: decision.extra_args,
      alert: fitAlert(decision.alert, ALERT_BYTES),
    });
    try {
      await accept(message, beside);
      this.counts.here += 1;
    } catch (error) {
      if (!(error instanceof ResponseError) || error.code === 'too_many') throw error;
      await store.commit(beside);
      this.counts.refused += 1;
    }
  }

  #decisionOf(line: string): Decision | undefined {
    try {
      const decision = parseDecision(line);
      this.#current = decidedAt(decision);
      return decision;
    } catch (error) {
      this.counts.unreadable += 1;
      this.#problemLog.error(`A decision about an active response cannot be read: ${describeError(error)}`);
      return undefined;
    }
  }

  /** What would be undone by now need not be done. */
  #isLate(decision: Decision): boolean {
    const { timeout, response } = decision;
    if (timeout === 0 || this.#undoneAt(decision) > this.#parts.now()) return false;
    this.counts.late += 1;
    this.#lateLog.warn(`Active response '${response}' comes too late: its ${String(timeout)} s are over.`);
    return true;
  }

  #undoneAt(decision: Decision): number {
    return (decidedAt(decision) ?? this.#parts.now()) + decision.timeout * SECOND_MS;
  }

  #expiryOf(decision: Decision): number {
    const longest = this.#parts.now() + MAX_ORDER_MS;
    return decision.timeout === 0 ? longest : Math.min(longest, this.#undoneAt(decision));
  }

  async #streamIsShort(error: BusError): Promise<void> {
    if (this.#shortSince === undefined) {
      this.#shortSince = performance.now();
      this.#parts.logger.warn(`Decisions that were carried out are not there, which is waited for: ${error.message}.`);
      return;
    }
    if (performance.now() - this.#shortSince < SHORT_STREAM_MS) return;
    const { next } = await this.#read('end', 0);
    this.#parts.logger.error(`Decisions about active responses are read on from the end of what is there.`);
    await this.#parts.store.commit([this.#parts.store.positions.put(POSITION, next)]);
    this.#position = next;
    this.#shortSince = undefined;
  }
}
