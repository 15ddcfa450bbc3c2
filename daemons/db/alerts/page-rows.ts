import type { AlertJson } from './alert-fields.js';
import type { AlertPlace } from './alert-place.js';
import type { AlertQuestion, Candidates } from './alert-question.js';
import type { AlertSegment } from './alert-segment.js';
import { hasRow, type RowMask } from './row-mask.js';

/** An alert that was found. */
export type FoundRow = {
  readonly row: number;
  readonly line: string;
  /** Where its line begins, and ends with its line end. */
  readonly from: AlertPlace;
  readonly end: AlertPlace;
};

/** Whether a page has candidates. */
export function hasCandidates(segment: AlertSegment, page: number, mask: RowMask): boolean {
  const { firstRow, rows } = segment.pages[page] ?? { firstRow: 0, rows: 0 };
  if (mask === 'all' || mask === 'none') return mask === 'all' && rows > 0;
  return mask.subarray(firstRow, firstRow + rows).includes(1);
}

/** Candidates of a page that are meant by a question, in their order. @throws SegmentDamage */
export function matchingRows(
  segment: AlertSegment,
  page: number,
  { mask, isExact }: Candidates,
  question: AlertQuestion,
): number[] {
  const { firstRow, rows } = segment.pages[page] ?? { firstRow: 0, rows: 0 };
  const candidates: number[] = [];
  for (let row = firstRow; row < firstRow + rows; row += 1) if (hasRow(mask, row)) candidates.push(row);
  if (isExact || candidates.length === 0) return candidates;
  const text = segment.page(page);
  const likely = question.likelyLines(text);
  const times = segment.times();
  return candidates.filter((row) => {
    if (likely !== undefined && likely[row - firstRow] !== 1) return false;
    return question.matches(JSON.parse(text.line(row - firstRow)) as AlertJson, times[row] ?? 0);
  });
}

/** Rows of a page with their lines and places. @throws SegmentDamage */
export function foundRows(segment: AlertSegment, page: number, rows: readonly number[]): FoundRow[] {
  const info = segment.pages[page];
  if (info === undefined || rows.length === 0) return [];
  const text = segment.page(page);
  const { file, offset } = info.place;
  return rows.map((row) => {
    const index = row - info.firstRow;
    return {
      ...{ row, line: text.line(index) },
      from: { file, offset: offset + text.start(index) },
      end: { file, offset: offset + text.start(index + 1) },
    };
  });
}
