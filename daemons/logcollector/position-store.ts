import { mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { Logger } from '../../lib/daemon/logger.js';
import { writeFileAtomically } from '../../lib/daemon/write-file-atomically.js';

/** Positions of 100,000 files take some 40 MB; anything larger is not ours. */
const MAX_BYTES = 256 * 1024 * 1024;

const digits = z.string().regex(/^\d{1,16}$/);

/**
 * Where reading of a file goes on. `path`, `hash` and `offset` are those of daemons-and-config.md 6.4; numbers are texts.
 * The other members are ours; positions that another version wrote do not have them.
 */
const fileSchema = z.object({
  path: z.string(),
  /** SHA-1 of the first `hashed` bytes. */
  hash: z.string(),
  /** Offset behind the last line that is acknowledged. */
  offset: digits,
  /** Bytes hashed; absent = `offset`. */
  hashed: digits.optional(),
  /** Last bytes before the offset, in hex. */
  tail: z.string().optional(),
  /** Location of the block under which it was followed. */
  location: z.string().optional(),
  device: z.string().optional(),
  inode: z.string().optional(),
  /** Tells files apart that had the same inode one after the other. */
  generation: z.string().optional(),
});

const journaldSchema = z.object({
  /** Microseconds since the epoch of the last entry. */
  timestamp: digits,
  cursor: z.string().optional(),
  /** Name of the event stream, and how many of its events are acknowledged at the cursor. */
  stream: z.string().optional(),
  sequence: digits.optional(),
});

const stateSchema = z.object({
  files: z.array(fileSchema).default([]),
  journald: journaldSchema.optional(),
  /** Locations that were followed: a file that appears under one of them is new, not only new to us. */
  locations: z.array(z.string()).optional(),
});

export type SavedFile = z.output<typeof fileSchema>;
export type SavedJournal = z.output<typeof journaldSchema>;
export type SavedState = z.output<typeof stateSchema>;

/** `queue/logcollector/file_status.json`: how far every source is read. */
export class PositionStore {
  readonly #path: string;
  readonly #logger: Logger;
  #written = '';
  #failing = false;

  constructor(path: string, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
  }

  /**
   * The state as it was saved; an empty one when there is none. A file that cannot be read as such is put aside under
   * the name `<file>.bad`, with an error that says so, since everything would be read again otherwise without a word.
   */
  load(): SavedState {
    let text: string;
    try {
      if (statSync(this.#path).size > MAX_BYTES) {
        throw new Error(`larger than ${String(MAX_BYTES)} bytes`);
      }
      text = readFileSync(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        return { files: [] };
      }
      return this.#putAside(error);
    }
    try {
      return stateSchema.parse(JSON.parse(text));
    } catch (error) {
      return this.#putAside(error);
    }
  }

  /** Writes the state when it changed. A failure is logged once, until a write succeeds again. */
  save(state: SavedState): boolean {
    const text = `${JSON.stringify(state)}\n`;
    if (text === this.#written) {
      return true;
    }
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o750 });
      writeFileAtomically(this.#path, text, { mode: 0o640 });
    } catch (error) {
      if (!this.#failing) {
        this.#logger.error(`Positions cannot be written to '${this.#path}': ${reasonOf(error)}`);
      }
      this.#failing = true;
      return false;
    }
    this.#failing = false;
    this.#written = text;
    return true;
  }

  #putAside(error: unknown): SavedState {
    const bad = `${this.#path}.bad`;
    this.#logger.error(`Positions in '${this.#path}' cannot be used, kept as '${bad}': ${reasonOf(error)}`);
    try {
      renameSync(this.#path, bad);
    } catch {
      // It stays where it is, and is replaced by the next write.
    }
    return { files: [] };
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) {
    const issue = error.issues[0];
    return issue === undefined ? 'not the expected form' : `${issue.path.join('.')}: ${issue.message}`;
  }
  return error instanceof Error ? error.message : String(error);
}
