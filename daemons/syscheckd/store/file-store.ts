import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import * as z from 'zod';
import { ALL_HASHES } from '../../../lib/fim/checks.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { Change } from '../../../lib/store/commit-queue.js';
import { LmdbStore } from '../../../lib/store/lmdb-store.js';
import type { StoreError } from '../../../lib/store/store-error.js';
import type { StoreTable } from '../../../lib/store/store-table.js';
import type { FileRow } from './file-row.js';
import { Outbox, type OutEvent } from './outbox.js';
import { isLongPath, RowTable } from './row-table.js';
import { StateWriter } from './state-writer.js';

const ROWS = 'rows';
const OUTBOX = 'outbox';
const NAMES = 'names';
const NUMBERS = 'numbers';
const TALLY = 'tally';
const READ_BY = 'read_by';

/** Some million files. */
const MAP_BYTES = 2 ** 30;

/**
 * Rows of paths that are longer than a key. They stand behind the first 1,900 bytes in no order and are brought into one
 * in memory: without a limit whoever may write to a deep directory could fill it.
 */
export const MOST_LONG_PATHS = 10_000;

const TALLIES = z.strictObject({ next: z.int().min(0), rows: z.int().min(0), long: z.int().min(0) });
type FileTallies = z.infer<typeof TALLIES>;

/** What changes together: a path's new row, or undefined when it goes. */
export type RowChange = {
  readonly path: string;
  readonly before: FileRow | undefined;
  readonly after: FileRow | undefined;
};

/** A row that is not on disk yet. */
type PendingRow = { readonly row: FileRow | undefined };

/**
 * What svc-syscheckd knows: the rows of all files, and the events that are on their way (`queue/fim/db`). A row and its
 * event are written in one transaction, so that no change is lost and none told twice, whenever the process ends.
 */
export class FileStore {
  /** Resolves with the error when nothing can be written any more; the process should end then. */
  readonly broken: Promise<StoreError>;
  /** Rows as they are on disk. */
  readonly table: RowTable;
  readonly outbox: Outbox;
  /** Short texts and numbers of others, by their names. */
  readonly texts: StoreTable<string, string>;
  readonly #numbers: StoreTable<string, number>;
  readonly #tallies: StoreTable<string, FileTallies>;
  readonly #store: LmdbStore;
  readonly #writer: StateWriter;
  readonly #pending = new Map<string, PendingRow>();
  #tally: FileTallies;

  private constructor(store: LmdbStore, writer: StateWriter) {
    this.#store = store;
    this.#writer = writer;
    this.broken = Promise.race([store.broken, writer.broken]);
    this.table = new RowTable(store.binaryTable(ROWS));
    this.texts = store.table<string, string>(NAMES, z.string());
    this.#numbers = store.table<string, number>(NUMBERS, z.number());
    this.#tallies = store.table<string, FileTallies>(TALLY, TALLIES);
    this.#tally = this.#tallies.get(ROWS) ?? { next: 0, rows: 0, long: 0 };
    const notes = { names: this.texts, numbers: this.#numbers };
    this.outbox = new Outbox(store.binaryTable(OUTBOX), notes, writer, () => `svc-syscheckd:${randomUUID()}`);
  }

  /** @param directory `queue/fim/db` @throws StoreError `damaged`, `too_new`, `in_use`, `full` */
  static async open(directory: string, logger: Logger): Promise<FileStore> {
    const store = await LmdbStore.open({
      directory,
      tables: [NAMES, NUMBERS, TALLY],
      binaryTables: [ROWS, OUTBOX],
      mapBytes: MAP_BYTES,
    });
    try {
      return new FileStore(store, new StateWriter(store, logger));
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /** Rows there are, those not on disk yet included. */
  get rows(): number {
    return this.#tally.rows;
  }

  /** Number the next new row gets. */
  get nextNumber(): number {
    return this.#tally.next;
  }

  /** Whether a row of this path can be added. */
  hasRoomFor(path: string): boolean {
    return !isLongPath(path) || this.#tally.long < MOST_LONG_PATHS;
  }

  /** The newest row of a path, what is not on disk yet included. @throws StoreError `damaged` */
  row(path: string): FileRow | undefined {
    const pending = this.#pending.get(path);
    return pending === undefined ? this.table.get(path) : pending.row;
  }

  /** As `row`, with what a scan asks for alone. @throws StoreError `damaged` */
  head(path: string): Pick<FileRow, 'number' | 'checks' | 'stamp'> | undefined {
    const pending = this.#pending.get(path);
    return pending === undefined ? this.table.head(path) : pending.row;
  }

  /** Rows that are wanted, in pieces, those not on disk yet included; between two pieces others have their turn. */
  pieces(wanted: (number: number) => boolean): AsyncGenerator<FileRow[], void, undefined> {
    const added = this.#added((row) => wanted(row.number));
    return this.#newest(this.table.pieces(wanted), added);
  }

  /** Rows below `path/`; as `pieces`. Takes no longer when something is on its way to the disk. */
  below(path: string): AsyncGenerator<FileRow[], void, undefined> {
    const start = path === '/' ? '/' : `${path}/`;
    return this.#newest(
      this.table.below(path),
      this.#added((row) => row.path.startsWith(start)),
    );
  }

  /** Paths of rows that are not on disk yet. */
  #added(wanted: (row: FileRow) => boolean): Set<string> {
    const paths = new Set<string>();
    for (const { row } of this.#pending.values()) if (row !== undefined && wanted(row)) paths.add(row.path);
    return paths;
  }

  /** @param added paths that the pieces may miss, for they were not on disk when the walk began */
  async *#newest(pieces: Iterable<FileRow[]>, added: Set<string>): AsyncGenerator<FileRow[], void, undefined> {
    for (const piece of pieces) {
      // Rows change while those of one piece are worked on.
      const rows = piece.flatMap((row) => {
        added.delete(row.path);
        const pending = this.#pending.get(row.path);
        return pending === undefined ? [row] : pending.row === undefined ? [] : [pending.row];
      });
      if (rows.length > 0) yield rows;
      await turn();
    }
    const left = [...added].flatMap((path) => this.row(path) ?? []);
    if (left.length > 0) yield left;
  }

  /**
   * Takes changes of rows and the events that tell of them, which go to disk in one transaction; `row` gives the new
   * ones at once. Resolves when they are there.
   * @throws StoreError when the store is broken or closed
   */
  async commit(rows: readonly RowChange[], events: readonly OutEvent[], more: readonly Change[] = []): Promise<void> {
    if (this.#writer.failure !== undefined) throw this.#writer.failure;
    const changes: Change[] = [...more];
    const taken: [string, PendingRow][] = [];
    let { next, rows: count, long } = this.#tally;
    for (const { path, before, after } of scattered(rows)) {
      changes.push(after === undefined ? this.table.remove(path) : this.table.put(after));
      const pending = { row: after };
      taken.push([path, pending]);
      this.#pending.set(path, pending);
      const added = (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
      count += added;
      if (isLongPath(path)) long += added;
      if (after !== undefined) next = Math.max(next, after.number + 1);
    }
    if (rows.length > 0) {
      this.#tally = { next, rows: count, long };
      changes.push(this.#tallies.put(ROWS, this.#tally));
    }
    const staged = this.outbox.stage(events);
    await this.#writer.write([...changes, ...staged.changes]);
    this.outbox.written(staged.last);
    for (const [path, pending] of taken) if (this.#pending.get(path) === pending) this.#pending.delete(path);
  }

  /** Undefined while more can be taken, else resolves when it can. @throws StoreError when nothing is taken any more */
  room(): Promise<void> | undefined {
    return this.#writer.room() ?? this.outbox.room();
  }

  /** Everything taken so far is on disk. @throws StoreError when it is not and will not be */
  settled(): Promise<void> {
    return this.#writer.settled();
  }

  /** Forgets all rows, without events; what is on its way stays so. */
  async clear(): Promise<void> {
    for await (const piece of this.pieces(() => true)) {
      await this.commit(
        piece.map((row) => ({ path: row.path, before: row, after: undefined })),
        [],
      );
    }
  }

  /**
   * Says how contents are read from now on, `file_max_size` and the like. When it was otherwise, contents are read again
   * whatever their stamps say, and their hashes are not compared with those of before: they are of something else.
   */
  async readBy(way: string): Promise<void> {
    const before = this.texts.get(READ_BY);
    if (before === way) return;
    if (before !== undefined) {
      for await (const piece of this.pieces(() => true)) {
        const hashed = piece.filter(({ checks }) => (checks & ALL_HASHES) !== 0);
        await this.commit(
          hashed.map((row) => ({ path: row.path, before: row, after: { ...row, checks: row.checks & ~ALL_HASHES } })),
          [],
        );
      }
    }
    await this.commit([], [], [this.texts.put(READ_BY, way)]);
  }

  /** Brings what was taken to disk and gives the directory up. */
  async close(): Promise<void> {
    await this.#writer.close();
    this.outbox.close();
    await this.#store.close();
  }
}

/**
 * In an order that has nothing to do with the paths: entries that come in ascending or descending order leave pages of
 * the store half empty.
 */
function scattered(rows: readonly RowChange[]): RowChange[] {
  const keyed = rows.map((row) => ({ row, key: row.after?.attributes.checksum ?? '' }));
  keyed.sort((first, second) => (first.key < second.key ? -1 : first.key > second.key ? 1 : 0));
  return keyed.map(({ row }) => row);
}
