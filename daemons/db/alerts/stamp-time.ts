/** `2025-03-04T10:15:30.123+0000` */
const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4}$/;

/** Up to its seconds, and what stands for the zone. */
const SECONDS = 19;
const FRACTION = 23;

/** Alerts that are written one behind the other are of the same second. */
let last = '';
let lastTime = Number.NaN;

/** Epoch milliseconds of the timestamp of an alert, as `AlertView.time` has it. */
export function timeOfStamp(stamp: string): number {
  if (!STAMP.test(stamp)) return parsed(stamp);
  const second = stamp.slice(0, SECONDS) + stamp.slice(FRACTION);
  if (second !== last) {
    lastTime = parsed(second);
    last = second;
  }
  return lastTime + Number(stamp.slice(SECONDS + 1, FRACTION));
}

function parsed(stamp: string): number {
  return Date.parse(stamp.replace(/([+-]\d{2})(\d{2})$/, '$1:$2'));
}
