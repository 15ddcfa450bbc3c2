import { rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Home } from '../../../lib/home/home.js';
import {
  compareDays,
  compressedPath,
  type DatedName,
  datedPath,
  filesAfter,
  RESPONSE_FILES,
} from '../../../lib/output/dated-files.js';
import { dayOf } from '../../../lib/time/local-day.js';

/** Days that decisions are kept for a svc-execd that is away. */
const KEPT_DAYS = 7;
const BEFORE_ALL = { year: 0, month: 0, day: 0 };

/** Where the stream of responses lies. */
export function responseFiles(home: Home): DatedName {
  return { directory: home.path('queue', 'responses'), ...RESPONSE_FILES };
}

/** Removes the files of days that are longer ago, with directories that are empty then. @throws Error of the file system */
export function removeOldResponses(home: Home, now: Date): void {
  const oldest = dayOf(new Date(now.getFullYear(), now.getMonth(), now.getDate() - KEPT_DAYS, 12));
  const files = responseFiles(home);
  for (const { day, part, isCompressed } of filesAfter(files, BEFORE_ALL)) {
    if (compareDays(day, oldest) >= 0) continue;
    const path = datedPath(files, day, part);
    rmSync(isCompressed ? compressedPath(path) : path, { force: true });
    const month = dirname(path);
    if (removeIfEmpty(month)) removeIfEmpty(dirname(month));
  }
}

function removeIfEmpty(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTEMPTY') return false;
    throw error;
  }
}
