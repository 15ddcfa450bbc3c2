import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Limiter } from '../async/limiter.js';
import { ifPresent, ifPresentSync } from '../files/if-present.js';
import { type JournalFile, type JournalFiles, systemFiles } from './segment-file.js';
import {
  encodeStateEntry,
  encodeStateHeader,
  STATE_HEADER_BYTES,
  type StateLogFile,
  stateLogGeneration,
  stateLogName,
} from './state-log-file.js';

/**
 * Room that a file has behind its end, in bytes: a checkpoint lets the journal free space, so a disk that is full of
 * journal must not hinder one. Some minutes' worth of changes of a large manager.
 */
const SPARE_BYTES = 1024 * 1024;
/** Parts of a vectored write: the system takes 1024. */
const MAX_BUFFERS = 512;
const ZEROS = Buffer.alloc(64 * 1024);

export type StateLogParts = {
  /** Made when it is not there. */
  readonly directory: string;
  /** Told what failed and hinders nothing. */
  readonly onTrouble: (error: unknown) => void;
  /** For tests. */
  readonly files?: JournalFiles;
};

/** A file that is written. */
type Tail = {
  readonly generation: number;
  readonly path: string;
  file: JournalFile | undefined;
  length: number;
  checksum: number;
  /** Bytes that were handed to the system. */
  written: number;
  waiting: Buffer[];
  /** Bytes that the file has room for. */
  room: number;
};

/**
 * A log of what changes in the state, beside the checkpoints, each of which says how much of which files of it counts
 * (architecture.md 4 "Journal and checkpoint"). What is behind that means nothing: a start writes over it. When a file has
 * grown, the next one is begun, which everything is written to once more; when all of it is there, the older ones count no more.
 */
export class StateLog {
  readonly #directory: string;
  readonly #files: JournalFiles;
  readonly #onTrouble: (error: unknown) => void;
  readonly #work = new Limiter({ atOnce: 1 });
  /** Files that count beside the one that is written, the oldest first. */
  #older: StateLogFile[] = [];
  /** Those of them that are not safe yet. */
  #ended: Tail[] = [];
  #tail: Tail | undefined;
  #prepared: Tail | undefined;
  #newest: number;
  #lost = false;
  #removing: Promise<void> = Promise.resolve();

  /** @param files what a checkpoint says that counts; it is gone on behind the last one */
  constructor({ directory, onTrouble, files = systemFiles }: StateLogParts, counting: readonly StateLogFile[]) {
    this.#directory = directory;
    this.#files = files;
    this.#onTrouble = onTrouble;
    const last = counting.at(-1);
    this.#older = counting.slice(0, -1);
    this.#tail = last && this.#tailOf(last);
    this.#newest = Math.max(0, ...this.#generations());
  }

  /** What counts now, as a checkpoint is to say it; it may not be safe yet. */
  get counting(): readonly StateLogFile[] {
    const tail = this.#tail;
    if (tail === undefined) return this.#older;
    const { generation, length, checksum } = tail;
    return [...this.#older, { generation, length, checksum }];
  }

  /** Bytes of all files that count. */
  get bytes(): number {
    return this.counting.reduce((sum, { length }) => sum + length, 0);
  }

  /** Whether something can be appended. */
  get hasFile(): boolean {
    return this.#tail !== undefined;
  }

  /** Bytes that the system was not given yet. */
  get waitingBytes(): number {
    return this.#tails().reduce((sum, { length, written }) => sum + length - written, 0);
  }

  /** Whether a file was taken away: what counts is not there any more, everything has to be written to the next one. */
  get isLost(): boolean {
    return this.#lost;
  }

  /** Appends an entry. Nothing of it is written before `flush`. @throws Error before there is a file */
  append(part: number, payload: Buffer): void {
    const tail = this.#tail;
    if (tail === undefined) throw new Error('The log of the state has no file yet.');
    const { header, checksum } = encodeStateEntry(part, payload, tail.checksum);
    tail.waiting.push(header, payload);
    tail.length += header.length + payload.length;
    tail.checksum = checksum;
  }

  /** Hands everything to the system. @throws its error; nothing is lost, the next call goes on */
  flush(): Promise<void> {
    return this.#work.run(() => this.#flush());
  }

  /** Resolves when all that was appended before is on the disk. Errors as `flush`. */
  sync(): Promise<void> {
    return this.#work.run(async () => {
      await this.#flush();
      for (const tail of this.#tails()) {
        await tail.file?.sync();
        if (tail.file?.isInPlace() !== false) continue;
        this.#lost = true;
        throw new Error(`'${tail.path}' was removed`);
      }
      for (const { file } of this.#ended.splice(0)) await file?.close();
    });
  }

  /**
   * Makes the file that `turn` goes on with.
   * @param bytes that are going to be written: without room for them there is no use in it
   * @throws the system's error; what is there stays
   */
  prepare(bytes: number): Promise<void> {
    return this.#work.run(async () => {
      if (this.#prepared !== undefined) return;
      this.#files.makeDirectory(this.#directory);
      this.#newest = Math.max(this.#newest, ...this.#generations());
      const generation = this.#newest + 1;
      const { header, checksum } = encodeStateHeader(generation);
      const tail = this.#tailOf({ generation, length: STATE_HEADER_BYTES, checksum });
      const file = await this.#files.open(tail.path, true);
      try {
        await file.write([header], 0);
        tail.room = STATE_HEADER_BYTES;
        await extend(file, tail, bytes + SPARE_BYTES);
        await file.sync();
        await this.#files.syncDirectory(this.#directory);
      } catch (error) {
        await file.close().catch(this.#onTrouble);
        await this.#files.remove(tail.path).catch(this.#onTrouble);
        throw error;
      }
      tail.file = file;
      this.#newest = generation;
      this.#prepared = tail;
    });
  }

  /** What is appended from here on goes to the file that was prepared. */
  turn(): void {
    const prepared = this.#prepared;
    if (prepared === undefined) throw new Error('The next file of the log of the state is not there.');
    if (this.#tail !== undefined) {
      const { generation, length, checksum } = this.#tail;
      this.#older.push({ generation, length, checksum });
      this.#ended.push(this.#tail);
    }
    this.#prepared = undefined;
    this.#tail = prepared;
  }

  /** The file that is written has everything: the ones before it count no more. */
  dropOlder(): void {
    this.#older = [];
    if (!this.#lost) return;
    // A checkpoint that is being made may name those that are there: they are made safe by the next `sync`.
    this.#lost = false;
    const ended = this.#ended.splice(0);
    void this.#work.run(async () => {
      for (const { file } of ended) await file?.close().catch(this.#onTrouble);
    });
  }

  /** Removes files that neither count nor are of these generations, which checkpoints name. */
  retain(generations: ReadonlySet<number>): void {
    const needed = new Set([...generations, ...this.counting.map(({ generation }) => generation)]);
    for (const generation of this.#generations()) {
      if (needed.has(generation) || generation >= (this.#tail?.generation ?? 0)) continue;
      const path = join(this.#directory, stateLogName(generation));
      this.#removing = this.#removing
        .then(() => ifPresent(() => this.#files.remove(path)))
        .then(() => {}, this.#onTrouble);
    }
  }

  /** Lets go of the files. */
  async close(): Promise<void> {
    await this.#work.run(async () => {
      for (const tail of [...this.#ended, this.#tail, this.#prepared]) await tail?.file?.close().catch(this.#onTrouble);
    });
    await this.#removing;
  }

  async #flush(): Promise<void> {
    for (const tail of this.#tails()) {
      if (tail.written === tail.length) continue;
      const file = (tail.file ??= await this.#files.open(tail.path, false));
      await write(file, tail);
      if (tail.room - tail.written >= SPARE_BYTES / 2) continue;
      // Without it the next checkpoints are as good, unless the disk is full by then.
      await extend(file, tail, tail.written + SPARE_BYTES).catch(() => {});
    }
  }

  /** Files in which something may not be safe. */
  #tails(): Tail[] {
    return this.#tail === undefined ? this.#ended : [...this.#ended, this.#tail];
  }

  #tailOf({ generation, length, checksum }: StateLogFile): Tail {
    const path = join(this.#directory, stateLogName(generation));
    return { generation, path, file: undefined, length, checksum, written: length, waiting: [], room: length };
  }

  #generations(): number[] {
    const names = ifPresentSync(() => readdirSync(this.#directory)) ?? [];
    return names.map(stateLogGeneration).filter((generation) => generation !== undefined);
  }
}

/** Writes what waits; after an error it waits again. */
async function write(file: JournalFile, tail: Tail): Promise<void> {
  while (tail.waiting.length > 0) {
    const buffers = tail.waiting.slice(0, MAX_BUFFERS);
    await file.write(buffers, tail.written);
    tail.waiting.splice(0, buffers.length);
    for (const { length } of buffers) tail.written += length;
    tail.room = Math.max(tail.room, tail.written);
  }
}

async function extend(file: JournalFile, tail: Tail, to: number): Promise<void> {
  while (tail.room < to) {
    const zeros = ZEROS.subarray(0, Math.min(ZEROS.length, to - tail.room));
    await file.write([zeros], tail.room);
    tail.room += zeros.length;
  }
}
