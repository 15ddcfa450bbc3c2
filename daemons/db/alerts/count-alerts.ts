import type { AlertField } from '../../../lib/bus/contracts/db-alerts.js';
import { type AlertValue, placeOfField, type PlainValue } from './alert-fields.js';
import { type AlertPlace, comparePlaces } from './alert-place.js';
import type { AlertQuestion } from './alert-question.js';
import type { AlertSegment } from './alert-segment.js';
import { hasCandidates, matchingRows } from './page-rows.js';
import { hasRow, type RowMask } from './row-mask.js';

/** What alerts are counted by. */
export type Counting = {
  /** Buckets of time: alerts before the first and behind the last are counted in none. */
  readonly buckets?: { readonly from: number; readonly interval: number; readonly count: number } | undefined;
  /** A field whose values are counted. */
  readonly field?: AlertField | undefined;
  /** Of the field these values alone, each in every bucket. */
  readonly series?: readonly PlainValue[] | undefined;
};

/** Numbers of alerts. */
export type Counts = {
  readonly total: number;
  /** In each bucket. */
  readonly buckets: Float64Array;
  /** With each value of the field; an alert with several counts for each. */
  readonly values: Map<PlainValue, number>;
  /** Without the field. */
  readonly missing: number;
  /** In each bucket, one value behind the other. */
  readonly series: readonly Float64Array[];
};

export type CountPiece = {
  readonly counts: Counts;
  /** Where to go on, backwards; undefined when all were looked at. */
  readonly next: AlertPlace | undefined;
};

export type CountLimits = {
  /** Where to go on, backwards. */
  readonly cursor: AlertPlace | undefined;
  /** Whether time is over; what was counted by then is the answer. */
  readonly isOver: () => boolean;
  /** Has time begin anew, once in a piece. */
  readonly again?: (() => void) | undefined;
};

/** Alerts of a question are counted from the newest on, until time is over. @throws SegmentDamage */
export function countAlerts(
  segments: readonly AlertSegment[],
  question: AlertQuestion,
  counting: Counting,
  { cursor, isOver, again }: CountLimits,
): CountPiece {
  const counter = new Counter(counting);
  let next = cursor;
  for (const segment of segments.toReversed()) {
    if (next !== undefined && comparePlaces(segment.from, next) >= 0) continue;
    const reached = countSegment(counter, segment, question, { cursor: next, isOver, again });
    if (reached !== undefined) return { counts: counter.counts(), next: reached };
    next = segment.from;
    if (isOver()) return { counts: counter.counts(), next };
  }
  return { counts: counter.counts(), next: undefined };
}

/** @returns where time was over, within the segment or at its beginning; undefined when it is done and there may be time for more */
function countSegment(
  counter: Counter,
  segment: AlertSegment,
  question: AlertQuestion,
  { cursor, isOver, again }: CountLimits,
): AlertPlace | undefined {
  const candidates = question.candidates(segment, isOver);
  const { mask } = candidates;
  if (mask === 'none') return undefined;
  const isWhole = cursor === undefined || comparePlaces(segment.end, cursor) <= 0;
  if (candidates.isExact && isWhole) {
    counter.add(segment, mask);
    return undefined;
  }
  // Those that there was no time for are looked at alert by alert, in as much time again; that of a piece ends with this segment then.
  const isLate = isOver();
  if (isLate) again?.();
  const found = new Uint8Array(segment.rows);
  let reached: AlertPlace | undefined;
  for (let page = segment.pages.length - 1; page >= 0 && reached === undefined; page -= 1) {
    const place = segment.pages[page]?.place ?? segment.from;
    if (cursor !== undefined && comparePlaces(place, cursor) >= 0) continue;
    if (!hasCandidates(segment, page, mask)) continue;
    for (const row of matchingRows(segment, page, candidates, question)) found[row] = 1;
    if (page > 0 && isOver()) reached = place;
  }
  counter.add(segment, found);
  return reached ?? (isLate ? segment.from : undefined);
}

class Counter {
  readonly #counting: Counting;
  readonly #buckets: Float64Array;
  readonly #values = new Map<PlainValue, number>();
  readonly #series: readonly Float64Array[];
  #total = 0;
  #missing = 0;

  constructor(counting: Counting) {
    this.#counting = counting;
    const count = counting.buckets?.count ?? 0;
    this.#buckets = new Float64Array(count);
    this.#series = (counting.series ?? []).map(() => new Float64Array(count));
  }

  counts(): Counts {
    return {
      ...{ total: this.#total, buckets: this.#buckets, values: this.#values },
      ...{ missing: this.#missing, series: this.#series },
    };
  }

  add(segment: AlertSegment, mask: RowMask): void {
    let count = segment.rows;
    if (mask !== 'all') {
      count = 0;
      for (let row = 0; row < segment.rows; row += 1) if (hasRow(mask, row)) count += 1;
    }
    this.#total += count;
    if (count === 0) return;
    const { buckets, field, series } = this.#counting;
    if (buckets !== undefined) this.#addTimes(segment, mask, count, buckets);
    if (field === undefined) return;
    if (series === undefined) this.#addValues(segment, mask, field);
    else this.#addSeries(segment, mask, field, series);
  }

  #addTimes(segment: AlertSegment, mask: RowMask, count: number, { from, interval }: Buckets): void {
    const first = Math.floor((segment.oldest - from) / interval);
    if (first === Math.floor((segment.newest - from) / interval)) {
      if (first in this.#buckets) this.#buckets[first] = (this.#buckets[first] ?? 0) + count;
      return;
    }
    const times = segment.times();
    for (let row = 0; row < segment.rows; row += 1) {
      if (!hasRow(mask, row)) continue;
      const bucket = Math.floor(((times[row] ?? 0) - from) / interval);
      if (bucket >= 0 && bucket < this.#buckets.length) this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
    }
  }

  #addValues(segment: AlertSegment, mask: RowMask, field: AlertField): void {
    const { tuples, codes, index } = columnOf(segment, field);
    const perTuple = new Uint32Array(tuples.length);
    for (let row = 0; row < segment.rows; row += 1) {
      const code = codes[row] ?? 0;
      if (hasRow(mask, row)) perTuple[code] = (perTuple[code] ?? 0) + 1;
    }
    for (const [code, tuple] of tuples.entries()) {
      const count = perTuple[code] ?? 0;
      if (count === 0) continue;
      const values = membersOf(tuple[index] ?? null);
      if (values.length === 0) this.#missing += count;
      for (const value of values) this.#values.set(value, (this.#values.get(value) ?? 0) + count);
    }
  }

  #addSeries(segment: AlertSegment, mask: RowMask, field: AlertField, series: readonly PlainValue[]): void {
    const { buckets = { from: 0, interval: 1, count: 0 } } = this.#counting;
    const { tuples, codes, index } = columnOf(segment, field);
    const places = new Map(series.map((value, place) => [value, place]));
    const seriesOf = tuples.map((tuple) => membersOf(tuple[index] ?? null).map((value) => places.get(value) ?? -1));
    const times = segment.times();
    for (let row = 0; row < segment.rows; row += 1) {
      if (!hasRow(mask, row)) continue;
      const bucket = Math.floor(((times[row] ?? 0) - buckets.from) / buckets.interval);
      for (const place of seriesOf[codes[row] ?? 0] ?? []) {
        const counts = this.#series[place];
        if (counts !== undefined && bucket >= 0 && bucket < counts.length) counts[bucket] = (counts[bucket] ?? 0) + 1;
      }
    }
  }
}

type Buckets = NonNullable<Counting['buckets']>;

function columnOf(segment: AlertSegment, field: AlertField) {
  const { family, index } = placeOfField(field) ?? { family: 0, index: 0 };
  return { ...segment.family(family), index };
}

/** Values of a field; each once. */
function membersOf(value: AlertValue): readonly PlainValue[] {
  if (value === null) return [];
  return typeof value === 'object' ? [...new Set(value)] : [value];
}
