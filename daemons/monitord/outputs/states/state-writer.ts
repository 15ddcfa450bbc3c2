import type { LimitedLogger, Logger } from '../../../../lib/log/logger.js';
import type { ItemOutcome } from '../indexer/indexer-answers.js';
import type { IndexerConnection } from '../indexer/indexer-connection.js';
import type { RejectedAlerts } from '../indexer/rejected-alerts.js';
import type { StateRequests } from './state-requests.js';

export type StateWriterParts = {
  readonly bulk: IndexerConnection['bulk'];
  readonly requests: StateRequests;
  readonly rejected: Pick<RejectedAlerts, 'write'>;
  readonly logger: Logger;
  /** @throws the signal's reason */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

type Waiting = {
  readonly index: string;
  readonly id: string;
  /** JSON; undefined: the document is deleted. */
  readonly text: string | undefined;
};

/** Pauses while the server has too much to do: the first, and the longest; each is twice the one before. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** So many rounds without any progress are a failure: indices are looked at, then it is tried again. */
const MOST_ROUNDS = 4;
/** Agents whose documents one request deletes. */
const AGENTS_PER_QUERY = 1000;
/** Its deletion has an index refreshed; no document has it, as agents have digits. */
const NO_DOCUMENT = 'refresh';

/**
 * Brings changes of documents to their indices. They wait until `flush`: of one id the last alone, so that none is overtaken
 * when it has to be sent again. Documents of agents that are cleared go behind what waits, and what comes then has to wait
 * for that (indexer.md 3.18).
 */
export class StateWriter {
  readonly #parts: StateWriterParts;
  readonly #refusals: LimitedLogger;
  #waiting = new Map<string, Waiting>();
  /** Agents by index. */
  #cleared = new Map<string, Set<string>>();
  readonly #counts = { delivered: 0, deleted: 0, rejected: 0, throttled: 0 };

  constructor(parts: StateWriterParts) {
    this.#parts = parts;
    this.#refusals = parts.logger.limited();
  }

  /** Documents that wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Whether documents of agents are to be deleted: nothing more may be put before `flush`. */
  get clears(): boolean {
    return this.#cleared.size > 0;
  }

  stats(): Readonly<Record<'delivered' | 'deleted' | 'rejected' | 'throttled', number>> {
    return { ...this.#counts };
  }

  /** @param text JSON; undefined: there is to be none */
  put(index: string, id: string, text: string | undefined): void {
    this.#waiting.set(`${index}\n${id}`, { index, id, text });
  }

  /** All documents of an agent in an index are to be gone. */
  clear(index: string, agent: string): void {
    const agents = this.#cleared.get(index) ?? new Set();
    this.#cleared.set(index, agents.add(agent));
  }

  /** A row that cannot be a document: counted. @param reason as the log shows it */
  refuse(reason: string): void {
    this.#counts.rejected += 1;
    this.#refusals.warn(reason);
  }

  /** Forgets what waits. */
  reset(): void {
    this.#waiting.clear();
    this.#cleared.clear();
  }

  /** Resolves when everything is there, or in the file of what is refused. @throws Error: it has to be put again */
  async flush(signal: AbortSignal): Promise<void> {
    const indices = [...this.#cleared.keys()];
    await this.#send([...this.#waiting.values()], indices, signal);
    this.#waiting = new Map();
    for (const [index, agents] of this.#cleared) {
      const all = [...agents];
      for (let at = 0; at < all.length; at += AGENTS_PER_QUERY) {
        const some = all.slice(at, at + AGENTS_PER_QUERY);
        this.#counts.deleted += await this.#parts.requests.deleteAgents(index, some, signal);
      }
    }
    this.#cleared = new Map();
  }

  /** Makes all documents of an index visible to searches, behind what waits. @throws Error */
  async refresh(index: string, signal: AbortSignal): Promise<void> {
    await this.#send([...this.#waiting.values()], [index], signal);
    this.#waiting = new Map();
  }

  /** @param refreshed indices that searches are to see whole */
  async #send(all: readonly Waiting[], refreshed: readonly string[], signal: AbortSignal): Promise<void> {
    const { bulk, rejected, sleep, logger } = this.#parts;
    let waiting = [...all, ...refreshed.map((index) => ({ index, id: NO_DOCUMENT, text: undefined }))];
    let rounds = 0;
    for (let pauseMs = FIRST_PAUSE_MS; waiting.length > 0; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const again: Waiting[] = [];
      const refused: { readonly document: Waiting; readonly type: string; readonly reason: string }[] = [];
      let reason = '';
      const onOutcome = (index: number, outcome: ItemOutcome): void => {
        const document = waiting[index];
        if (document === undefined) return;
        if (outcome.kind === 'again') {
          again.push(document);
          ({ reason } = outcome);
        } else if (outcome.kind === 'refused') {
          refused.push({ document, type: outcome.type, reason: outcome.reason });
        } else if (document.text !== undefined) {
          this.#counts.delivered += 1;
        } else if (document.id !== NO_DOCUMENT) {
          this.#counts.deleted += 1;
        }
      };
      const query = refreshed.length === 0 ? '' : '?refresh=true';
      await bulk.send(waiting.map(linesOf), { query, signal, onOutcome });
      await rejected.write(
        refused.map(({ document: { index, id, text }, type, reason: why }) => {
          this.refuse(
            `An inventory document is in logs/indexer-rejected.json, for '${index}' refuses it: ${type}: ${why}`,
          );
          return { output: 'states', index, id, type, reason: why, indexed: 'no', document: text ?? '' };
        }),
      );
      if (again.length === 0) return;
      rounds = again.length < waiting.length ? 0 : rounds + 1;
      if (rounds === 0) pauseMs = FIRST_PAUSE_MS;
      if (rounds === MOST_ROUNDS) throw new Error(`documents are not taken: ${reason}`);
      this.#counts.throttled += again.length;
      logger.debug(`${String(again.length)} inventory documents are sent again: ${reason}`);
      waiting = again;
      await sleep(pauseMs, signal);
      signal.throwIfAborted();
    }
  }
}

function linesOf({ index, id, text }: Waiting): string {
  const target = `{"_index":"${index}","_id":${JSON.stringify(id)}}`;
  return text === undefined ? `{"delete":${target}}` : `{"index":${target}}\n${text}`;
}
