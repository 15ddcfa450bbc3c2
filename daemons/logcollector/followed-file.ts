import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { EventStream } from '../../lib/bus/event-stream.js';
import type { Logger } from '../../lib/log/logger.js';
import { admitLine } from './admit-line.js';
import { type Anchor, thinAnchors } from './anchors.js';
import type { FileIdentity } from './file-identity.js';
import type { FileSource } from './file-source.js';
import { EMPTY_HASH, hashHead, HEAD_BYTES, nextTail, readTail } from './fingerprint.js';
import { LineSplitter, type LogLine } from './line-splitter.js';
import type { LogRecord, RecordAssembler } from './log-record.js';
import type { Outlet } from './outlet.js';
import type { SavedFile } from './position-store.js';

const NEWLINE_HEX = '0a';
/** Bytes read in one go. */
const CHUNK_BYTES = 65_536;

export type FollowedFileParts = {
  readonly path: string;
  readonly identity: FileIdentity;
  readonly source: FileSource;
  readonly handle: FileHandle;
  /** Offset of the first byte to read, unless the sink knows that more was taken. */
  readonly offset: number;
  /** Offset behind the last event that is known to be acknowledged. */
  readonly sent: number;
  /** Epoch milliseconds before it was opened by its name. */
  readonly seenAt: number;
  /** When it was made, nanoseconds. */
  readonly born: bigint;
  /** Whether its position was that of another file, or of what it was before it was cut. */
  readonly anew: boolean;
  /** Whether its generation is in the saved positions. */
  readonly recorded: boolean;
  /** Earlier positions in it. */
  readonly anchors: readonly Anchor[];
  /** The present run of the host. */
  readonly boot: string;
  /** Whether the position was saved in an earlier run of the host: the end of the file may have been lost since. */
  readonly rebooted: boolean;
  /** Stream to the sink of the home; absent when `agent` is no target. */
  readonly stream: EventStream | undefined;
  readonly outlet: Outlet;
  readonly logger: Logger;
  /** Bytes of a line that a warning shows. */
  readonly sampleBytes: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
};

/** What a turn of reading ended with. */
export type ReadResult =
  /** Everything that is there was read. */
  | 'idle'
  /** There is more. */
  | 'more'
  /** The sink takes nothing at the moment. */
  | 'blocked'
  /** The file is not the one that was read: it was cut, and perhaps grew again. */
  | 'truncated';

/** A file that is read to its end, again and again. */
export class FollowedFile {
  readonly identity: FileIdentity;
  readonly source: FileSource;
  /** Name under which it was found last. */
  path: string;
  /** When it was seen last to have its name, epoch milliseconds. */
  seenAt: number;
  /** Monotonic time since when its name belongs to another file, or to none. */
  rotatedAt: number | undefined = undefined;
  /** Whether files that had its name after it were looked for. */
  rotated = false;
  /** Whether it was seen to be cut: then it is only delivered, not read. */
  cut = false;
  /** Whether what was not read of it before it was cut is in a copy. */
  copied = false;
  readonly #parts: FollowedFileParts;
  readonly #outlet: Outlet;
  readonly #assembler: RecordAssembler;
  #splitter: LineSplitter;
  /** Records that the sink has not taken yet: at most those of one chunk. */
  #outbox: LogRecord[] = [];
  /** Offset behind the last record that was handed on. */
  #sent: number;
  #tail = '';
  #size = -1n;
  #changed = -1n;
  #lastLineAt = 0;
  #ready = false;
  #saved: SavedFile | undefined;
  #anchors: readonly Anchor[];
  #head: { readonly length: number; readonly hash: string } = { length: 0, hash: '' };

  constructor(parts: FollowedFileParts) {
    this.identity = parts.identity;
    this.source = parts.source;
    this.path = parts.path;
    this.seenAt = parts.seenAt;
    this.#parts = parts;
    this.#outlet = parts.outlet;
    this.#assembler = parts.source.makeAssembler(parts.path);
    this.#splitter = new LineSplitter(parts.offset);
    this.#sent = parts.sent;
    this.#anchors = parts.anchors;
  }

  get anew(): boolean {
    return this.#parts.anew;
  }

  /** Whether it may be read although positions cannot be written: it will be known again all the same. */
  get recorded(): boolean {
    return this.#parts.recorded;
  }

  /**
   * Waits until the sink has told how far it has the file; reads nothing before.
   * @returns false when the file is not what the sink had of it: then it is to be opened as another one
   */
  async prepare(): Promise<boolean> {
    if (this.#ready) {
      return true;
    }
    const { stream } = this.#parts;
    if (stream !== undefined) {
      const known = await stream.position();
      if (known < this.#sent) {
        this.#parts.logger.warn(
          `'${this.path}' is read again from ${String(known)}, not ${String(this.#sent)}: events behind it were lost.`,
        );
      }
      if (this.#parts.rebooted && known > this.#splitter.offset && !(await this.#endsLineAt(known))) {
        return false;
      }
      if (known < this.#sent || known > this.#splitter.offset) {
        this.#splitter = new LineSplitter(known);
      }
      this.#sent = known;
    }
    this.#tail = (await readTail(this.#parts.handle, this.#splitter.offset)) ?? '';
    this.#ready = true;
    return true;
  }

  async #endsLineAt(offset: number): Promise<boolean> {
    return (await readTail(this.#parts.handle, offset))?.endsWith(NEWLINE_HEX) === true;
  }

  get ready(): boolean {
    return this.#ready;
  }

  /** Whether everything read is acknowledged and nothing is held back. */
  get settled(): boolean {
    return this.#outbox.length === 0 && !this.#assembler.pending && this.#acknowledged >= this.#sent;
  }

  /** Whether everything handed on is acknowledged. */
  get delivered(): boolean {
    return this.#acknowledged >= this.#sent;
  }

  /** Whether lines are held back for longer than their format allows. */
  get overdue(): boolean {
    return this.#assembler.pending && this.#parts.now() - this.#lastLineAt >= this.#assembler.timeoutMs;
  }

  /** Whether the file, by its size and time, may hold something that was not read. */
  differsFrom(stats: BigIntStats): boolean {
    return stats.size !== this.#size || stats.mtimeNs !== this.#changed;
  }

  /**
   * Reads on.
   * @param maxLines lines after which others have their turn; 0 = no limit
   */
  async read(maxLines: number): Promise<ReadResult> {
    if (!this.#ready) {
      return 'idle';
    }
    const { handle } = this.#parts;
    if (!this.#sendOutbox()) {
      return 'blocked';
    }
    if (this.cut) {
      return 'truncated';
    }
    const stats = await handle.stat({ bigint: true });
    if (this.differsFrom(stats) && !(await this.#isSameFile(stats))) {
      return 'truncated';
    }
    this.#size = stats.size;
    this.#changed = stats.mtimeNs;
    let lines = 0;
    for (let left = Number(stats.size) - this.#splitter.offset; left > 0; left -= CHUNK_BYTES) {
      // Exactly what is there: events share its memory until they are acknowledged.
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, left));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, this.#splitter.offset);
      if (bytesRead < buffer.length) {
        left = 0;
      }
      const chunk = buffer.subarray(0, bytesRead);
      this.#tail = nextTail(this.#tail, chunk);
      const complete = this.#splitter.push(chunk);
      for (const line of complete) {
        this.#add(line);
      }
      lines += complete.length;
      if (complete.length > 0) {
        this.#lastLineAt = this.#parts.now();
      }
      if (!this.#sendOutbox()) {
        return 'blocked';
      }
      if (maxLines > 0 && lines >= maxLines) {
        return 'more';
      }
    }
    if (this.overdue) {
      this.#assembler.flush(this.#emit);
      return this.#sendOutbox() ? 'idle' : 'blocked';
    }
    return 'idle';
  }

  /** The file will not grow any more: what is incomplete is an event as it is. */
  finish(): void {
    const last = this.#splitter.finish();
    if (last !== undefined) {
      this.#add(last);
    }
    this.#assembler.flush(this.#emit);
    this.#sendOutbox();
  }

  /** Tries again to hand on what the sink had no room for; false when there is still some. */
  retry(): boolean {
    return this.#sendOutbox();
  }

  /** Where reading would go on after a crash: behind everything that is acknowledged or no event. */
  get position(): number {
    return this.settled ? Math.max(this.#sent, this.#splitter.lineStart) : this.#acknowledged;
  }

  /** The position as it is written down. */
  async saved(): Promise<SavedFile> {
    const { handle } = this.#parts;
    const offset = this.position;
    const acknowledged = this.#acknowledged;
    const last = this.#saved;
    const same = last?.offset === String(offset) && last.acknowledged === String(acknowledged);
    if (last !== undefined && same && last.path === this.path && last.rotated === this.rotated) {
      return last;
    }
    if (last !== undefined && last.offset !== String(offset) && last.tail !== undefined) {
      this.#anchors = thinAnchors([...this.#anchors, { offset: last.offset, tail: last.tail }], offset);
    }
    const hashed = Math.min(offset, HEAD_BYTES);
    if (this.#head.length !== hashed || this.#head.hash === '') {
      this.#head = { length: hashed, hash: (await hashHead(handle, hashed)) ?? '' };
    }
    this.#saved = {
      path: this.path,
      location: this.source.config.location,
      hash: this.#head.hash,
      offset: String(offset),
      acknowledged: String(acknowledged),
      hashed: String(hashed),
      tail: (await readTail(handle, offset)) ?? '',
      anchors: [...this.#anchors],
      rotated: this.rotated,
      ...this.#saidOf(),
    };
    return this.#saved;
  }

  /** The position as it was before the file was cut. What was there is not: only what is in memory proves it. */
  savedBeforeCut(): SavedFile {
    const offset = this.position;
    const read = this.#splitter.offset;
    const { length, hash } = this.#head;
    return {
      path: this.path,
      location: this.source.config.location,
      hash: hash === '' ? EMPTY_HASH : hash,
      offset: String(offset),
      acknowledged: String(this.#acknowledged),
      hashed: String(length),
      tail: this.#tail.slice(0, Math.max(0, this.#tail.length - 2 * (read - offset))),
      ...this.#saidOf(),
    };
  }

  #saidOf(): Pick<SavedFile, 'boot' | 'seen' | 'born' | 'stream' | 'device' | 'inode' | 'generation'> {
    const { boot, born, stream } = this.#parts;
    const { device, inode, generation } = this.identity;
    const other =
      stream === undefined || stream.name === `${device}:${inode}:${generation}` ? {} : { stream: stream.name };
    return { boot, seen: String(this.seenAt), born: String(born), ...this.identity, ...other };
  }

  /** Closes file and stream. What was handed on is acknowledged later all the same. */
  async close(): Promise<void> {
    this.#ready = false;
    this.#parts.stream?.close();
    this.#outlet.close();
    await this.#parts.handle.close();
  }

  get #acknowledged(): number {
    return this.#parts.stream === undefined ? this.#sent : this.#parts.stream.acknowledged;
  }

  readonly #emit = (record: LogRecord): void => {
    const dropped = this.source.filter.dropReason(record.message);
    if (dropped !== undefined) {
      this.#parts.logger.debug(dropped);
      return;
    }
    this.#outbox.push(record);
  };

  #add(line: LogLine): void {
    const { logger, sampleBytes } = this.#parts;
    if (admitLine(line, this.path, logger, sampleBytes)) {
      this.#assembler.add(line, this.#emit);
    }
  }

  #sendOutbox(): boolean {
    let sent = 0;
    for (const record of this.#outbox) {
      if (!this.#outlet.trySend(record)) {
        break;
      }
      this.#sent = record.end;
      sent += 1;
    }
    if (sent === this.#outbox.length) {
      if (sent > 0) {
        this.#outbox = [];
      }
      return true;
    }
    this.#outbox = this.#outbox.slice(sent);
    return false;
  }

  /** Whether what was read is still there: not cut, and the last bytes before the position unchanged. */
  async #isSameFile(stats: BigIntStats): Promise<boolean> {
    const { offset } = this.#splitter;
    return stats.size >= BigInt(offset) && (await readTail(this.#parts.handle, offset)) === this.#tail;
  }
}
