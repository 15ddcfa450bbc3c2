import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import type { AlertContent } from './alert-content.js';
import { type AlertValue, FAMILIES } from './alert-fields.js';
import type { AlertPlace } from './alert-place.js';
import { type AlertSegment, type FamilyColumn, MAX_SEGMENT_ROWS, type SegmentPage } from './alert-segment.js';
import { packing, unpack } from './page-packing.js';
import { PageText } from './page-text.js';
import { WordPages } from './word-pages.js';

const pack = promisify(brotliCompress);

/** Bytes of the alerts of a page, about: what is unpacked for one of them, in less than a millisecond. */
const PAGE_BYTES = 128 * 1024;
/** What most pages have room in: the last alert may go beyond. */
const ROOM_BYTES = 144 * 1024;
/** A character of a text as UTF-8 at most. */
const MAX_CHARACTER_BYTES = 3;
const NEWLINE = 0x0a;
/** What a segment may have in memory beside its columns: packed pages, and words of them. Alerts of made-up words would fill it. */
const MAX_PACKED_BYTES = 24 * 1024 * 1024;
const MAX_WORDS = 3_000_000;
/** The same for values of fields that are kept apart, each once: made-up ones are long and differ in every alert. */
const MAX_TUPLE_BYTES = 16 * 1024 * 1024;
/** Of a value beside its text. */
const TUPLE_BYTES = 128;
/** Pages that wait to be packed: reading alerts is faster where they hardly pack. */
const MAX_PACKING = 3;
/** Times beyond what a number of milliseconds can be are none. */
const LAST_TIME = 8.64e15;

/** A page that is full: packed, or about to be. */
export type FullPage = SegmentPage & { readonly bytes?: Buffer; readonly packed?: Buffer };

type Coding = { readonly codes: Uint16Array; readonly tuples: AlertValue[][]; readonly known: Map<string, number> };

/** The segment that grows: alerts are searched here from the moment they were read. */
export class OpenSegment implements AlertSegment {
  readonly from: AlertPlace;
  #end: AlertPlace;
  #rows = 0;
  #oldest = Infinity;
  #newest = -Infinity;
  readonly #times = new Float64Array(MAX_SEGMENT_ROWS);
  readonly #families: readonly Coding[] = FAMILIES.map(() => ({
    codes: new Uint16Array(MAX_SEGMENT_ROWS),
    tuples: [],
    known: new Map(),
  }));
  readonly #words = new WordPages();
  readonly #full: FullPage[] = [];
  #packedBytes = 0;
  #tupleBytes = 0;
  readonly #packing = new Set<Promise<void>>();
  /** The page that is written: its first alert, its lines, and where the next one has to begin to belong to it. */
  #page:
    | { readonly firstRow: number; readonly place: AlertPlace; rows: number; bytes: Buffer; used: number }
    | undefined;

  #growing: PageText | undefined;

  constructor(from: AlertPlace) {
    this.from = from;
    this.#end = from;
  }

  get end(): AlertPlace {
    return this.#end;
  }

  get rows(): number {
    return this.#rows;
  }

  get oldest(): number {
    return this.#oldest;
  }

  get newest(): number {
    return this.#newest;
  }

  get pages(): readonly SegmentPage[] {
    const page = this.#page;
    if (page === undefined) return this.#full;
    return [...this.#full, { firstRow: page.firstRow, rows: page.rows, place: page.place }];
  }

  /** Whether it is to be sealed before more is added. */
  get isFull(): boolean {
    const isLarge = this.#packedBytes >= MAX_PACKED_BYTES || this.#tupleBytes >= MAX_TUPLE_BYTES;
    return isLarge || this.#rows >= MAX_SEGMENT_ROWS || this.#words.size >= MAX_WORDS;
  }

  /** What was read up to there belongs to it. */
  readTo(end: AlertPlace): void {
    this.#end = end;
  }

  /**
   * @param alert one without a time counts as of that of the alert before
   * @param line of alerts.json, without its end
   * @param place where it begins
   */
  add(alert: AlertContent, line: string, place: AlertPlace): void {
    this.#begin(place);
    const row = this.#rows;
    this.#rows += 1;
    this.#addTime(row, alert.time);
    for (let index = 0; index < this.#families.length; index += 1) this.#addValues(index, row, alert);
    alert.visitWords(this.#words.add);
    const page = this.#page;
    if (page === undefined) return;
    const most = page.used + line.length * MAX_CHARACTER_BYTES + 1;
    if (most > page.bytes.length) page.bytes = Buffer.concat([page.bytes.subarray(0, page.used)], most);
    page.used += page.bytes.write(line, page.used);
    page.bytes[page.used] = NEWLINE;
    page.used += 1;
    page.rows += 1;
    if (page.used >= PAGE_BYTES) this.#endPage();
  }

  /** Waits until so many pages are packed that more can be added. */
  async room(): Promise<void> {
    while (this.#packing.size > MAX_PACKING) await Promise.race(this.#packing);
  }

  times(): Float64Array {
    return this.#times;
  }

  family(index: number): FamilyColumn {
    return this.#families[index] ?? { codes: new Uint16Array(MAX_SEGMENT_ROWS), tuples: [] };
  }

  visitPages(hash: number, mark: (page: number) => void): void {
    this.#words.visit(hash, mark);
  }

  page(index: number): PageText {
    const full = this.#full[index];
    if (full?.packed !== undefined) return new PageText(unpack(full.packed));
    if (full?.bytes !== undefined) return new PageText(full.bytes);
    // Made anew when alerts came since it was asked for.
    const { rows, bytes, used } = this.#page ?? { rows: 0, bytes: Buffer.alloc(0), used: 1 };
    if (this.#growing?.rows !== rows) this.#growing = new PageText(Buffer.from(bytes.subarray(0, used - 1)));
    return this.#growing;
  }

  /** Ends the last page and packs all: nothing can be added any more. */
  async seal(): Promise<{ readonly pages: readonly FullPage[]; readonly words: WordPages }> {
    this.#endPage();
    while (this.#packing.size > 0) await Promise.all(this.#packing);
    return { pages: this.#full, words: this.#words };
  }

  #addTime(row: number, time: number): void {
    const before = row === 0 ? 0 : (this.#times[row - 1] ?? 0);
    const usable = time >= 0 && time <= LAST_TIME ? time : before;
    this.#times[row] = usable;
    this.#oldest = Math.min(this.#oldest, usable);
    this.#newest = Math.max(this.#newest, usable);
  }

  #addValues(index: number, row: number, alert: AlertContent): void {
    const family = this.#families[index];
    if (family === undefined) return;
    const key = alert.key(index);
    let code = family.known.get(key);
    if (code === undefined) {
      code = family.tuples.length;
      family.tuples.push(alert.values(index));
      // A part of the line would keep all of it.
      family.known.set(Buffer.from(key).toString(), code);
      this.#tupleBytes += TUPLE_BYTES + 2 * key.length;
    }
    family.codes[row] = code;
  }

  /** A page has what lies one behind the other, so that places follow from the lengths of lines. */
  #begin(place: AlertPlace): void {
    const page = this.#page;
    if (page !== undefined) {
      if (page.place.file === place.file && page.place.offset + page.used === place.offset) return;
      this.#endPage();
    }
    this.#page = { firstRow: this.#rows, place, rows: 0, bytes: Buffer.allocUnsafe(ROOM_BYTES), used: 0 };
  }

  #endPage(): void {
    const page = this.#page;
    if (page === undefined || page.rows === 0) return;
    this.#page = undefined;
    this.#growing = undefined;
    this.#words.nextPage();
    const { firstRow, place, rows } = page;
    const bytes = page.bytes.subarray(0, page.used - 1);
    const full: FullPage = { firstRow, rows, place, bytes };
    const index = this.#full.push(full) - 1;
    const work = pack(bytes, packing(bytes.length)).then((packed) => {
      this.#full[index] = { firstRow, rows, place, packed };
      this.#packedBytes += packed.length;
      this.#packing.delete(work);
    });
    this.#packing.add(work);
  }
}
