import { deflateRawSync } from 'node:zlib';
import { PUSH_END_MESSAGE, pushStartMessage } from '../../../lib/agentlink/control-text.js';
import { pushPieces } from '../../../lib/agentlink/file-push.js';
import { MERGED_FILE, mergedSum } from '../../../lib/agentlink/merged-file.js';
import { type Adler, adler32 } from './adler.js';

const DEFLATE = { level: 9, chunkSize: 1024 };

/** A payload that many agents get: compressed when it is first sealed, then never again. */
export class SharedPayload {
  #deflated: Buffer | undefined;
  #adler: Adler | undefined;

  constructor(readonly bytes: Buffer) {}

  /** Its deflate stream (RFC 1951), without the head and the checksum of zlib. It stands by itself. */
  get deflated(): Buffer {
    return (this.#deflated ??= deflateRawSync(this.bytes, DEFLATE));
  }

  /** Checksum of the payload alone. */
  get adler(): Adler {
    return (this.#adler ??= adler32(this.bytes));
  }
}

/** The messages that push one file, ready to be sealed for any number of agents (agents-and-groups.md 4.4). */
export class PushContent {
  readonly #first: SharedPayload;
  readonly #pieces: readonly SharedPayload[];
  readonly #last = new SharedPayload(Buffer.from(PUSH_END_MESSAGE));

  /** @param content is not to change @param md5 of it, where it is known */
  constructor(
    content: Buffer,
    readonly md5: string = mergedSum(content),
  ) {
    this.#first = new SharedPayload(Buffer.from(pushStartMessage(md5, MERGED_FILE)));
    this.#pieces = Array.from(pushPieces(content), (piece) => new SharedPayload(piece));
  }

  /** Messages, the first and the last one included. */
  get length(): number {
    return this.#pieces.length + 2;
  }

  /** @param index 0 to `length` - 1 */
  at(index: number): SharedPayload {
    return index === 0 ? this.#first : (this.#pieces[index - 1] ?? this.#last);
  }
}
