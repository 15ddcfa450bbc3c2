import { pause } from '../../../../lib/async/pause.js';
import type { LimitedLogger, Logger } from '../../../../lib/log/logger.js';
import type { StreamedAlert } from '../../../../lib/output/alert-feed.js';
import type { AlertReceiver, Delivery } from '../alert-receiver.js';
import type { DocumentMaker, IndexedDocument } from './alert-document.js';
import type { ItemOutcome } from './indexer-answers.js';
import type { IndexerConnection } from './indexer-connection.js';
import type { IndexerSetup } from './indexer-setup.js';
import type { RejectedAlert, RejectedAlerts } from './rejected-alerts.js';

export type IndexerReceiverParts = {
  /** `alerts`, `archives`. */
  readonly stream: string;
  readonly documents: DocumentMaker;
  readonly connection: Pick<IndexerConnection, 'bulk' | 'hosts' | 'timeoutMs' | 'close'>;
  readonly setup: Pick<IndexerSetup, 'prepare' | 'query'>;
  readonly rejected: Pick<RejectedAlerts, 'write'>;
  readonly logger: Logger;
  /** Documents of a request at most. */
  readonly batchSize: number;
  /** Milliseconds between two requests that are not full. */
  readonly flushMs: number;
  /** Replaces the pauses: tests. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/** A batch of so many characters is not waited for to become larger: it is as much as is read at a time. */
const FULL_BYTES = 1024 * 1024;
/** Pauses while the server has too much to do: the first, the longest, and how much is added at random. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
const JITTER = 0.25;
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
  readonly #counts = { throttled: 0, reduced: 0 };

  constructor(parts: IndexerReceiverParts) {
    this.#parts = parts;
    this.#refusals = parts.logger.limited();
    this.mostAlerts = parts.batchSize;
    // A request, and the longest pause before it.
    this.deadlineMs = parts.connection.timeoutMs + (1 + JITTER) * LONGEST_PAUSE_MS;
  }

  async deliver(batch: readonly StreamedAlert[], delivery: Delivery): Promise<void> {
    const { batchSize, setup, connection, flushMs } = this.#parts;
    const { bulk } = connection;
    bulk.throwWhileRefused();
    await setup.prepare(delivery.signal);
    if (batch.length < batchSize && bytesOf(batch) < FULL_BYTES) {
      await this.#wait(bulk.sentAt + flushMs - performance.now(), delivery.signal);
    }
    await this.#deliverBatch(batch, delivery);
    this.#done.clear();
  }

  stats(): Readonly<Record<string, unknown>> {
    const { bulk, hosts } = this.#parts.connection;
    return { requests: bulk.requests, ...this.#counts, available_hosts: hosts.available };
  }

  close(): void {
    this.#parts.connection.close();
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

  /** Sends everything once. */
  async #sendAll(
    all: readonly Sent[],
    delivery: Delivery,
  ): Promise<{ again: Sent[]; reduced: Sent[]; reason: string; progress: boolean }> {
    const { connection, setup } = this.#parts;
    const again: Sent[] = [];
    const reduced: Sent[] = [];
    let reason = '';
    let progress = false;
    const onOutcome = (index: number, outcome: ItemOutcome): void => {
      const sent = all[index] as Sent;
      if (outcome.kind === 'again') {
        again.push(sent);
        ({ reason } = outcome);
        return;
      }
      progress = true;
      if (outcome.kind === 'done') {
        delivery.sent(1);
        this.#done.add(sent.document.id);
        if (sent.isReduced) this.#counts.reduced += 1;
      } else {
        this.#refused(sent, outcome, reduced, delivery);
      }
    };
    const actions = all.map(
      ({ document: { index, id, text } }) => `{"create":{"_index":"${index}","_id":"${id}"}}\n${text}`,
    );
    await connection.bulk.send(actions, { query: setup.query, signal: delivery.signal, onOutcome });
    return { again, reduced, reason, progress };
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
