import type { StoredAlert } from '../../../lib/bus/contracts/db-alerts.js';
import { type AlertPlace, comparePlaces, placeText } from './alert-place.js';
import type { AlertSegment } from './alert-segment.js';
import { foundRows } from './page-rows.js';

/** The alert that begins at a place; undefined when none does. @throws SegmentDamage */
export function getAlert(segments: readonly AlertSegment[], place: AlertPlace): StoredAlert | undefined {
  const segment = segments.find(({ from, end }) => comparePlaces(from, place) <= 0 && comparePlaces(place, end) < 0);
  if (segment === undefined) return undefined;
  const page = segment.pages.findLastIndex((each) => comparePlaces(each.place, place) <= 0);
  const info = segment.pages[page];
  if (info === undefined) return undefined;
  const rows = Array.from({ length: info.rows }, (_, index) => info.firstRow + index);
  const found = foundRows(segment, page, rows).find(({ from }) => comparePlaces(from, place) === 0);
  if (found === undefined) return undefined;
  return { id: placeText(place), time: segment.times()[found.row] ?? 0, text: found.line };
}
