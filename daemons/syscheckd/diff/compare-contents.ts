import {
  BINARY_LOOK_BYTES,
  binaryDiff,
  countLines,
  isBinary,
  linesDiff,
  MAX_DIFF_BYTES,
  sharedStart,
  type TextPart,
  wholeDiff,
} from './diff-text.js';

/**
 * Bytes of each content that are compared line by line, from the line on that the first difference is in: all of a file
 * of the default limit (`<diff><file_size>`, 50 MB). What is larger behind that line counts as changed as a whole.
 */
const WINDOW_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;

/** A content in pieces that stay what they are. */
export type Content = AsyncIterable<Buffer>;

/** What both are called where one is not text. */
export type ContentNames = { readonly before: string; readonly after: string };

/**
 * What changed from one content to another (integrity-and-inventory.md 3.10), in bounded memory whatever their size.
 * @returns byte string; empty when nothing did
 * @throws what the contents throw
 */
export async function compareContents(
  before: Content,
  after: Content,
  names: ContentNames,
  windowBytes = WINDOW_BYTES,
): Promise<string> {
  const [left, right] = [new Pieces(before), new Pieces(after)];
  try {
    const shared = await skipShared(left, right, windowBytes);
    if (shared === undefined) return '';
    const [old, young] = [await gather(left, shared, windowBytes), await gather(right, shared, windowBytes)];
    if (left.binary || right.binary) return binaryDiff(names);
    return old.whole && young.whole
      ? linesDiff(old.beginning, young.beginning, shared.lines)
      : wholeDiff(old, young, shared.lines);
  } finally {
    await Promise.all([left.close(), right.close()]);
  }
}

/** What two contents begin with. */
type Shared = {
  /** Whole lines. */
  readonly lines: number;
  /** Beginning of the line in which they differ. */
  readonly line: readonly Buffer[];
  /** Bytes of it; more than are in `line` when it is too long. */
  readonly lineBytes: number;
};

/** Goes to the first difference; undefined when there is none. */
async function skipShared(left: Pieces, right: Pieces, windowBytes: number): Promise<Shared | undefined> {
  let lines = 0;
  let lineBytes = 0;
  let line: Buffer[] = [];
  for (;;) {
    const [more, other] = [await left.fill(), await right.fill()];
    if (!more && !other) return undefined;
    const length = Math.min(left.piece.length, right.piece.length);
    const same = sharedStart(left.piece.subarray(0, length), right.piece.subarray(0, length));
    const part = left.piece.subarray(0, same);
    const begin = part.lastIndexOf(NEWLINE) + 1;
    if (begin > 0) {
      lines += countLines(part, 0, begin);
      [line, lineBytes] = [[], 0];
    }
    if (lineBytes + same - begin <= windowBytes) line.push(part.subarray(begin));
    lineBytes += same - begin;
    left.skip(same);
    right.skip(same);
    if (same < length || !more || !other) return { lines, line, lineBytes };
  }
}

/** What is left of a content from the line on that differs. */
async function gather(pieces: Pieces, shared: Shared, windowBytes: number): Promise<TextPart & { whole: boolean }> {
  let kept = [...shared.line];
  let keptBytes = sum(kept);
  let [bytes, lines] = [shared.lineBytes, 0];
  // The last byte decides whether another line follows.
  let last = bytes > 0 ? 0 : NEWLINE;
  while (await pieces.fill()) {
    const { piece } = pieces;
    bytes += piece.length;
    if (bytes <= windowBytes || keptBytes <= MAX_DIFF_BYTES) {
      kept.push(piece);
      keptBytes += piece.length;
    } else if (kept.length > 1) {
      // What does not fit is not compared: its beginning is enough to be shown, and the rest is only counted.
      kept = [beginningOf(kept)];
      keptBytes = sum(kept);
    }
    lines += countLines(piece, 0, piece.length);
    last = piece[piece.length - 1] ?? last;
    pieces.skip(piece.length);
    // The contents are none of lines then, and nothing more need be known of them.
    if (pieces.binary) break;
  }
  const whole = bytes <= windowBytes;
  return {
    beginning: whole ? Buffer.concat(kept) : beginningOf(kept),
    lines: last === NEWLINE ? lines : lines + 1,
    whole,
  };
}

/** As much as can be shown, in memory of its own. */
function beginningOf(pieces: readonly Buffer[]): Buffer {
  return Buffer.concat(pieces, Math.min(sum(pieces), MAX_DIFF_BYTES + 1));
}

function sum(pieces: readonly Buffer[]): number {
  return pieces.reduce((bytes, { length }) => bytes + length, 0);
}

/** A content that is taken from its front. */
class Pieces {
  /** What has been read and not been taken. */
  piece: Buffer = Buffer.alloc(0);
  /** Whether its beginning, as far as it was read, is that of a file which is not text. */
  binary = false;
  readonly #source: AsyncIterator<Buffer>;
  #looked = 0;

  constructor(content: Content) {
    this.#source = content[Symbol.asyncIterator]();
  }

  /** Reads on when all was taken. @returns whether there is something */
  async fill(): Promise<boolean> {
    while (this.piece.length === 0) {
      const next = await this.#source.next();
      if (next.done === true) return false;
      this.piece = next.value;
      if (this.#looked < BINARY_LOOK_BYTES) {
        this.binary ||= isBinary(this.piece.subarray(0, BINARY_LOOK_BYTES - this.#looked));
        this.#looked += this.piece.length;
      }
    }
    return true;
  }

  skip(bytes: number): void {
    this.piece = this.piece.subarray(bytes);
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }
}
