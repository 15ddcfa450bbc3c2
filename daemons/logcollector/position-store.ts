import { readFileSync, renameSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import { ifPresentSync } from '../../lib/files/if-present.js';
import { writeFileDurably } from '../../lib/files/write-file-durably.js';
import type { Logger } from '../../lib/log/logger.js';

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
  /** Offset behind the last event that is acknowledged: before `offset` when the lines between are no events. */
  acknowledged: digits.optional(),
  /** Bytes hashed; absent = `offset`. */
  hashed: digits.optional(),
  /** Last bytes before the offset, in hex; fewer when no more were at hand. */
  tail: z.string().optional(),
  /** Earlier positions, oldest first. */
  anchors: z.array(z.object({ offset: digits, tail: z.string() })).optional(),
  /** The run of the host in which it was saved. */
  boot: z.string().optional(),
  /** Location of the block under which it was followed. */
  location: z.string().optional(),
  device: z.string().optional(),
  inode: z.string().optional(),
  /** Tells files apart that had the same inode one after the other. */
  generation: z.string().optional(),
  /** Name of its event stream, where that is another file's: of a copy of one that was cut. */
  stream: z.string().optional(),
  /** When it was seen last to have its path, milliseconds since the epoch. */
  seen: digits.optional(),
  /** When it was made, nanoseconds since the epoch. */
  born: z
    .string()
    .regex(/^\d{1,20}$/)
    .optional(),
  /** Whether its name was seen to be another file's, or nobody's, and files that had it since were looked for. */
  rotated: z.boolean().optional(),
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
   * the name `<file>.bad`, with an error that says so, and the one before it is used: the sink knows what came since.
   */
  load(): SavedState {
    try {
      return readState(this.#path) ?? { files: [] };
    } catch (error) {
      this.#putAside(error);
    }
    try {
      return readState(this.#previous) ?? { files: [] };
    } catch (error) {
      this.#logger.error(`Positions in '${this.#previous}' cannot be used either: ${reasonOf(error)}`);
      return { files: [] };
    }
  }

  /**
   * Writes the state when it changed; resolves when it is on the disk. One call at a time. A failure is logged once,
   * until a write succeeds again.
   * @returns whether the state is written down
   */
  async save(state: SavedState): Promise<boolean> {
    const text = `${JSON.stringify(state)}\n`;
    if (text === this.#written) {
      return true;
    }
    try {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o750 });
      await writeFileDurably(this.#path, text, { mode: 0o640, previous: this.#previous });
    } catch (error) {
      if (!this.#failing) {
        const consequence = 'Files that are new are not read until they can be';
        this.#logger.error(`Positions cannot be written to '${this.#path}': ${reasonOf(error)}. ${consequence}`);
      }
      this.#failing = true;
      return false;
    }
    if (this.#failing) {
      this.#logger.info(`Positions are written to '${this.#path}' again.`);
    }
    this.#failing = false;
    this.#written = text;
    return true;
  }

  get #previous(): string {
    return `${this.#path}.old`;
  }

  #putAside(error: unknown): void {
    const bad = `${this.#path}.bad`;
    this.#logger.error(
      `Positions in '${this.#path}' cannot be used, kept as '${bad}', those saved before are taken: ${reasonOf(error)}`,
    );
    try {
      renameSync(this.#path, bad);
    } catch {
      // It stays where it is, and is replaced by the next write.
    }
  }
}

/** Undefined when the file is not there. @throws Error when it is nothing that was saved */
function readState(path: string): SavedState | undefined {
  return ifPresentSync(() => {
    if (statSync(path).size > MAX_BYTES) {
      throw new Error(`larger than ${String(MAX_BYTES)} bytes`);
    }
    return stateSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  });
}

function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) {
    const issue = error.issues[0];
    return issue === undefined ? 'not the expected form' : `${issue.path.join('.')}: ${issue.message}`;
  }
  return error instanceof Error ? error.message : String(error);
}
