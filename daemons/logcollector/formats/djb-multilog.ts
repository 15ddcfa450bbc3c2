import { basename, dirname } from 'node:path';
import { strftime } from '../strftime.js';
import type { LineTransform } from './single-line.js';

/**
 * Makes the transformation of `djb-multilog`: files `/x/<program>/current` with lines `@<tai64n> text` become lines with
 * a syslog header (daemons-and-config.md 6.2). Lines without such a time stamp are taken as they are.
 */
export function djbMultilog(path: string, hostname: string, now: () => Date): LineTransform {
  const program = basename(dirname(path));
  return (bytes) => {
    const text = /^@[0-9a-f]{24} /.test(bytes.subarray(0, 26).toString('latin1')) ? bytes.subarray(26) : bytes;
    return Buffer.concat([Buffer.from(`${strftime('%b %e %T', now())} ${hostname} ${program}: `), text]);
  };
}
