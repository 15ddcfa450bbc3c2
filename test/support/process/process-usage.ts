import { readFileSync } from 'node:fs';

/** Ticks of /proc a second. */
const TICKS = 100;

/** What a process used so far: CPU seconds, user and system, and MiB resident, now and at most. */
export type ProcessUsage = { readonly cpu: number; readonly rss: number; readonly peak: number };

/** @throws the file system's error when there is no such process */
export function processUsage(pid: number | undefined): ProcessUsage {
  const proc = `/proc/${String(pid)}`;
  const stat = readFileSync(`${proc}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const status = readFileSync(`${proc}/status`, 'latin1');
  const mebibytes = (key: string): number => Number(new RegExp(`${key}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
  return {
    cpu: (Number(fields[11]) + Number(fields[12])) / TICKS,
    rss: mebibytes('VmRSS'),
    peak: mebibytes('VmHWM'),
  };
}
