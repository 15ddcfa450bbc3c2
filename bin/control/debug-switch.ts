import { readFileSync } from 'node:fs';
import { writeFileAtomically } from '../../lib/files/write-file-atomically.js';
import type { Home } from '../../lib/home/home.js';

/** File that remembers the switch (daemons-and-config.md 3.1). */
const FILE = ['bin', '.process_list'] as const;

/** `svc-control enable|disable debug`: daemons get `-d` at their next start, or no longer. @throws the file system's error */
export function switchDebug(home: Home, on: boolean): void {
  writeFileAtomically(home.path(...FILE), `DEBUG_CLI="${on ? '-d' : ''}"\n`, { mode: 0o640 });
}

/** Flags that daemons are started with. Only `-d` and `-dd` are taken from the file, whatever else it holds. */
export function readDebugFlags(home: Home): string[] {
  try {
    const match = /^DEBUG_CLI="(-dd?)"$/m.exec(readFileSync(home.path(...FILE), 'utf8'));
    return match?.[1] === undefined ? [] : [match[1]];
  } catch {
    return [];
  }
}
