import type { FoundEntry } from '../../../lib/fim/scan/entry-outcome.js';
import type { ChangeRecorder } from './change-recorder.js';

/** Names of files with several that are kept at most; of more, the next scan sees what changed through another name. */
const MOST_NAMES = 200_000;
/** Milliseconds between two searches for names, which read every row. */
const SEARCH_GAP_MS = 5_000;

/** What it needs. */
export type LinkedNamesParts = {
  readonly recorder: Pick<ChangeRecorder, 'rowsBelow'>;
  /** To be looked at because the file has changed through another name. */
  readonly look: (paths: readonly string[]) => void;
  /** A search that failed. */
  readonly failed: (error: unknown) => void;
  readonly searchGap?: number | undefined;
};

/** A file with several names. */
type LinkedFile = {
  /** Byte strings. */
  readonly names: Set<string>;
  /** Names it had when the rows were searched for them; 0: never. */
  searched: number;
};

/** How a file was found. */
export type FoundFile = Pick<FoundEntry, 'kind' | 'dev' | 'inode' | 'links'>;

/**
 * Files with more than one name. The system tells of a change only where the name lies through which it was made: the
 * other names are looked at for it.
 */
export class LinkedNames {
  readonly #parts: LinkedNamesParts;
  readonly #files = new Map<string, LinkedFile>();
  readonly #keys = new Map<string, string>();
  /** Looked at on our own account: they do not make others be looked at. */
  readonly #prompted = new Set<string>();
  readonly #wanted = new Set<string>();
  #searching: Promise<void> | undefined;
  #endPause: (() => void) | undefined;
  #unkept = 0;
  #closed = false;

  constructor(parts: LinkedNamesParts) {
    this.#parts = parts;
  }

  /** Names that are kept, and those that were not for want of room. */
  get counts(): { readonly linked: number; readonly unlinked: number } {
    return { linked: this.#keys.size, unlinked: this.#unkept };
  }

  /** Whatever these were looked at for is done with, or is not the only reason to look at them any more. */
  told(paths: Iterable<string>): void {
    if (this.#prompted.size > 0) for (const path of paths) this.#prompted.delete(path);
  }

  /** A scan has come across a file. @param path byte string */
  found(path: string, entry: FoundFile): void {
    this.#note(path, entry);
  }

  /** A file was looked at: for what the system told, or on our account. */
  looked(path: string, entry: FoundFile & Pick<FoundEntry, 'unchanged'>): void {
    const prompted = this.#prompted.delete(path);
    const file = this.#note(path, entry);
    if (file === undefined || prompted || entry.unchanged) return;
    this.#prompt([...file.names].filter((name) => name !== path));
    const links = entry.links ?? 1;
    if (file.names.size >= links || file.searched >= links) return;
    file.searched = links;
    this.#wanted.add(keyOf(entry));
    this.#searching ??= this.#search();
  }

  /** There is no such file any more. */
  gone(path: string): void {
    this.#prompted.delete(path);
    const key = this.#keys.get(path);
    if (key === undefined) return;
    this.#keys.delete(path);
    const file = this.#files.get(key);
    file?.names.delete(path);
    if (file?.names.size === 0) this.#files.delete(key);
  }

  /** Ends a search that is under way. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#endPause?.();
    await this.#searching;
  }

  #note(path: string, entry: FoundFile): LinkedFile | undefined {
    const key = entry.kind === 'file' && entry.links !== undefined ? keyOf(entry) : undefined;
    if (this.#keys.get(path) !== key) this.gone(path);
    if (key === undefined) return undefined;
    let file = this.#files.get(key);
    if (file?.names.has(path) === true) return file;
    if (this.#keys.size >= MOST_NAMES) {
      this.#unkept += 1;
      return undefined;
    }
    if (file === undefined) this.#files.set(key, (file = { names: new Set(), searched: 0 }));
    file.names.add(path);
    this.#keys.set(path, key);
    return file;
  }

  #prompt(paths: readonly string[]): void {
    if (paths.length === 0) return;
    for (const path of paths) this.#prompted.add(path);
    this.#parts.look(paths);
  }

  /** A file that got its second name has rows that nobody knew to be of one with several. */
  async #search(): Promise<void> {
    try {
      while (this.#wanted.size > 0 && !this.#closed) {
        const wanted = new Set(this.#wanted);
        this.#wanted.clear();
        for await (const rows of this.#parts.recorder.rowsBelow('/')) {
          if (this.#closed) return;
          this.#prompt(
            rows
              .filter((row) => wanted.has(keyOf(row)) && this.#keys.get(row.path) === undefined)
              .map(({ path }) => path),
          );
        }
        await this.#pause();
      }
    } catch (error) {
      this.#parts.failed(error);
    } finally {
      this.#searching = undefined;
    }
  }

  #pause(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#parts.searchGap ?? SEARCH_GAP_MS);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function keyOf({ dev, inode }: { readonly dev: string; readonly inode: string }): string {
  return `${dev}:${inode}`;
}
