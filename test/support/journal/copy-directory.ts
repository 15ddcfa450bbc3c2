import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Copies the files of a directory that others may be writing and truncating. `cpSync` does not end when a file becomes shorter
 * while it is copied.
 */
export function copyDirectory(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) writeFileSync(join(to, name), readFileSync(join(from, name)));
}
