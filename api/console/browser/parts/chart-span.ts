/**
 * What the axis of a chart of buckets spans: the last bucket is as long as the others, and the newest alerts are in it.
 * @param times where each bucket begins, seconds since the epoch, in order
 * @returns where the first begins and the last ends; an hour where there is none
 */
export function bucketSpan(times: readonly number[]): [from: number, to: number] {
  const [first, second] = times;
  const last = times.at(-1);
  if (first === undefined || last === undefined) return [0, HOUR_S];
  return [first, last + (second === undefined ? HOUR_S : second - first)];
}

const HOUR_S = 3600;
