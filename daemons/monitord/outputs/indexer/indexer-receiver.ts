import { pause } from '../../../../lib/async/pause.js';
import { describeError } from '../../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../../lib/log/logger.js';
import type { StreamedAlert } from '../alert-feed.js';
import type { AlertReceiver, Delivery } from '../alert-receiver.js';
import type { DocumentMaker, IndexedDocument } from './alert-document.js';
import type { IndexerAccount } from './indexer-account.js';
import { bulkOutcomes, errorOf, type ItemOutcome } from './indexer-answers.js';
import type { IndexerAnswer, IndexerRequest } from './indexer-client.js';
import type { IndexerHosts } from './indexer-hosts.js';
import type { IndexerSetup } from './indexer-setup.js';
import type { RejectedAlert, RejectedAlerts } from './rejected-alerts.js';

export type IndexerReceiverParts = {
  /** `alerts`, `archives`. */
  readonly stream: string;
  readonly documents: DocumentMaker;
  readonly client: { request(request: IndexerRequest): Promise<IndexerAnswer>; close(): void };
  readonly hosts: Pick<IndexerHosts, 'take' | 'failed' | 'available'>;
  readonly setup: Pick<IndexerSetup, 'prepare' | 'query'>;
  /** Another one ends the pause after a refusal. */
  readonly account: Pick<IndexerAccount, 'stamp'>;
  readonly rejected: Pick<RejectedAlerts, 'write'>;
  readonly logger: Logger;
  /** Documents of a request at most. */
  readonly batchSize: number;
  /** Milliseconds between two requests that are not full. */
  readonly flushMs: number;
  /** Milliseconds for one request. */
  readonly timeoutMs: number;
  /** Replaces the pauses: tests. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/** Bytes of a request at most (indexer.md 4.6); a server that takes less says so with 413. */
const MOST_BYTES = 5 * 1024 * 1024;
/** A batch of so many characters is not waited for to become larger: it is as much as is read at a time. */
const FULL_BYTES = 1024 * 1024;
/** Requests in a row after which a smaller size is doubled again. */
const GROW_AFTER = 5;
/** Pauses while the server has too much to do: the first, the longest, and how much is added at random. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
const JITTER = 0.25;
/** After an answer that name or password is wrong, nothing is sent for so long: accounts are locked after some tries. */
const REFUSED_MS = 60_000;
const BAD_REQUEST = 400;
const TOO_LARGE = 413;
const TOO_MANY = 429;

type Sent = { readonly line: string; readonly document: IndexedDocument; readonly isReduced: boolean };

/**
 * Has alerts indexed with the bulk protocol (indexer.md 4.6, 4.7). Documents have stable ids, so what is sent twice is there
 * once. What the server cannot take now is sent again, document by document; what it never takes is sent once more with its
 * `data` as one text, and written to a file.
 */
export class IndexerReceiver implements AlertReceiver {
  readonly deadlineMs: number;
  readonly mostAlerts: number;
  readonly #parts: IndexerReceiverParts;
  readonly #refusals: LimitedLogger;
  /** Documents of the batch that are there: a failure does not send them again. */
  readonly #done = new Set<string>();
  /** Refused of the batch and not in the file yet, by their line: a failure of the others does not lose them. */
  readonly #rejected = new Map<string, RejectedAlert>();
  readonly #counts = { requests: 0, throttled: 0, reduced: 0 };
  #mostBytes = MOST_BYTES;
  #successes = 0;
  #sentAt = -Infinity;
  #refusal: { readonly message: string; readonly until: number; readonly stamp: string } | undefined;

  constructor(parts: IndexerReceiverParts) {
    this.#parts = parts;
    this.#refusals = parts.logger.limited();
    this.mostAlerts = parts.batchSize;
    // A request, and the longest pause before it.
    this.deadlineMs = parts.timeoutMs + (1 + JITTER) * LONGEST_PAUSE_MS;
  }

  async deliver(batch: readonly StreamedAlert[], delivery: Delivery): Promise<void> {
    const { batchSize, setup } = this.#parts;
    this.#endRefused();
    await setup.prepare(delivery.signal);
    if (batch.length < batchSize && bytesOf(batch) < FULL_BYTES) {
      await this.#wait(this.#sentAt + this.#parts.flushMs - performance.now(), delivery.signal);
    }
    await this.#deliverBatch(batch, delivery);
    this.#done.clear();
  }

  stats(): Readonly<Record<string, unknown>> {
    return { ...this.#counts, available_hosts: this.#parts.hosts.available };
  }

  close(): void {
    this.#parts.client.close();
  }

  /** Resolves when each is there, or in the file of those that are refused. */
  async #deliverBatch(alerts: readonly StreamedAlert[], delivery: Delivery): Promise<void> {
    let waiting: Sent[] = [];
    for (const { text: line } of alerts) {
      const document = this.#parts.documents.make(line);
      if (typeof document === 'string') this.#noDocument(line, document, delivery);
      else if (!this.#done.has(document.id)) waiting.push({ line, document, isReduced: false });
    }
    for (let pauseMs = FIRST_PAUSE_MS; waiting.length > 0; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const { again, reduced, reason, progress } = await this.#sendAll(waiting, delivery);
      waiting = [...again, ...reduced];
      // What was refused is sent in its other form at once.
      if (again.length === 0) continue;
      if (progress) pauseMs = FIRST_PAUSE_MS;
      this.#counts.throttled += again.length;
      this.#parts.logger.debug(`${String(again.length)} documents are sent again: ${reason}`);
      await this.#wait(pauseMs * (1 + Math.random() * JITTER), delivery.signal);
    }
    await this.#parts.rejected.write([...this.#rejected.values()]);
    this.#rejected.clear();
  }

  /** Sends everything once, in as many requests as it takes. */
  async #sendAll(
    all: readonly Sent[],
    delivery: Delivery,
  ): Promise<{ again: Sent[]; reduced: Sent[]; reason: string; progress: boolean }> {
    const again: Sent[] = [];
    const reduced: Sent[] = [];
    let reason = '';
    let progress = false;
    let most = Infinity;
    for (let at = 0; at < all.length;) {
      const { body, count } = this.#body(all, at, most);
      const outcomes = await this.#post(body, count, delivery.signal);
      if (outcomes === 'smaller') {
        // One of them may be the reason: it is found.
        most = Math.ceil(count / 2);
        continue;
      }
      let done = 0;
      for (const [index, outcome] of outcomes.entries()) {
        const sent = all[at + index] as Sent;
        if (outcome.kind === 'again') {
          again.push(sent);
          ({ reason } = outcome);
          continue;
        }
        progress = true;
        if (outcome.kind === 'done') {
          done += 1;
          this.#done.add(sent.document.id);
          if (sent.isReduced) this.#counts.reduced += 1;
        } else {
          this.#refused(sent, outcome, reduced, delivery);
        }
      }
      delivery.sent(done);
      at += count;
    }
    return { again, reduced, reason, progress };
  }

  /** As many documents as fit. */
  #body(all: readonly Sent[], from: number, most: number): { readonly body: string; readonly count: number } {
    const lines: string[] = [];
    let bytes = 0;
    let count = 0;
    for (; from + count < all.length && count < most; count += 1) {
      const { document } = all[from + count] as Sent;
      const action = `{"create":{"_index":"${document.index}","_id":"${document.id}"}}`;
      const size = action.length + Buffer.byteLength(document.text) + 2;
      if (count > 0 && bytes + size > this.#mostBytes) break;
      bytes += size;
      lines.push(action, document.text);
    }
    lines.push('');
    return { body: lines.join('\n'), count };
  }

  /** @throws Error when the request as a whole was not taken, and is to be tried again later */
  async #post(body: string, count: number, signal: AbortSignal): Promise<readonly ItemOutcome[] | 'smaller'> {
    const { client, hosts, setup, timeoutMs } = this.#parts;
    const host = await hosts.take(signal);
    this.#counts.requests += 1;
    this.#sentAt = performance.now();
    let answer: IndexerAnswer;
    try {
      answer = await client.request({ host, method: 'POST', path: `/_bulk${setup.query}`, body, timeoutMs, signal });
    } catch (error) {
      signal.throwIfAborted();
      hosts.failed(host, describeError(error));
      throw error;
    }
    const { status } = answer;
    if (status >= 200 && status < 300) {
      const outcomes = bulkOutcomes(answer.text, count);
      this.#grow();
      return outcomes;
    }
    const { shown } = errorOf(answer);
    if (status === TOO_LARGE && count > 1) {
      this.#shrink(body.length);
      return 'smaller';
    }
    if (status === TOO_LARGE) {
      const why = `the server takes no request of ${String(body.length)} bytes (http.max_content_length)`;
      return [{ kind: 'refused', type: '413', reason: why }];
    }
    // Refusals of documents stand in their items. Whoever refuses whole requests may be a proxy: alerts wait.
    if (status === BAD_REQUEST && count > 1) return 'smaller';
    if (status === TOO_MANY) return Array.from({ length: count }, () => ({ kind: 'again' as const, reason: shown }));
    const message = `${new URL(host).host} answered ${shown}`;
    if (status === 401 || status === 403) {
      this.#refusal = { message, until: performance.now() + REFUSED_MS, stamp: this.#parts.account.stamp };
    } else if (status >= 500) {
      hosts.failed(host, message);
    }
    throw new Error(message);
  }

  #refused(
    { line, document, isReduced }: Sent,
    { type, reason }: Extract<ItemOutcome, { readonly kind: 'refused' }>,
    reduced: Sent[],
    delivery: Delivery,
  ): void {
    const { stream, documents } = this.#parts;
    const { index, id } = document;
    const other = isReduced ? document : documents.reduced(line);
    if (typeof other === 'string') {
      this.#noDocument(line, other, delivery);
      return;
    }
    const isLast = other.text === document.text;
    this.#rejected.set(line, { output: stream, index, id, type, reason, indexed: isLast ? 'no' : 'reduced', line });
    const why = `${type}: ${reason} (id ${alertId(line)})`;
    if (isLast) {
      this.#done.add(id);
      delivery.rejected(`it is in logs/indexer-rejected.json, for '${index}' refuses it: ${why}`);
    } else {
      reduced.push({ line, document: other, isReduced: true });
      this.#refusals.warn(`An alert is indexed in '${index}' with its 'data' as one text: ${why}`);
    }
  }

  #noDocument(line: string, reason: string, delivery: Delivery): void {
    if (this.#rejected.has(line)) return;
    this.#rejected.set(line, { output: this.#parts.stream, index: '', id: '', type: '', reason, indexed: 'no', line });
    delivery.rejected(`it is in logs/indexer-rejected.json, for ${reason} (id ${alertId(line)})`);
  }

  /** @throws Error while an account that was refused is left alone */
  #endRefused(): void {
    if (this.#refusal === undefined) return;
    const { message, until, stamp } = this.#refusal;
    if (performance.now() < until && stamp === this.#parts.account.stamp) throw new Error(message);
    this.#refusal = undefined;
  }

  #shrink(bytes: number): void {
    this.#successes = 0;
    this.#mostBytes = Math.max(1, Math.floor(Math.min(bytes, this.#mostBytes) / 2));
    this.#parts.logger.debug(
      `Requests have at most ${String(this.#mostBytes)} bytes from now on: the server takes no larger ones.`,
    );
  }

  #grow(): void {
    this.#successes += 1;
    if (this.#mostBytes >= MOST_BYTES || this.#successes < GROW_AFTER) return;
    this.#successes = 0;
    this.#mostBytes = Math.min(2 * this.#mostBytes, MOST_BYTES);
  }

  async #wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (milliseconds > 0) await (this.#parts.sleep ?? pause)(milliseconds, signal);
    signal.throwIfAborted();
  }
}

function bytesOf(batch: readonly StreamedAlert[]): number {
  return batch.reduce((sum, { text }) => sum + text.length, 0);
}

const ID = /"id":"(\d+\.\d+)"/;

function alertId(line: string): string {
  return ID.exec(line)?.[1] ?? 'unknown';
}
