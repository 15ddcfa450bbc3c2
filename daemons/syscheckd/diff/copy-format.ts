import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, readSync, writeSync } from 'node:fs';
import { pipeline } from 'node:stream';
import { crc32, createDeflateRaw, createGunzip, type DeflateRaw, deflateRawSync, gunzipSync } from 'node:zlib';
import { isErrno } from '../../../lib/files/is-errno.js';
import { openRegularFileSync } from '../../../lib/files/regular-file.js';

/*
 * A copy is a gzip file like any other. Its comment says the MD5 of the content, so that whether a file is still what its
 * copy is need not be found out by unpacking it.
 */

/** Bytes of a content that are packed or unpacked in one go. */
export const PIECE_BYTES = 256 * 1024;
/** A copy of this size or less is unpacked in one go, if its content turns out to be as small. */
const SMALL_COPY_BYTES = 128 * 1024;

const COMMENT_FLAG = 0x10;
/** Magic, method, flag; no time, no extra flags, made on Unix. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, COMMENT_FLAG, 0, 0, 0, 0, 0, 3]);
const COMMENT_BYTES = 'md5 '.length + 32 + 1;
const TRAILER_BYTES = 8;

/** A copy that cannot be unpacked: a power cut or a person has damaged it. */
export class DamagedCopyError extends Error {
  override readonly name = 'DamagedCopyError';
}

/** Packs a content piece by piece into an empty file. */
export class CopyWriter {
  readonly #fd: number;
  readonly #md5: Hash = createHash('md5');
  #deflate: DeflateRaw | undefined;
  #crc = 0;
  #plain = 0;
  #written = HEADER.length + COMMENT_BYTES;
  #failure: Error | undefined;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Bytes the file has so far. */
  get written(): number {
    return this.#written;
  }

  /** @param piece may be used again afterwards @throws the file system's error */
  async push(piece: Buffer): Promise<void> {
    this.#count(piece);
    const deflate = this.#begun();
    await new Promise<void>((resolve, reject) => {
      deflate.write(piece, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** @returns MD5 of the content @throws the file system's error */
  async finish(): Promise<string> {
    const deflate = this.#begun();
    const ended = once(deflate, 'end');
    deflate.end();
    await ended;
    if (this.#failure !== undefined) throw this.#failure;
    return this.#close();
  }

  /** A whole content that is small, instead of `push` and `finish`. @throws the file system's error */
  only(content: Buffer): string {
    this.#count(content);
    this.#write(deflateRawSync(content));
    return this.#close();
  }

  /** Gives up. */
  destroy(): void {
    this.#deflate?.destroy();
  }

  #begun(): DeflateRaw {
    if (this.#deflate !== undefined) return this.#deflate;
    this.#deflate = createDeflateRaw();
    this.#deflate.on('data', (packed: Buffer) => {
      try {
        this.#write(packed);
      } catch (error) {
        this.#failure ??= error instanceof Error ? error : new Error(String(error));
      }
    });
    return this.#deflate;
  }

  #count(piece: Buffer): void {
    this.#md5.update(piece);
    this.#crc = crc32(piece, this.#crc);
    this.#plain += piece.length;
  }

  #close(): string {
    const trailer = Buffer.alloc(TRAILER_BYTES);
    trailer.writeUInt32LE(this.#crc);
    trailer.writeUInt32LE(this.#plain % 2 ** 32, 4);
    this.#write(trailer);
    const md5 = this.#md5.digest('hex');
    writeAll(this.#fd, Buffer.concat([HEADER, Buffer.from(`md5 ${md5}\0`, 'latin1')]), 0);
    return md5;
  }

  #write(bytes: Buffer): void {
    writeAll(this.#fd, bytes, this.#written);
    this.#written += bytes.length;
  }
}

/** The MD5 that a copy says its content has; undefined when another program made it. @param fd the copy */
export function statedMd5(fd: number): string | undefined {
  const bytes = Buffer.alloc(HEADER.length + COMMENT_BYTES);
  if (readSync(fd, bytes, 0, bytes.length, 0) < bytes.length) return undefined;
  if (!bytes.subarray(0, HEADER.length).equals(HEADER)) return undefined;
  return /^md5 ([0-9a-f]{32})\0$/.exec(bytes.toString('latin1', HEADER.length))?.[1];
}

/**
 * Content of a copy.
 * @param path not followed when it is a link
 * @throws DamagedCopyError, the file system's error
 */
export async function* unpackCopy(path: string): AsyncGenerator<Buffer, void, undefined> {
  const { fd } = openRegularFileSync(path);
  try {
    const first = Buffer.allocUnsafeSlow(SMALL_COPY_BYTES);
    const length = readSync(fd, first, 0, first.length, 0);
    const small = length < first.length ? unpackSmall(first.subarray(0, length)) : undefined;
    if (small !== undefined) yield small;
    else yield* unpackLarge(fd);
  } finally {
    closeSync(fd);
  }
}

/** Undefined when the content is larger. */
function unpackSmall(packed: Buffer): Buffer | undefined {
  try {
    return gunzipSync(packed, { maxOutputLength: PIECE_BYTES });
  } catch (error) {
    if (isErrno(error, 'ERR_BUFFER_TOO_LARGE')) return undefined;
    throw damaged(error);
  }
}

async function* unpackLarge(fd: number): AsyncGenerator<Buffer, void, undefined> {
  const gunzip = createGunzip({ chunkSize: PIECE_BYTES });
  // Whatever ends one of them ends the other; errors come out of the iteration below.
  pipeline(piecesOf(fd), gunzip, () => {});
  try {
    for await (const piece of gunzip as AsyncIterable<Buffer>) yield piece;
  } catch (error) {
    throw damaged(error);
  }
}

function* piecesOf(fd: number): Generator<Buffer, void, undefined> {
  for (let position = 0; ;) {
    const piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
    const length = readSync(fd, piece, 0, piece.length, position);
    if (length === 0) return;
    position += length;
    yield piece.subarray(0, length);
  }
}

function damaged(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  return code?.startsWith('Z_') === true ? new DamagedCopyError(message) : error;
}

function writeAll(fd: number, bytes: Buffer, position: number): void {
  for (let offset = 0; offset < bytes.length;) {
    offset += writeSync(fd, bytes, offset, bytes.length - offset, position + offset);
  }
}
