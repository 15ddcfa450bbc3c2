import { describeError } from '../../../../lib/log/describe-error.js';
import type { Logger } from '../../../../lib/log/logger.js';
import type { IndexerAccount } from './indexer-account.js';
import { bulkOutcomes, errorOf, type ItemOutcome } from './indexer-answers.js';
import type { IndexerAnswer, IndexerRequest } from './indexer-client.js';
import type { IndexerHosts } from './indexer-hosts.js';

export type BulkRequestsParts = {
  readonly client: { request(request: IndexerRequest): Promise<IndexerAnswer>; close(): void };
  readonly hosts: Pick<IndexerHosts, 'take' | 'failed' | 'available'>;
  /** Another one ends the pause after a refusal. */
  readonly account: Pick<IndexerAccount, 'stamp'>;
  readonly logger: Logger;
  /** Milliseconds for one request. */
  readonly timeoutMs: number;
};

export type BulkSending = {
  /** Of the path, with its `?`; empty for none. */
  readonly query: string;
  readonly signal: AbortSignal;
  /** Told of each action, in their order, as far as requests were answered. */
  readonly onOutcome: (index: number, outcome: ItemOutcome) => void;
};

/** Bytes of a request at most (indexer.md 4.6); a server that takes less says so with 413. */
const MOST_BYTES = 5 * 1024 * 1024;
/** Requests in a row after which a smaller size is doubled again. */
const GROW_AFTER = 5;
/** After an answer that name or password is wrong, nothing is sent for so long: accounts are locked after some tries. */
const REFUSED_MS = 60_000;
const BAD_REQUEST = 400;
const TOO_LARGE = 413;
const TOO_MANY = 429;

/** Sends actions of the bulk protocol (indexer.md 4.6, 4.7), in as many requests as it takes. */
export class BulkRequests {
  readonly #parts: BulkRequestsParts;
  #requests = 0;
  #sentAt = -Infinity;
  #mostBytes = MOST_BYTES;
  #successes = 0;
  #refusal: { readonly message: string; readonly until: number; readonly stamp: string } | undefined;

  constructor(parts: BulkRequestsParts) {
    this.#parts = parts;
  }

  /** Requests since the start. */
  get requests(): number {
    return this.#requests;
  }

  /** When the last request was sent, milliseconds of a steady clock. */
  get sentAt(): number {
    return this.#sentAt;
  }

  /** @throws Error while an account that was refused is left alone */
  throwWhileRefused(): void {
    if (this.#refusal === undefined) return;
    const { message, until, stamp } = this.#refusal;
    if (performance.now() < until && stamp === this.#parts.account.stamp) throw new Error(message);
    this.#refusal = undefined;
  }

  /**
   * Sends all once.
   * @param actions lines of each, without the end of the last: what is to be done, and the document
   * @throws Error when a request as a whole was not taken, and what is left is to be tried again later
   */
  async send(actions: readonly string[], { query, signal, onOutcome }: BulkSending): Promise<void> {
    let most = Infinity;
    for (let at = 0; at < actions.length;) {
      const { body, count } = this.#body(actions, at, most);
      const outcomes = await this.#post(`/_bulk${query}`, body, count, signal);
      if (outcomes === 'smaller') {
        // One of them may be the reason: it is found.
        most = Math.ceil(count / 2);
        continue;
      }
      for (const [index, outcome] of outcomes.entries()) onOutcome(at + index, outcome);
      at += count;
    }
  }

  /** As many actions as fit. */
  #body(actions: readonly string[], from: number, most: number): { readonly body: string; readonly count: number } {
    const lines: string[] = [];
    let bytes = 0;
    for (let at = from; at < actions.length && lines.length < most; at += 1) {
      const action = actions[at] ?? '';
      const size = Buffer.byteLength(action) + 1;
      if (lines.length > 0 && bytes + size > this.#mostBytes) break;
      bytes += size;
      lines.push(action);
    }
    const count = lines.length;
    lines.push('');
    return { body: lines.join('\n'), count };
  }

  async #post(
    path: string,
    body: string,
    count: number,
    signal: AbortSignal,
  ): Promise<readonly ItemOutcome[] | 'smaller'> {
    const { client, hosts, timeoutMs } = this.#parts;
    const host = await hosts.take(signal);
    this.#requests += 1;
    this.#sentAt = performance.now();
    let answer: IndexerAnswer;
    try {
      answer = await client.request({ host, method: 'POST', path, body, timeoutMs, signal });
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
    // Refusals of documents stand in their items. Whoever refuses whole requests may be a proxy: what is sent waits.
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
}
