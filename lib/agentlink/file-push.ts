import { hash } from 'node:crypto';
import { isControl } from './control-text.js';

/** Bytes of a file in one message (agents-and-groups.md 4.4). */
const PIECE_BYTES = 900;

/** Over UDP, a sender waits this long after so many pieces. */
export const UDP_PUSH_PAUSE = { pieces: 31, milliseconds: 1000 };

/** Largest file that an agent takes: it is held in memory until its checksum is right. */
export const MAX_PUSHED_BYTES = 64 * 1024 * 1024;

/** Cuts a file into the pieces that are its messages. They share its memory. */
export function* pushPieces(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length;) {
    let end = Math.min(at + PIECE_BYTES, content.length);
    // The next piece must not look like a control message.
    if (end < content.length && isControl(content.subarray(end))) end -= 1;
    yield content.subarray(at, end);
    at = end;
  }
}

/** What came of a pushed file. */
export type PushResult =
  | { readonly ok: true; readonly name: string; readonly content: Buffer }
  | { readonly ok: false; readonly reason: 'not_open' | 'wrong_md5' | 'too_large'; readonly name: string };

/** Room for a file at first. */
const FIRST_ROOM_BYTES = 4096;

/**
 * The agent's side of a push: collects pieces between start and end. A start in the middle of a file abandons that file,
 * as does `abort`. What is held is at most twice what was sent, however small the pieces.
 */
export class PushReceiver {
  readonly #mostBytes: number;
  #open: { readonly name: string; readonly md5: string } | undefined;
  #content: Buffer = Buffer.alloc(0);
  #bytes = 0;

  constructor(mostBytes: number = MAX_PUSHED_BYTES) {
    this.#mostBytes = mostBytes;
  }

  /** Whether payloads without a control header are content. */
  get open(): boolean {
    return this.#open !== undefined;
  }

  /**
   * Begins a file.
   * @returns false for a name that would leave the directory of shared files; nothing is then open
   */
  start(md5: string, name: string): boolean {
    this.abort();
    if (name.includes('..') || name.includes('\0')) return false;
    this.#open = { md5, name: name.replaceAll('/', '-').replace(/^\./, '-') };
    return true;
  }

  /** Adds a piece. @returns false when no file is open */
  add(piece: Buffer): boolean {
    if (this.#open === undefined) return false;
    const bytes = this.#bytes + piece.length;
    if (bytes > this.#mostBytes) {
      this.#content = Buffer.alloc(0);
    } else {
      if (bytes > this.#content.length) {
        const larger = Buffer.allocUnsafe(Math.max(FIRST_ROOM_BYTES, 2 * bytes));
        this.#content.copy(larger, 0, 0, this.#bytes);
        this.#content = larger;
      }
      piece.copy(this.#content, this.#bytes);
    }
    this.#bytes = bytes;
    return true;
  }

  /** Ends the file and checks it. */
  end(): PushResult {
    const open = this.#open;
    const bytes = this.#bytes;
    const content = this.#content.subarray(0, bytes);
    this.abort();
    if (open === undefined) return { ok: false, reason: 'not_open', name: '' };
    if (bytes > this.#mostBytes) return { ok: false, reason: 'too_large', name: open.name };
    if (hash('md5', content, 'hex') !== open.md5) return { ok: false, reason: 'wrong_md5', name: open.name };
    return { ok: true, name: open.name, content };
  }

  /** Forgets the file. */
  abort(): void {
    this.#open = undefined;
    this.#content = Buffer.alloc(0);
    this.#bytes = 0;
  }
}
