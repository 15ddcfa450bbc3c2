import { strftime } from '../strftime.js';
import { JoinedLines } from './joined-lines.js';
import type { LineTransform } from './single-line.js';

/** `YYMMDD HH:MM:SS`, or an ISO date and time. */
const MYSQL_TIME = /^(?:\d{6} {1,2}\d{1,2}:\d\d:\d\d|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*)/;
/** PostgreSQL is told to write it in brackets for its decoder; its own default has none. */
const ISO_TIME = /^\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d/;

/** Lines that one statement or message in the log of a database may have. */
const MAX_LINES = 1000;
const TIMEOUT_MS = 1000;

/**
 * Makes the transformation of `mysql_log`: `MySQL log: <time> <rest>`; a line without a time gets the one before it
 * (daemons-and-config.md 6.2), and before there was one the present time.
 */
export function mysqlLine(now: () => Date): LineTransform {
  let time: string | undefined;
  return (bytes) => {
    const line = bytes.toString('latin1');
    const own = MYSQL_TIME.exec(line)?.[0];
    time = own ?? time;
    const rest = line.slice(own?.length ?? 0).replace(/^[ \t]+/, '');
    return rest === ''
      ? undefined
      : Buffer.from(`MySQL log: ${time ?? strftime('%y%m%d %H:%M:%S', now())} ${rest}`, 'latin1');
  };
}

/**
 * `postgresql_log` and `mssql_log`: lines without a time belong to the one before, joined by a blank. Such as come when that
 * was sent already are an event of their own.
 */
export function datedLines(): JoinedLines {
  return new JoinedLines({
    place: (line) => (ISO_TIME.test(line.subarray(0, 24).toString('latin1')) ? 'begins' : 'continues'),
    separator: ' ',
    timeoutMs: TIMEOUT_MS,
    maxLines: MAX_LINES,
  });
}
