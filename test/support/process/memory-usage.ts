import { readFileSync } from 'node:fs';

/** Memory of a process in MiB (`smaps_rollup` of proc(5)). */
export type MemoryUsage = {
  /** What is in memory of it, what others have too included. */
  readonly resident: number;
  /** The same, what is shared divided by the number of those who have it. */
  readonly proportional: number;
  /** What nobody else has: what would be free without it. */
  readonly own: number;
};

/** @throws the file system's error when there is no such process */
export function memoryUsage(pid: number): MemoryUsage {
  const text = readFileSync(`/proc/${String(pid)}/smaps_rollup`, 'latin1');
  const mebibytes = (key: string): number => Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024;
  return {
    resident: mebibytes('Rss'),
    proportional: mebibytes('Pss'),
    own: mebibytes('Private_Clean') + mebibytes('Private_Dirty'),
  };
}
