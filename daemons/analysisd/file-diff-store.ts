import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DiffSnapshot, DiffStore } from '../../lib/engine/correlate/diff-store.js';
import { syncDirectory } from '../../lib/files/sync-directory.js';
import { writeFileAtomically } from '../../lib/files/write-file-atomically.js';

/** Host names come from logs: only these characters are used in a path as they are. */
const SAFE_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
/** Longest encoded directory name; a file system takes 255 bytes. Longer ones end in a digest of the whole name. */
const MAX_NAME_BYTES = 240;
const DIGEST_CHARACTERS = 32;
/** Logs and bytes changed since the last checkpoint above which the next is due. */
const DUE_LOGS = 4096;
const DUE_BYTES = 8 * 1024 * 1024;
/** Bytes in memory above which events wait: whoever names a new host in each log must not fill the memory. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Files that are synced at a time; the file system makes one commit of them. */
const CONCURRENT_WRITES = 16;
/** What an entry takes in memory beside its text, about. */
const ENTRY_BYTES = 200;
const DIRECTORY_MODE = 0o750;
const FILE_MODE = 0o640;
const FILE_NAME = 'last-entry';

/** Logs by host directory and rule id, `<host>/<rule id>`. */
type Logs = Map<string, string>;

/**
 * The logs of `check_diff` in `queue/diff/<host>/<rule id>/last-entry` (rules-and-alerts.md 6.3).
 *
 * For replay to see them as they were, the disk stays behind: a checkpoint holds what changed (`pending`), and what it
 * holds is written when the checkpoint after it is on the disk (`checkpointed`), so that recovery from either of the two is
 * exact. It begins with `restore`.
 */
export class FileDiffStore implements DiffStore {
  readonly #directory: string;
  /** In a checkpoint that is on the disk; to be written with the next one. */
  readonly #held: Logs = new Map();
  /** Given to a checkpoint that may be on the disk or not. */
  readonly #given: Logs = new Map();
  /** Changed since. */
  readonly #fresh: Logs = new Map();
  #freshBytes = 0;
  #bytes = 0;

  /** @param directory `{home}/queue/diff` */
  constructor(directory: string) {
    this.#directory = directory;
  }

  last(hostname: string, ruleId: number): string | undefined {
    const key = keyOf(hostname, ruleId);
    const pending = this.#fresh.get(key) ?? this.#given.get(key) ?? this.#held.get(key);
    if (pending !== undefined) return pending;
    try {
      const content = readFileSync(this.#path(key), 'latin1');
      return content.endsWith('\0') ? content.slice(0, -1) : content;
    } catch {
      return undefined;
    }
  }

  store(hostname: string, ruleId: number, log: string): void {
    const key = keyOf(hostname, ruleId);
    const before = this.#fresh.get(key);
    this.#fresh.set(key, log);
    const grown = sizeOf(key, log) - (before === undefined ? 0 : sizeOf(key, before));
    this.#freshBytes += grown;
    this.#bytes += grown;
  }

  /** Whether so much changed since the last checkpoint that one should be made now. */
  get isCheckpointDue(): boolean {
    return this.#fresh.size >= DUE_LOGS || this.#freshBytes >= DUE_BYTES;
  }

  /** Whether no event should be analysed before a checkpoint is done and `checkpointed` has written what it held. */
  get isFull(): boolean {
    return this.#bytes >= MAX_BYTES;
  }

  /** Everything that is not on the disk, for a checkpoint of this moment. Plain data. */
  pending(): DiffSnapshot {
    for (const [key, log] of this.#fresh) this.#given.set(key, log);
    this.#fresh.clear();
    this.#freshBytes = 0;
    const all = new Map([...this.#held, ...this.#given]);
    this.#count();
    return [...all];
  }

  /**
   * The checkpoint with the last `pending` is on the disk: writes and syncs what the one before it held. Events may go on
   * meanwhile; one call at a time.
   * @throws the file system's error; what was not written stays pending, in the next checkpoint too
   */
  async checkpointed(): Promise<void> {
    const durable = new Map(this.#given);
    try {
      // A log that changed until this checkpoint need not be written as it was before.
      await this.#write([...this.#held].filter(([key]) => !durable.has(key)));
    } finally {
      for (const [key, log] of durable) {
        this.#held.set(key, log);
        // A checkpoint begun meanwhile may have been given a newer one.
        if (this.#given.get(key) === log) this.#given.delete(key);
      }
      this.#count();
    }
  }

  /** Begins where a checkpoint was made, with its `pending`. */
  restore(snapshot: DiffSnapshot): void {
    for (const logs of [this.#fresh, this.#given, this.#held]) logs.clear();
    for (const [key, log] of snapshot) this.#held.set(key, log);
    this.#freshBytes = 0;
    this.#count();
  }

  /** Writes everything at once, for a run without checkpoints. @throws the file system's error; what was not written stays */
  flush(): void {
    for (const logs of [this.#held, this.#given, this.#fresh]) {
      for (const [key, log] of logs) {
        const path = this.#path(key);
        mkdirSync(dirname(path), { recursive: true, mode: DIRECTORY_MODE });
        writeFileAtomically(path, contentOf(log), { mode: FILE_MODE });
        logs.delete(key);
      }
    }
    this.#freshBytes = 0;
    this.#bytes = 0;
  }

  async #write(logs: readonly (readonly [string, string])[]): Promise<void> {
    const directories = new Set<string>();
    const queue = [...logs];
    const written: (readonly [string, string])[] = [];
    const work = async (): Promise<void> => {
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
        const directory = dirname(this.#path(next[0]));
        await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
        await replaceFile(this.#path(next[0]), contentOf(next[1]));
        for (const changed of [directory, dirname(directory), this.#directory]) directories.add(changed);
        written.push(next);
      }
    };
    // All of them end before the next call, also when one fails.
    const results = await Promise.allSettled(Array.from({ length: CONCURRENT_WRITES }, work));
    for (const directory of directories) await syncDirectory(directory);
    // One that can never be written must not keep all others in memory.
    for (const [key, log] of written) if (this.#held.get(key) === log) this.#held.delete(key);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  #count(): void {
    this.#bytes = 0;
    for (const logs of [this.#held, this.#given, this.#fresh]) {
      for (const [key, log] of logs) this.#bytes += sizeOf(key, log);
    }
  }

  #path(key: string): string {
    return join(this.#directory, key, FILE_NAME);
  }
}

function keyOf(hostname: string, ruleId: number): string {
  return `${directoryName(hostname)}/${String(ruleId)}`;
}

function sizeOf(key: string, log: string): number {
  return ENTRY_BYTES + key.length + log.length;
}

function contentOf(log: string): Buffer {
  return Buffer.from(`${log}\0`, 'latin1');
}

/** Only one process writes here and one call at a time, so the temporary file has a name that the next try takes over. */
async function replaceFile(path: string, content: Buffer): Promise<void> {
  const temporary = `${path}.tmp`;
  const file = await open(temporary, 'w', FILE_MODE);
  try {
    await file.writeFile(content);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
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
