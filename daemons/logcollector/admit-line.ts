import type { Logger } from '../../lib/log/logger.js';
import type { LogLine } from './line-splitter.js';

/**
 * Whether a line may be an event: one with zero bytes is none. Of one that was cut it is said (daemons-and-config.md 6.2).
 * @param sampleBytes bytes of a long line that are shown
 */
export function admitLine({ bytes, length }: LogLine, path: string, logger: Logger, sampleBytes: number): boolean {
  if (length > bytes.length) {
    const sample = bytes.subarray(0, sampleBytes).toString('utf8');
    logger.warn(`Large message size from file '${path}' (length = ${String(length)}): '${sample}'...`);
  }
  if (bytes.includes(0)) {
    logger.debug(`Line of '${path}' with zero bytes is ignored`);
    return false;
  }
  return true;
}
