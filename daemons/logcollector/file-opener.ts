import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { EventStream } from '../../lib/bus/event-stream.js';
import { hasWildcard } from '../../lib/files/name-pattern.js';
import type { Logger } from '../../lib/log/logger.js';
import { lastIntact } from './anchors.js';
import type { FoundFile } from './file-finder.js';
import { type FileIdentity, identityOf, inodeKey, isSameInode } from './file-identity.js';
import type { FileSource } from './file-source.js';
import { FollowedFile } from './followed-file.js';
import type { OpenStream } from './follower-parts.js';
import { fileErrorText, type OnceLog } from './once-log.js';
import type { Outlet } from './outlet.js';
import type { SavedFile } from './position-store.js';
import { endOfLastLine, isSavedFile } from './resume-point.js';

/** Bytes in which a zero byte makes a file a binary one. */
const BINARY_PROBE_BYTES = 1024;

/** How a file came to be opened; decides where reading begins when no position was saved. */
export type OpenReason =
  /** Its location was not followed before: only what comes from now on, if the block says so. */
  | 'first'
  /** It appeared under a location that was followed: everything in it is new. */
  | 'appeared'
  /** It has the inode of one that was followed and lost its name: what is left of that is read, and of no other file. */
  | 'renamed'
  /** It is the copy of one that was cut: what is left of that is read here, on the stream of that. */
  | 'copy';

export type FileOpenerParts = {
  /** Opens a path for reading, without waiting for a pipe. */
  readonly openFile: (path: string) => Promise<FileHandle>;
  readonly openStream: OpenStream;
  readonly makeOutlet: (source: FileSource, path: string, stream: EventStream | undefined) => Outlet;
  readonly logger: Logger;
  readonly log: OnceLog;
  /** `logcollector.sample_log_length` */
  readonly sampleBytes: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly monotonic: () => number;
  /** The present run of the host. */
  readonly boot: string;
};

/** Opens files at the place where reading is to go on (product.md 10, `only-future-events`). */
export class FileOpener {
  readonly #parts: FileOpenerParts;
  #generation = 0;

  constructor(parts: FileOpenerParts) {
    this.#parts = parts;
  }

  /**
   * The file, not yet prepared; undefined when it cannot or is not to be followed, which is said once. `exchanged`: another
   * file has the name since it was found, so that what was found about it, such as its position, is not of this one.
   */
  async open(
    found: FoundFile,
    occasion: OpenReason,
    saved: SavedFile | undefined,
  ): Promise<FollowedFile | 'exchanged' | undefined> {
    const { path } = found;
    const { log } = this.#parts;
    let handle: FileHandle | undefined;
    const seenAt = this.#parts.now();
    try {
      handle = await this.#parts.openFile(path);
      const stats = await handle.stat({ bigint: true });
      if (!isSameInode(identityOf(found.stats), stats)) {
        await handle.close();
        return 'exchanged';
      }
      if (stats.isFile() && !(await this.#isUnwanted(found, handle))) {
        return await this.#follow({ ...found, stats }, handle, occasion, saved, seenAt);
      }
      await handle.close();
    } catch (error) {
      await handle?.close();
      log.say(path, 'error', `(1103): Could not open file '${path}' due to ${fileErrorText(error)}.`);
    }
    return undefined;
  }

  async #isUnwanted({ path, source }: FoundFile, handle: FileHandle): Promise<boolean> {
    if (!source.config.ignore_binaries) {
      return false;
    }
    const buffer = Buffer.alloc(BINARY_PROBE_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    const binary = buffer.subarray(0, bytesRead).includes(0);
    if (binary) {
      this.#parts.log.say(path, 'info', `'${path}' holds binary data and is not followed.`);
    }
    return binary;
  }

  async #follow(
    { path, source, stats }: FoundFile,
    handle: FileHandle,
    occasion: OpenReason,
    saved: SavedFile | undefined,
    seenAt: number,
  ): Promise<FollowedFile | undefined> {
    const { openStream, makeOutlet, logger, log, sampleBytes, monotonic, boot } = this.#parts;
    const known = saved !== undefined && (await isSavedFile(handle, stats, saved));
    const anew = saved !== undefined || occasion === 'appeared';
    const rebooted = saved?.boot !== undefined && saved.boot !== boot;
    const intact = rebooted && !known ? await lastIntact(handle, Number(stats.size), saved) : 0;
    if ((occasion === 'renamed' || occasion === 'copy') && !known && intact === 0) {
      await handle.close();
      return undefined;
    }
    const offset = known ? Number(saved.offset) : anew ? intact : await this.#firstOffset(path, source, handle, stats);
    if (intact > 0) {
      logger.warn(`'${path}' lost its end when the host went down: it is read from ${String(intact)} on.`);
    } else if (saved !== undefined && !known) {
      logger.info(`'${path}' is not the file that was read before: it is read from its start.`);
    }
    const identity: FileIdentity = {
      ...identityOf(stats),
      generation: (known ? saved.generation : undefined) ?? this.#nextGeneration(),
    };
    const name = (known ? otherStream(saved, occasion) : undefined) ?? `${inodeKey(identity)}:${identity.generation}`;
    const acknowledged = known && saved.acknowledged !== undefined ? Number(saved.acknowledged) : undefined;
    const sent = acknowledged ?? offset;
    // Where a power cut took events from the sink they are read again; older positions do not say what it should have.
    const options = { rewind: acknowledged !== undefined };
    const stream = source.config.target.includes('agent') ? openStream(name, sent, options) : undefined;
    const outlet = makeOutlet(source, path, stream);
    log.forget(path);
    const isNew = occasion === 'appeared' && saved === undefined && hasWildcard(source.config.location);
    logger.info(
      isNew
        ? `(1957): New file that matches the '${source.config.location}' pattern: '${path}'.`
        : `(1950): Analyzing file: '${path}'.`,
    );
    const recorded = known && saved.generation !== undefined && occasion !== 'copy';
    const now = monotonic;
    const anchors = (saved?.anchors ?? []).filter((anchor) => Number(anchor.offset) <= offset);
    return new FollowedFile({
      ...{ path, identity, source, handle, offset, sent, recorded, rebooted, anchors, boot, seenAt },
      born: stats.birthtimeNs,
      anew: saved !== undefined && !known && intact === 0,
      ...{ stream, outlet, logger, sampleBytes, now },
    });
  }

  async #firstOffset(path: string, source: FileSource, handle: FileHandle, stats: BigIntStats): Promise<number> {
    const size = Number(stats.size);
    const { enabled, maxSize } = source.config['only-future-events'];
    if (!enabled && size > maxSize) {
      this.#parts.logger.warn(
        `'${path}' holds ${String(size)} bytes, more than max-size (${String(maxSize)}): it is followed from its end.`,
      );
    }
    return enabled || size > maxSize ? endOfLastLine(handle, size) : 0;
  }

  /** A number that no file had before, in this process or an earlier one. */
  #nextGeneration(): string {
    this.#generation = Math.max(this.#generation + 1, this.#parts.now());
    return this.#generation.toString(36);
  }
}

/** The stream of a file that goes on with what is left of another one. */
function otherStream(saved: SavedFile, occasion: OpenReason): string | undefined {
  const { stream, device, inode, generation } = saved;
  if (stream !== undefined || occasion !== 'copy' || generation === undefined) return stream;
  return device === undefined || inode === undefined ? undefined : `${inodeKey({ device, inode })}:${generation}`;
}
