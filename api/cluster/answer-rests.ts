import { randomUUID } from 'node:crypto';
import { BusError } from '../../lib/bus/bus-error.js';
import { type AnswerPieces, MAX_ANSWER_PIECE } from '../../lib/bus/contracts/apid.js';
import { packBytes } from './packed-bytes.js';

/** How long the rest of an answer waits to be fetched, milliseconds. */
const KEEP_MS = 60_000;
/** Bytes of all rests: stops nodes that ask for much and fetch nothing from filling the memory. */
const MAX_BYTES = 256 * 1024 * 1024;

type Rest = { readonly bytes: Uint8Array; readonly until: number };

/** Answers that are too large for one message, until the node that asked has fetched all of them. */
export class AnswerRests {
  readonly #rests = new Map<string, Rest>();
  readonly #monotonic: () => number;
  readonly #maxBytes: number;
  #bytes = 0;

  /** @param monotonic milliseconds of a clock that never goes back @param maxBytes of all rests; what is oldest goes first */
  constructor(monotonic: () => number, maxBytes = MAX_BYTES) {
    this.#monotonic = monotonic;
    this.#maxBytes = maxBytes;
  }

  /** Packs an answer: its first piece, and the name of the rest. */
  async pack(answer: Uint8Array): Promise<AnswerPieces> {
    const { gzip, bytes } = await packBytes(answer);
    if (bytes.length <= MAX_ANSWER_PIECE) return { gzip, bytes, total: bytes.length, rest: null };
    const rest = randomUUID();
    this.#keep(rest, bytes);
    return { gzip, bytes: bytes.subarray(0, MAX_ANSWER_PIECE), total: bytes.length, rest };
  }

  /** The piece behind `at` bytes; after the last one the answer is forgotten. @throws BusError `gone` */
  piece(rest: string, at: number): Uint8Array {
    const known = this.#rests.get(rest);
    if (known === undefined || known.until < this.#monotonic()) {
      throw new BusError('gone', 'the rest of the answer was not fetched in time');
    }
    const piece = known.bytes.subarray(at, at + MAX_ANSWER_PIECE);
    if (at + piece.length >= known.bytes.length) this.#forget(rest, known);
    return piece;
  }

  #keep(name: string, bytes: Uint8Array): void {
    const now = this.#monotonic();
    this.#bytes += bytes.length;
    this.#rests.set(name, { bytes, until: now + KEEP_MS });
    // They are in the order of their times.
    for (const [oldest, rest] of this.#rests) {
      if (oldest === name || (rest.until >= now && this.#bytes <= this.#maxBytes)) break;
      this.#forget(oldest, rest);
    }
  }

  #forget(name: string, { bytes }: Rest): void {
    this.#rests.delete(name);
    this.#bytes -= bytes.length;
  }
}
