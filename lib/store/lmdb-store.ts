import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import type { z } from 'zod';
import { LockHeldError, ProcessLock } from '../process/process-lock.js';
import { BinaryTable } from './binary-table.js';
import { checkLmdbFile } from './check-lmdb-file.js';
import { checkLmdbPages } from './check-lmdb-pages.js';
import { type Change, CommitQueue, type Undo } from './commit-queue.js';
import { ContentDigest } from './content-digest.js';
import { DiskReserve } from './disk-reserve.js';
import { StoreError } from './store-error.js';
import { decodeValue, encodeValue, type StoreKey, StoreTable } from './store-table.js';

type RawTable = Database<Buffer, StoreKey | Buffer>;

/** What a step of a migration works on: tables by name, values as they were stored. */
export type MigrationTables = {
  entries(table: string): Iterable<readonly [key: StoreKey, value: unknown]>;
  put(table: string, key: StoreKey, value: unknown): void;
  remove(table: string, key: StoreKey): void;
};

export type LmdbStoreOptions = {
  /** Made when it is missing, 0750. */
  readonly directory: string;
  readonly tables: readonly string[];
  /** Tables whose keys are bytes, in the order of the bytes. */
  readonly binaryTables?: readonly string[];
  /**
   * Addresses set aside for the file, bytes: no memory. A file that grows beyond them is mapped anew, and what was read
   * through the old map is in memory twice.
   */
  readonly mapBytes?: number;
  /** One step from version `index + 1` to the next; the layout's version is their number plus one. */
  readonly migrations?: readonly ((tables: MigrationTables) => void)[];
  /**
   * Whether all pages are followed at open, and entries held against their digest: for a store that is read whole anyway, and
   * where a lost entry does harm. A layout that had no digest before needs a migration, so that programs that know of none
   * refuse it. No binary tables.
   */
  readonly checked?: boolean;
};

const META_TABLE = 'meta';
const SCHEMA_KEY = 'schema';
const DIGEST_KEY = 'digest';
const DATA_FILE = 'data.mdb';
const LOCK_FILE = 'lock.mdb';
/** A commit that takes longer does not come back: the disk fails. */
const COMMIT_DEADLINE_MS = 60_000;

/**
 * An LMDB environment with typed tables (architecture.md 4 "State"): opened by one process, moved forward to the program's
 * layout at open, written in grouped durable commits. A damaged file or a full disk is an error here, where LMDB alone
 * would end the process.
 */
export class LmdbStore {
  /** Resolves with the error when the disk did not take a commit in time; the process should end then. */
  readonly broken: Promise<StoreError>;
  readonly #directory: string;
  readonly #root: RootDatabase;
  readonly #tables: ReadonlyMap<string, RawTable>;
  readonly #reserve: DiskReserve;
  readonly #lock: ProcessLock;
  /** Of what is on the disk. */
  #digest: ContentDigest | undefined;
  readonly #commits = new CommitQueue((changes) => this.#write(changes));
  #reportBroken: (error: StoreError) => void = () => {};
  #closed: StoreError | undefined;

  private constructor(
    directory: string,
    root: RootDatabase,
    tables: ReadonlyMap<string, RawTable>,
    reserve: DiskReserve,
    lock: ProcessLock,
    digest: ContentDigest | undefined,
  ) {
    this.#directory = directory;
    this.#root = root;
    this.#tables = tables;
    this.#reserve = reserve;
    this.#lock = lock;
    this.#digest = digest;
    this.broken = new Promise((resolve) => (this.#reportBroken = resolve));
  }

  /** @throws StoreError `damaged`, `too_new`, `in_use`, `full`; the file system's error when the directory cannot be made */
  static async open(options: LmdbStoreOptions): Promise<LmdbStore> {
    const { directory } = options;
    mkdirSync(directory, { recursive: true, mode: 0o750 });
    const lock = acquireLock(directory);
    try {
      const file = join(directory, DATA_FILE);
      const damage = options.checked === true ? checkLmdbPages(file) : checkLmdbFile(file);
      if (damage !== undefined) throw new StoreError('damaged', `${directory}: ${damage}`);
      DiskReserve.prepare(directory, join(directory, LOCK_FILE));
      return await openEnvironment(
        options,
        (root, tables, reserve, digest) => new LmdbStore(directory, root, tables, reserve, lock, digest),
      );
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** @param schema checks what is read; entries are plain data that msgpack carries */
  table<K extends StoreKey, V>(name: string, schema: z.ZodType<V>): StoreTable<K, V> {
    return new StoreTable<K, V>(name, this.#raw(name) as Database<Buffer, StoreKey>, schema, this.#directory);
  }

  /** A table of `binaryTables`. */
  binaryTable(name: string): BinaryTable {
    return new BinaryTable(name, this.#raw(name) as Database<Buffer, Buffer>);
  }

  #raw(name: string): RawTable {
    const table = this.#tables.get(name);
    if (table === undefined) throw new TypeError(`the store has no table '${name}'`);
    return table;
  }

  /**
   * Writes changes in one transaction; those of commits that come together share it. Resolves when they are on disk.
   * @param undo called when they did not happen, in the reverse order of commits, before the promise rejects
   * @throws StoreError `full`, `failed`, `closed`; nothing was changed
   */
  commit(changes: readonly Change[], undo?: Undo): Promise<void> {
    return this.#commits.commit(changes, undo);
  }

  /** Brings what waits to disk and gives the directory up. */
  async close(): Promise<void> {
    await this.#commits.drained();
    if (this.#closed !== undefined) return;
    this.#closed = new StoreError('closed', `${this.#directory} was closed`);
    await this.#root.close();
    this.#reserve.close();
    this.#lock.release();
  }

  async #write(changes: readonly Change[]): Promise<void> {
    if (this.#closed !== undefined) throw this.#closed;
    if (changes.length === 0) return;
    this.#reserve.ensure(changes);
    const digest = this.#digest?.copy();
    const written = this.#root.transaction(() => writeChanges(changes, this.#tables, digest));
    await this.#inTime(written);
    this.#digest = digest;
  }

  async #inTime(written: Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        const reason = `${this.#directory}: a commit did not end within ${COMMIT_DEADLINE_MS / 1000} s`;
        this.#closed = new StoreError('failed', reason);
        this.#reportBroken(this.#closed);
        reject(this.#closed);
      }, COMMIT_DEADLINE_MS);
    });
    try {
      await Promise.race([written, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function acquireLock(directory: string): ProcessLock {
  try {
    return ProcessLock.acquire(join(directory, 'writer.lock'));
  } catch (error) {
    if (!(error instanceof LockHeldError)) throw error;
    throw new StoreError('in_use', `${directory} is open in process ${error.holder.pid}`, { cause: error });
  }
}

/** In a transaction of writing. @param digest follows the changes, and is written with them */
function writeChanges(
  changes: readonly Change[],
  tables: ReadonlyMap<string, RawTable>,
  digest: ContentDigest | undefined,
): void {
  for (const { table, key, value } of changes) {
    const database = tables.get(table);
    if (table !== META_TABLE) digest?.change(table, key, database?.get(key), value);
    if (value === undefined) database?.removeSync(key);
    else database?.putSync(key, value);
  }
  if (digest !== undefined) tables.get(META_TABLE)?.putSync(DIGEST_KEY, encodeValue(digest.text));
}

type MakeStore = (
  root: RootDatabase,
  tables: ReadonlyMap<string, RawTable>,
  reserve: DiskReserve,
  digest: ContentDigest | undefined,
) => LmdbStore;

async function openEnvironment(options: LmdbStoreOptions, make: MakeStore): Promise<LmdbStore> {
  const { directory, binaryTables = [], mapBytes } = options;
  let root: RootDatabase;
  try {
    root = open({
      path: directory,
      noMemInit: false,
      // A commit is on disk when its promise resolves, and the file is whole after a power cut.
      overlappingSync: false,
      ...(mapBytes === undefined ? {} : { mapSize: mapBytes }),
      maxDbs: options.tables.length + binaryTables.length + 1,
    });
  } catch (error) {
    throw damaged(directory, error);
  }
  let reserve: DiskReserve | undefined;
  try {
    for (const file of [DATA_FILE, LOCK_FILE]) chmodSync(join(directory, file), 0o640);
    reserve = new DiskReserve(directory, join(directory, DATA_FILE));
    reserve.ensure([]);
    const names = [META_TABLE, ...options.tables];
    const tables = new Map<string, RawTable>();
    for (const name of names) tables.set(name, root.openDB({ name, encoding: 'binary' }));
    for (const name of binaryTables) tables.set(name, root.openDB({ name, encoding: 'binary', keyEncoding: 'binary' }));
    const digest = options.checked === true ? digestOf(options.tables, tables) : undefined;
    await migrate(options, root, tables, reserve, digest);
    return make(root, tables, reserve, digest);
  } catch (error) {
    reserve?.close();
    await root.close();
    throw error instanceof StoreError ? error : damaged(directory, error);
  }
}

async function migrate(
  { directory, migrations = [] }: LmdbStoreOptions,
  root: RootDatabase,
  tables: ReadonlyMap<string, RawTable>,
  reserve: DiskReserve,
  digest: ContentDigest | undefined,
): Promise<void> {
  const wanted = migrations.length + 1;
  const stored = tables.get(META_TABLE)?.get(SCHEMA_KEY);
  const version = stored === undefined ? wanted : decodeValue(stored);
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1) {
    throw new StoreError('damaged', `${directory}: its version is not a number`);
  }
  if (version > wanted) {
    const reason = `it has version ${version}, this program knows ${wanted}: it was written by a newer one`;
    throw new StoreError('too_new', `${directory}: ${reason}`);
  }
  if (stored !== undefined && version === wanted) {
    const written = tables.get(META_TABLE)?.get(DIGEST_KEY);
    if (digest === undefined || (written !== undefined && decodeValue(written) === digest.text)) return;
    throw new StoreError('damaged', `${directory}: entries were lost or altered`);
  }
  const changes = new MigrationChanges(tables);
  for (const step of migrations.slice(version - 1)) step(changes);
  changes.put(META_TABLE, SCHEMA_KEY, wanted);
  reserve.ensure(changes.list());
  await root.transaction(() => writeChanges(changes.list(), tables, digest));
}

function digestOf(names: readonly string[], tables: ReadonlyMap<string, RawTable>): ContentDigest {
  const digest = ContentDigest.ofNothing();
  for (const name of names) {
    for (const { key, value } of tables.get(name)?.getRange() ?? []) digest.change(name, key, undefined, value);
  }
  return digest;
}

/** Collects what the steps change, so that its size is known before it is written; later steps see earlier ones. */
class MigrationChanges implements MigrationTables {
  readonly #stored: ReadonlyMap<string, RawTable>;
  readonly #changed = new Map<string, Map<StoreKey, Change>>();

  constructor(stored: ReadonlyMap<string, RawTable>) {
    this.#stored = stored;
  }

  *entries(table: string): Iterable<readonly [StoreKey, unknown]> {
    const changed = [...this.#of(table)];
    const seen = new Set(changed.map(([key]) => key));
    for (const { key, value } of this.#stored.get(table)?.getRange() ?? []) {
      if (typeof key === 'object') throw new TypeError(`table '${table}' has keys of bytes`);
      if (!seen.has(key)) yield [key, decodeValue(value)];
    }
    for (const [key, { value }] of changed) if (value !== undefined) yield [key, decodeValue(value)];
  }

  put(table: string, key: StoreKey, value: unknown): void {
    this.#of(table).set(key, { table, key, value: encodeValue(value) });
  }

  remove(table: string, key: StoreKey): void {
    this.#of(table).set(key, { table, key, value: undefined });
  }

  list(): Change[] {
    return [...this.#changed.values()].flatMap((changes) => [...changes.values()]);
  }

  #of(table: string): Map<StoreKey, Change> {
    let changes = this.#changed.get(table);
    if (changes === undefined) {
      changes = new Map();
      this.#changed.set(table, changes);
    }
    return changes;
  }
}

function damaged(directory: string, cause: unknown): StoreError {
  return new StoreError('damaged', `${directory}: ${cause instanceof Error ? cause.message : String(cause)}`, {
    cause,
  });
}
