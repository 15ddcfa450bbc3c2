import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ifPresentSync } from '../../../lib/files/if-present.js';

/**
 * Copies the files of a directory that others may be writing, truncating and removing. `cpSync` does not end when a file becomes
 * shorter while it is copied.
 */
export function copyDirectory(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    const bytes = ifPresentSync(() => readFileSync(join(from, name)));
    if (bytes !== undefined) writeFileSync(join(to, name), bytes);
  }
}
