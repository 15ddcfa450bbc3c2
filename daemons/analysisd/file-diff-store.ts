import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeFileAtomically } from '../../lib/daemon/write-file-atomically.js';
import type { DiffStore } from '../../lib/engine/diff-store.js';

/** Host names come from logs: only these characters are used in a path as they are. */
const SAFE_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
/** Longest encoded directory name; a file system takes 255 bytes. Longer ones end in a digest of the whole name. */
const MAX_NAME_BYTES = 240;
const DIGEST_CHARACTERS = 32;
/** Logs that wait for `flush`, at most; then they are written at once. A batch of events rarely has as many. */
const MAX_PENDING = 4096;
const FILE_MODE = 0o640;

/**
 * The logs of `check_diff` in `queue/diff/<host>/<rule id>/last-entry` (rules-and-alerts.md 6.3). They are collected and
 * written by `flush`, after the outputs they belong to: a full disk then holds the events back and loses no alert.
 */
export class FileDiffStore implements DiffStore {
  readonly #directory: string;
  readonly #pending = new Map<string, string>();

  /** @param directory `{home}/queue/diff` */
  constructor(directory: string) {
    this.#directory = directory;
  }

  last(hostname: string, ruleId: number): string | undefined {
    const path = this.#path(hostname, ruleId);
    const pending = this.#pending.get(path);
    if (pending !== undefined) return pending;
    try {
      const content = readFileSync(path, 'latin1');
      return content.endsWith('\0') ? content.slice(0, -1) : content;
    } catch {
      return undefined;
    }
  }

  store(hostname: string, ruleId: number, log: string): void {
    this.#pending.set(this.#path(hostname, ruleId), log);
    if (this.#pending.size <= MAX_PENDING) return;
    try {
      this.flush();
    } catch (error) {
      // The flush after the batch reports it and waits; only a store that nobody flushes must not grow for ever.
      if (this.#pending.size > 4 * MAX_PENDING) throw error;
    }
  }

  /** @throws the file system's error; what was not written stays for the next flush */
  flush(): void {
    for (const [path, log] of this.#pending) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o750 });
      writeFileAtomically(path, Buffer.from(`${log}\0`, 'latin1'), { mode: FILE_MODE });
      this.#pending.delete(path);
    }
  }

  #path(hostname: string, ruleId: number): string {
    return join(this.#directory, directoryName(hostname), String(ruleId), 'last-entry');
  }
}

/** A name that stays inside its directory whatever the host calls itself: other bytes are written as `%XX`. */
export function directoryName(hostname: string): string {
  if (SAFE_NAME.test(hostname)) return hostname;
  let encoded = '';
  for (const char of hostname) {
    const safe = /[A-Za-z0-9_]/.test(char);
    encoded += safe ? char : `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
    if (encoded.length > MAX_NAME_BYTES) {
      const digest = createHash('sha256').update(hostname, 'latin1').digest('hex').slice(0, DIGEST_CHARACTERS);
      return `${encoded.slice(0, MAX_NAME_BYTES - DIGEST_CHARACTERS - 1)}.${digest}`;
    }
  }
  return encoded === '' ? '%' : encoded;
}
