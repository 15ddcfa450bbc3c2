import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeFileAtomically } from '../../lib/daemon/write-file-atomically.js';
import type { DiffStore } from '../../lib/engine/diff-store.js';

/** Host names come from logs: only these characters are used in a path as they are. */
const SAFE_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
/** Longest encoded directory name; a file system takes 255 bytes. */
const MAX_NAME_BYTES = 240;
const FILE_MODE = 0o640;

/** The logs of `check_diff` in `queue/diff/<host>/<rule id>/last-entry` (rules-and-alerts.md 6.3). */
export class FileDiffStore implements DiffStore {
  readonly #directory: string;

  /** @param directory `{home}/queue/diff` */
  constructor(directory: string) {
    this.#directory = directory;
  }

  last(hostname: string, ruleId: number): string | undefined {
    try {
      const content = readFileSync(this.#path(hostname, ruleId), 'latin1');
      return content.endsWith('\0') ? content.slice(0, -1) : content;
    } catch {
      return undefined;
    }
  }

  /** @throws Error of the file system */
  store(hostname: string, ruleId: number, log: string): void {
    const path = this.#path(hostname, ruleId);
    mkdirSync(dirname(path), { recursive: true, mode: 0o750 });
    writeFileAtomically(path, Buffer.from(`${log}\0`, 'latin1'), { mode: FILE_MODE });
  }

  #path(hostname: string, ruleId: number): string {
    return join(this.#directory, directoryName(hostname), String(ruleId), 'last-entry');
  }
}

/** A name that stays inside its directory whatever the host calls itself: other bytes are written as `%XX`. */
export function directoryName(hostname: string): string {
  if (SAFE_NAME.test(hostname)) return hostname;
  let encoded = '';
  for (let index = 0; index < hostname.length && encoded.length < MAX_NAME_BYTES - 3; index += 1) {
    const char = hostname[index] ?? '';
    const safe = /[A-Za-z0-9_-]/.test(char);
    encoded += safe ? char : `%${hostname.charCodeAt(index).toString(16).padStart(2, '0')}`;
  }
  return encoded === '' ? '%' : encoded;
}
