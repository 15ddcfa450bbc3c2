import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';
import { Limiter } from '../async/limiter.js';
import { ifPresentSync } from '../files/if-present.js';
import { withRegularFile } from '../files/regular-file.js';
import { JOURNAL_DIRECTORY_MODE, JOURNAL_FILE_MODE, systemFiles } from './segment-file.js';

/*
 * A checkpoint, little-endian:
 *
 *   0  magic       "SVCCHKP" and a NUL
 *   8  version     uint32, 1
 *  12  checksum    CRC32 of all that follows
 *  16  generation  float64: counts up with every checkpoint
 *  24  position    float64, of the journal
 *  32  length      float64, of the data
 *  40  data, behind which there may be bytes of an older checkpoint; as V8 serializes it: Maps, Sets, Buffers and objects that are there twice come back as such
 */
const MAGIC = Buffer.from('SVCCHKP\0', 'latin1');
const VERSION = 1;
const HEADER_BYTES = 40;
const SUMMED_FROM = 16;

/** Two files are written in turn. */
const FILE_NAMES = ['checkpoint.0', 'checkpoint.1'] as const;

/** State as of a position of the journal. */
export type Checkpoint = { readonly position: number; readonly data: unknown };

type Generation = Checkpoint & { readonly generation: number };

/** Told which checkpoint could not be used, and why. */
export type CheckpointDamage = { readonly file: string; readonly reason: string };

/**
 * Keeps the last two checkpoints in a directory. Each is written beside, made safe, and put in the place of the older
 * one, so that at every moment, and when one file gets damaged, another is whole.
 */
export class CheckpointStore {
  readonly #directory: string;
  readonly #onDamage: (damage: CheckpointDamage) => void;
  readonly #create: (path: string) => Promise<FileHandle>;
  /** Positions of the checkpoints there are, by the number of their file. */
  readonly #positions: (number | undefined)[] = FILE_NAMES.map(() => undefined);
  #generation = 0;
  readonly #saves = new Limiter({ atOnce: 1 });

  /** @param create makes a file, for tests */
  constructor(directory: string, onDamage: (damage: CheckpointDamage) => void, create = createFile) {
    this.#directory = directory;
    this.#onDamage = onDamage;
    this.#create = create;
  }

  /**
   * Position before which no kept checkpoint needs the journal: what may be freed. 0 while there are not two of them, as
   * the only one may turn out damaged, and the journal from its start is then the way back.
   */
  get freeable(): number {
    return Math.min(...this.#positions.map((position) => position ?? 0));
  }

  /**
   * The newest checkpoint that is whole; undefined when there is none.
   * @param refusal says why data cannot be used, where it cannot: the other checkpoint is as good
   * @throws the system's error when a file is there and cannot be read
   */
  load(refusal: (data: unknown) => string | undefined = () => undefined): Checkpoint | undefined {
    const found: (Generation & { readonly number: number })[] = [];
    const missing: string[] = [];
    for (const [number, name] of FILE_NAMES.entries()) {
      const file = join(this.#directory, name);
      const read = readCheckpoint(file);
      this.#positions[number] = undefined;
      if (read === undefined) missing.push(file);
      else if (typeof read === 'string') this.#onDamage({ file, reason: read });
      else found.push({ ...read, number });
    }
    found.sort((a, b) => b.generation - a.generation);
    for (const file of (found[0]?.generation ?? 0) > 1 ? missing : []) {
      this.#onDamage({ file, reason: 'it is not there' });
    }
    while (found[0] !== undefined) {
      const { number, data } = found[0];
      const reason = refusal(data);
      if (reason === undefined) break;
      this.#onDamage({ file: join(this.#directory, FILE_NAMES[number] ?? FILE_NAMES[0]), reason });
      found.shift();
    }
    for (const { number, position } of found) this.#positions[number] = position;
    const [newest] = found;
    if (newest === undefined) return undefined;
    this.#generation = newest.generation;
    return { position: newest.position, data: newest.data };
  }

  /**
   * Puts a checkpoint in the place of the older one. The data is taken as it is now. To be called after `load`.
   * @param data plain data: objects, arrays, Maps, Sets, Buffers, texts, numbers, bigints
   * @throws Error for data that cannot be serialized, and the system's error; the checkpoints there are then stay
   */
  save(position: number, data: unknown): Promise<void> {
    let bytes: Buffer;
    try {
      bytes = serialize(data);
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
    return this.#saves.run(() => this.#write(position, bytes));
  }

  async #write(position: number, data: Buffer): Promise<void> {
    // Tens of megabytes were encoded just now, and summing them up takes a while as well.
    await nextTurn();
    const generation = this.#generation + 1;
    const number = generation % FILE_NAMES.length;
    const file = join(this.#directory, FILE_NAMES[number] ?? FILE_NAMES[0]);
    const parts = [encodeHeader(generation, position, data), data];
    mkdirSync(this.#directory, { recursive: true, mode: JOURNAL_DIRECTORY_MODE });
    try {
      await this.#replace(file, parts);
    } catch (error) {
      // It is a checkpoint that lets the journal free space: a disk that is full of journal must not hinder it.
      if (!isDiskFull(error) || HEADER_BYTES + data.length > sizeOf(file)) throw error;
      this.#positions[number] = undefined;
      await overwrite(file, parts);
    }
    this.#positions[number] = position;
    this.#generation = generation;
    await systemFiles.syncDirectory(this.#directory);
  }

  /** A new file in the place of an old one, whole or not at all. */
  async #replace(file: string, parts: readonly Buffer[]): Promise<void> {
    const temporary = `${file}.new`;
    await rm(temporary, { force: true });
    try {
      const handle = await this.#create(temporary);
      try {
        await handle.chmod(JOURNAL_FILE_MODE);
        for (const part of parts) await handle.writeFile(part);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, file);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {});
      throw error instanceof Error ? Object.assign(error, { path: temporary }) : error;
    }
  }
}

/** Makes a file that must not be there yet. */
function createFile(path: string): Promise<FileHandle> {
  return open(path, 'wx', JOURNAL_FILE_MODE);
}

/** Writes over a file, within the space it has. Until that is done there is only the other checkpoint. */
async function overwrite(file: string, parts: readonly Buffer[]): Promise<void> {
  const write = async (handle: FileHandle): Promise<void> => {
    for (const part of parts) await handle.writeFile(part);
    await handle.sync();
  };
  await withRegularFile(file, write, { access: 'write' });
}

function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function encodeHeader(generation: number, position: number, data: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt32LE(VERSION, 8);
  header.writeDoubleLE(generation, 16);
  header.writeDoubleLE(position, 24);
  header.writeDoubleLE(data.length, 32);
  header.writeUInt32LE(crc32(data, crc32(header.subarray(SUMMED_FROM))), 12);
  return header;
}

/** @returns what is wrong, when it is no checkpoint; undefined when it is not there */
function readCheckpoint(file: string): Generation | string | undefined {
  const bytes = ifPresentSync(() => readFileSync(file));
  if (bytes === undefined) return undefined;
  if (bytes.length < HEADER_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return 'it is no checkpoint';
  const version = bytes.readUInt32LE(8);
  if (version !== VERSION) return `it has version ${version}, ${VERSION} is known`;
  const end = HEADER_BYTES + bytes.readDoubleLE(32);
  if (!(end >= HEADER_BYTES && end <= bytes.length)) return 'it is cut off';
  if (bytes.readUInt32LE(12) !== crc32(bytes.subarray(SUMMED_FROM, end))) return 'its checksum is wrong';
  try {
    const data: unknown = deserialize(bytes.subarray(HEADER_BYTES, end));
    return { generation: bytes.readDoubleLE(16), position: bytes.readDoubleLE(24), data };
  } catch (error) {
    return `its data cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}
