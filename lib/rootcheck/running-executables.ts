import { readdirSync, readlinkSync } from 'node:fs';

/** Programs of the processes there are: byte strings. */
export function runningExecutables(): string[] {
  const paths = new Set<string>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const path = readlinkSync(`/proc/${name}/exe`, { encoding: 'buffer' }).toString('latin1');
      paths.add(path.replace(/ \(deleted\)$/, ''));
    } catch {
      // It ended, is part of the kernel, or is not this user's.
    }
  }
  return [...paths];
}
