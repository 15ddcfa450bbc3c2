import { MAX_FRAME_BYTES } from './link-limits.js';

/** Bytes of the length before a message on TCP: unsigned, little endian (agents-and-groups.md 3.1). */
export const FRAME_HEADER_BYTES = 4;

/** Room for a frame in parts, at first: a peer gets more only by sending more, never by announcing more. */
const FIRST_ROOM_BYTES = 512;

/** A frame announced a length that no message has; the connection is of no more use. */
export class FrameSizeError extends Error {
  override readonly name = 'FrameSizeError';

  constructor(readonly bytes: number) {
    super(`frame of ${bytes} bytes; ${MAX_FRAME_BYTES} are the most`);
  }
}

/** A message as it goes over TCP. @throws FrameSizeError */
export function encodeFrame(message: Buffer): Buffer {
  if (message.length > MAX_FRAME_BYTES) throw new FrameSizeError(message.length);
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + message.length);
  frame.writeUInt32LE(message.length, 0);
  message.copy(frame, FRAME_HEADER_BYTES);
  return frame;
}

/**
 * Cuts a TCP stream into messages. Bytes go in with `push`, messages come out with `next` one by one, so that the caller
 * can stop in the middle of a chunk and go on later.
 *
 * A message that lies whole in a chunk is not copied: it shares memory with the chunk and is to be used at once.
 * What is held of a message in parts is at most twice what its peer has sent, and at most a frame.
 */
export class FrameDecoder {
  #chunk: Buffer | undefined;
  #at = 0;
  /** The frame in parts, its header included, with room at its end. */
  #partial: Buffer | undefined;
  #filled = 0;

  /** Whether a frame has begun and is not complete: a peer that leaves it so for long is cut off by the caller. */
  get unfinished(): boolean {
    return this.#filled > 0 || this.#at < (this.#chunk?.length ?? 0);
  }

  /** Bytes held at the moment. */
  get held(): number {
    return (this.#partial?.length ?? 0) + (this.#chunk?.length ?? 0) - this.#at;
  }

  /** Takes what the socket has read. Call `next` until it gives nothing. */
  push(chunk: Buffer): void {
    this.#chunk =
      this.#at < (this.#chunk?.length ?? 0) && this.#chunk !== undefined
        ? Buffer.concat([this.#chunk.subarray(this.#at), chunk])
        : chunk;
    this.#at = 0;
  }

  /**
   * The next complete message, or undefined when more bytes are needed.
   * @throws FrameSizeError at a length over the limit; the stream cannot be read any further
   */
  next(): Buffer | undefined {
    const chunk = this.#chunk;
    if (chunk === undefined) return undefined;
    if (this.#filled > 0) return this.#complete();
    const left = chunk.length - this.#at;
    if (left >= FRAME_HEADER_BYTES) {
      const length = frameLength(chunk, this.#at);
      if (left >= FRAME_HEADER_BYTES + length) {
        const start = this.#at + FRAME_HEADER_BYTES;
        this.#advance(chunk, FRAME_HEADER_BYTES + length);
        return chunk.subarray(start, start + length);
      }
    }
    if (left > 0) this.#keep(left);
    return undefined;
  }

  /** Fills the frame in parts: its header first, which says how much more there is. */
  #complete(): Buffer | undefined {
    if (this.#filled < FRAME_HEADER_BYTES) this.#keep(FRAME_HEADER_BYTES - this.#filled);
    if (this.#filled < FRAME_HEADER_BYTES || this.#partial === undefined) return undefined;
    const length = FRAME_HEADER_BYTES + frameLength(this.#partial, 0);
    this.#keep(length - this.#filled);
    if (this.#filled < length) return undefined;
    const message = this.#partial.subarray(FRAME_HEADER_BYTES, length);
    this.#partial = undefined;
    this.#filled = 0;
    return message;
  }

  /** Moves up to `most` bytes of the chunk to the frame in parts. */
  #keep(most: number): void {
    const chunk = this.#chunk;
    if (chunk === undefined || most === 0) return;
    const count = Math.min(most, chunk.length - this.#at);
    const needed = this.#filled + count;
    let partial = this.#partial;
    if (partial === undefined || partial.length < needed) {
      const larger = Buffer.allocUnsafe(
        Math.max(FIRST_ROOM_BYTES, Math.min(2 * needed, FRAME_HEADER_BYTES + MAX_FRAME_BYTES)),
      );
      partial?.copy(larger, 0, 0, this.#filled);
      this.#partial = partial = larger;
    }
    chunk.copy(partial, this.#filled, this.#at, this.#at + count);
    this.#filled = needed;
    this.#advance(chunk, count);
  }

  #advance(chunk: Buffer, count: number): void {
    this.#at += count;
    if (this.#at < chunk.length) return;
    this.#chunk = undefined;
    this.#at = 0;
  }
}

function frameLength(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32LE(at);
  if (length > MAX_FRAME_BYTES) throw new FrameSizeError(length);
  return length;
}
