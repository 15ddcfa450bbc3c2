import type { CollectedSpan } from '../../lib/bus/contracts/logcollector.js';

/** What svc-logcollector counted. */
type CollectedState = { readonly global: CollectedSpan; readonly interval: CollectedSpan };

/** Bytes of the counters in one answer: with what stands around them it fits into a message of the channel (65,408). */
const PAGE_BYTES = 60_000;

/**
 * Answers `getstate` for svc-logcollector, whose counters may be longer than a message: then the answer says that there is
 * more, and `getstate next` gives it (daemons-and-config.md 6.5).
 */
export class StatePages {
  /** Pages that were not asked for yet. */
  #rest: CollectedState[] = [];

  /** The first page; those of an earlier state are forgotten. */
  first(state: CollectedState): string {
    const [first = state, ...rest] = pagesOf(state);
    this.#rest = rest;
    return rest.length === 0 ? JSON.stringify({ error: 0, data: first }) : this.#page(first);
  }

  /** The next page, undefined when there is none. */
  next(): string | undefined {
    const page = this.#rest.shift();
    return page === undefined ? undefined : this.#page(page);
  }

  #page(data: CollectedState): string {
    // The pages are those of one moment, so the state does not change between them.
    return JSON.stringify({ error: 0, remaining: this.#rest.length > 0, json_updated: false, data });
  }
}

function pagesOf({ global, interval }: CollectedState): CollectedState[] {
  const pages: { global: CollectedSpan; interval: CollectedSpan }[] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const [name, span] of [['global', global] as const, ['interval', interval] as const]) {
    for (const file of span.files) {
      const size = Buffer.byteLength(JSON.stringify(file)) + 1;
      if (bytes + size > PAGE_BYTES) {
        pages.push({ global: { ...global, files: [] }, interval: { ...interval, files: [] } });
        bytes = 0;
      }
      bytes += size;
      pages.at(-1)?.[name].files.push(file);
    }
  }
  return pages;
}
