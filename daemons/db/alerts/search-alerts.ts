import type { StoredAlert } from '../../../lib/bus/contracts/db-alerts.js';
import { type AlertPlace, comparePlaces, placeText } from './alert-place.js';
import type { AlertQuestion } from './alert-question.js';
import type { AlertSegment } from './alert-segment.js';
import { type FoundRow, foundRows, hasCandidates, matchingRows } from './page-rows.js';

/** A page of alerts is filled from so many pages as a rule: those of a value are read for their lines, whether its column is or not. */
const FEW_PAGES = 64;

export type SearchOrder = 'desc' | 'asc';

/** What a page of alerts is made of. */
export type SearchLimits = {
  readonly order: SearchOrder;
  /** Where it begins: alerts before that place, or those from it on. Without it at the end that the order begins with. */
  readonly cursor: AlertPlace | undefined;
  readonly limit: number;
  /** Bytes of the alerts; one is given whatever it has. */
  readonly bytes: number;
  /** Whether time is over; what was found by then is the answer. */
  readonly isOver: () => boolean;
  /** Has time begin anew, once in a piece. */
  readonly again?: () => void;
};

/** Alerts that were found. */
export type SearchPiece = {
  readonly alerts: readonly StoredAlert[];
  /** Where to go on; undefined where there is nothing at all. */
  readonly next: AlertPlace | undefined;
  /** Whether all were looked at. */
  readonly isDone: boolean;
};

/**
 * Looks for alerts of a question, one segment after the other, until there are enough or time is over. At least one page of a
 * segment is looked at, so that asking again gets on.
 * @param segments in the order of writing
 * @throws SegmentDamage
 */
export function searchAlerts(
  segments: readonly AlertSegment[],
  question: AlertQuestion,
  limits: SearchLimits,
): SearchPiece {
  const search = new Search(question, limits);
  const ordered = limits.order === 'desc' ? segments.toReversed() : segments;
  for (const segment of ordered) {
    if (!search.look(segment)) return { alerts: search.alerts, next: search.next, isDone: false };
  }
  return { alerts: search.alerts, next: search.next, isDone: true };
}

class Search {
  readonly alerts: StoredAlert[] = [];
  next: AlertPlace | undefined;
  readonly #question: AlertQuestion;
  readonly #limits: SearchLimits;
  #bytes = 0;

  constructor(question: AlertQuestion, limits: SearchLimits) {
    this.#question = question;
    this.#limits = limits;
    this.next = limits.cursor;
  }

  /** @returns whether the next segment is to be looked at */
  look(segment: AlertSegment): boolean {
    if (this.#isPassed(segment.from, segment.end)) return true;
    const { isOver, again } = this.#limits;
    const candidates = this.#question.candidates(segment, isOver, FEW_PAGES);
    const { mask } = candidates;
    // Those that there was no time for are looked at alert by alert, in as much time again; that of a piece ends with this segment then.
    const isLate = isOver();
    if (isLate) again?.();
    const isDescending = this.#limits.order === 'desc';
    if (mask !== 'none') {
      const { pages } = segment;
      for (let index = 0; index < pages.length; index += 1) {
        const page = isDescending ? pages.length - 1 - index : index;
        const from = pages[page]?.place ?? segment.from;
        const end = pages[page + 1]?.place ?? segment.end;
        if (this.#isPassed(from, end) || !hasCandidates(segment, page, mask)) continue;
        const rows = foundRows(segment, page, matchingRows(segment, page, candidates, this.#question));
        if (!this.#take(segment, isDescending ? rows.reverse() : rows)) return false;
        this.next = isDescending ? from : end;
        if (isOver()) return false;
      }
    }
    this.next = isDescending ? segment.from : segment.end;
    return !isLate && !isOver();
  }

  /** @returns whether all were taken */
  #take(segment: AlertSegment, rows: readonly FoundRow[]): boolean {
    const { cursor, order, limit, bytes } = this.#limits;
    const times = segment.times();
    for (const { row, line, from, end } of rows) {
      if (cursor !== undefined && comparePlaces(from, cursor) < 0 !== (order === 'desc')) continue;
      const isFull = this.alerts.length === limit || (this.alerts.length > 0 && this.#bytes + line.length > bytes);
      if (isFull) return false;
      this.alerts.push({ id: placeText(from), time: times[row] ?? 0, text: line });
      this.#bytes += line.length;
      this.next = order === 'desc' ? from : end;
    }
    return true;
  }

  /** Whether the cursor is beyond what lies between two places. */
  #isPassed(from: AlertPlace, end: AlertPlace): boolean {
    const { cursor, order } = this.#limits;
    if (cursor === undefined) return false;
    return order === 'desc' ? comparePlaces(from, cursor) >= 0 : comparePlaces(end, cursor) <= 0;
  }
}
