const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Spans of time that people count in, milliseconds. */
const ROUND = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30, 90, 180, 365].map((count) => count * DAY),
];

/** The shortest round span that divides a time into so many parts or fewer. @param span milliseconds */
export function roundInterval(span: number, parts: number): number {
  const least = span / parts;
  return ROUND.find((each) => each >= least) ?? Math.ceil(least / DAY) * DAY;
}
