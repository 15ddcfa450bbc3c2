import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';

/** Bytes the decompressor hands over at a time. */
const CHUNK_BYTES = 256 * 1024;

/** Reads what a `.gz` file holds, forward only and with no more of it in memory than is asked for. */
export class GzipCursor {
  readonly #source;
  readonly #chunks: AsyncIterator<Buffer>;
  #buffered: Buffer[] = [];
  #bufferedBytes = 0;
  #offset = 0;
  #ended = false;

  /** Opens the file with the first read. */
  constructor(path: string) {
    this.#source = createReadStream(path);
    const unpacked = createGunzip({ chunkSize: CHUNK_BYTES });
    this.#source.on('error', (error) => unpacked.destroy(error));
    this.#chunks = this.#source.pipe(unpacked)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** Uncompressed bytes before the next one. */
  get offset(): number {
    return this.#offset;
  }

  /** Whether nothing follows any more. */
  get isAtEnd(): boolean {
    return this.#ended && this.#bufferedBytes === 0;
  }

  /**
   * Goes on to an offset, or to the end when that comes first.
   * @throws Error of the file system or of a damaged file
   */
  async skipTo(offset: number): Promise<void> {
    while (this.#offset < offset) {
      if (this.#bufferedBytes === 0 && !(await this.#pull())) return;
      this.skip(Math.min(offset - this.#offset, this.#bufferedBytes));
    }
  }

  /**
   * The next bytes, without going past them: at least `bytes`, or all that are left.
   * @throws as `skipTo`
   */
  async peek(bytes: number): Promise<Buffer> {
    while (this.#bufferedBytes < bytes && (await this.#pull()));
    if (this.#buffered.length > 1) this.#buffered = [Buffer.concat(this.#buffered)];
    return this.#buffered[0] ?? Buffer.alloc(0);
  }

  /** Goes past bytes that `peek` gave. */
  skip(bytes: number): void {
    this.#offset += bytes;
    this.#bufferedBytes -= bytes;
    let left = bytes;
    while (left > 0) {
      const first = this.#buffered[0];
      if (first === undefined) return;
      if (first.length > left) {
        this.#buffered[0] = first.subarray(left);
        return;
      }
      this.#buffered.shift();
      left -= first.length;
    }
  }

  /** Gives the file up. */
  close(): void {
    this.#source.destroy();
    void this.#chunks.return?.();
  }

  async #pull(): Promise<boolean> {
    if (this.#ended) return false;
    const { value, done } = await this.#chunks.next();
    if (done === true) {
      this.#ended = true;
      return false;
    }
    this.#buffered.push(value);
    this.#bufferedBytes += value.length;
    return true;
  }
}
