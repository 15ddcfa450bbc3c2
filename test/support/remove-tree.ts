import { rmSync } from 'node:fs';

/** A process that was killed a moment ago may still write while its files are removed: half a second is enough for its end. */
const RETRIES = 5;

/** Removes a directory and all below it, or nothing where it is not there. */
export function removeTree(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: RETRIES });
}
