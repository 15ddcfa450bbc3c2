import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isErrno } from '../../../lib/files/is-errno.js';
import type { Logger } from '../../../lib/log/logger.js';
import { type AlertPlace, comparePlaces, FIRST_PLACE, parsePlace, placeText } from './alert-place.js';
import { type AlertSegment, SegmentDamage } from './alert-segment.js';
import type { OpenSegment } from './open-segment.js';
import { SegmentCache } from './segment-cache.js';
import { type SegmentCaches, SegmentFile } from './segment-file.js';
import { UNFINISHED, writeSegment } from './write-segment.js';

/** How long alerts are kept, and how much of them. */
export type StoreLimits = {
  /** Days; 0: for ever. */
  readonly days: number;
  /** Bytes on the disk; 0: no limit. */
  readonly bytes: number;
};

/** Alerts from one place to another that are not in the store, though others around them are. */
export type StoreGap = { readonly from: AlertPlace; readonly end: AlertPlace };

const EXTENSION = '.segment';
const DAMAGED = 'damaged';
const DIRECTORY_MODE = 0o750;
/** Damaged segments that are kept, the last ones: each may be large. */
const MOST_DAMAGED = 4;
const DAY_MS = 86_400_000;
/** Memory for columns and pages that were read, about. */
const COLUMN_BYTES = 24 * 1024 * 1024;
const PAGE_BYTES = 8 * 1024 * 1024;

/**
 * The sealed segments of the store, files that never change: `PLACE.segment`, by where the first alert lies in alerts.json. Each
 * begins where the one before ends, so the last one says how far the files of alerts are read, and a missing one what is missing.
 */
export class AlertStore {
  readonly #directory: string;
  readonly #log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly #caches: SegmentCaches = { columns: new SegmentCache(COLUMN_BYTES), pages: new SegmentCache(PAGE_BYTES) };
  /** In order. */
  readonly #segments: SegmentFile[] = [];
  readonly #gaps: StoreGap[] = [];

  /** @throws Error of the file system */
  constructor(directory: string, log: Pick<Logger, 'info' | 'warn' | 'error'>) {
    this.#directory = directory;
    this.#log = log;
    mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
    this.#openAll();
  }

  /** In the order of writing. */
  get segments(): readonly SegmentFile[] {
    return this.#segments;
  }

  /** What is to be made anew out of the files of alerts. */
  get gaps(): readonly StoreGap[] {
    return this.#gaps;
  }

  /** Whether there is a gap that ends there. */
  hasGapTo(end: AlertPlace): boolean {
    return this.#gaps.some((gap) => comparePlaces(gap.end, end) === 0);
  }

  /** How far the files of alerts are read; undefined when nothing was stored. */
  get end(): AlertPlace | undefined {
    return this.#segments.at(-1)?.end;
  }

  /** Bytes on the disk. */
  get bytes(): number {
    return this.#segments.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Makes a segment a file; a gap that it fills is one no more. @throws Error of the file system; it can be tried again */
  async seal(segment: OpenSegment): Promise<void> {
    const path = join(this.#directory, `${placeText(segment.from)}${EXTENSION}`);
    await writeSegment(segment, path);
    const sealed = SegmentFile.open(path, this.#caches);
    const behind = this.#segments.findIndex(({ from }) => comparePlaces(from, sealed.from) > 0);
    this.#segments.splice(behind < 0 ? this.#segments.length : behind, 0, sealed);
    const gap = this.#gaps.findIndex(({ from }) => comparePlaces(from, sealed.from) === 0);
    const filled = this.#gaps[gap];
    if (filled === undefined) return;
    const rest = comparePlaces(sealed.end, filled.end) < 0 ? [{ from: sealed.end, end: filled.end }] : [];
    this.#gaps.splice(gap, 1, ...rest);
  }

  /**
   * Removes the oldest segments that are too old or too much. The last one stays: it says how far the files are read.
   * @param now epoch milliseconds
   */
  retain({ days, bytes }: StoreLimits, now: number): void {
    let total = this.bytes;
    let removed = 0;
    for (let first = this.#segments[0]; first !== undefined && this.#segments.length > 1; first = this.#segments[0]) {
      const isOld = days > 0 && first.newest < now - days * DAY_MS;
      if (!isOld && !(bytes > 0 && total > bytes)) break;
      rmSync(first.path, { force: true });
      total -= first.bytes;
      removed += 1;
      this.#segments.shift();
      this.#dropGapsBefore(first.end);
    }
    if (removed > 0) {
      this.#log.info(`Removed ${String(removed)} segments of the alert store: too old, or all take too much room.`);
    }
  }

  /** Moves a segment that is damaged away: what was in it is a gap then. */
  setAside(damage: SegmentDamage): void {
    const index = this.#segments.findIndex(({ path }) => path === damage.path);
    const segment = this.#segments[index];
    if (segment === undefined) return;
    this.#segments.splice(index, 1);
    this.#moveAway(damage);
    this.#gaps.push({ from: segment.from, end: segment.end });
  }

  #openAll(): void {
    const names = readdirSync(this.#directory);
    for (const name of names.filter((each) => each.endsWith(UNFINISHED))) rmSync(join(this.#directory, name));
    const found = names
      .map((name) => ({ name, place: name.endsWith(EXTENSION) ? parsePlace(basename(name, EXTENSION)) : undefined }))
      .filter((each): each is { name: string; place: AlertPlace } => each.place !== undefined)
      .sort((a, b) => comparePlaces(a.place, b.place));
    let reached: AlertPlace | undefined;
    for (const { name, place } of found) {
      const segment = this.#open(join(this.#directory, name), reached);
      reached ??= place;
      if (segment === undefined) continue;
      if (comparePlaces(reached, segment.from) < 0) this.#gaps.push({ from: reached, end: segment.from });
      this.#segments.push(segment);
      reached = segment.end;
    }
    for (const { from } of this.#gaps) {
      this.#log.warn(
        `The alert store lacks alerts from '${placeText(from)}' on: they are read from logs/alerts again.`,
      );
    }
  }

  /** @param reached end of the one before. @returns undefined when it is damaged; it is moved away */
  #open(path: string, reached: AlertPlace | undefined): SegmentFile | undefined {
    try {
      const segment = SegmentFile.open(path, this.#caches);
      if (comparePlaces(segment.from, reached ?? FIRST_PLACE) >= 0) return segment;
      throw new SegmentDamage(path, 'it has alerts of the one before');
    } catch (error) {
      if (!(error instanceof SegmentDamage)) throw error;
      this.#moveAway(error);
      return undefined;
    }
  }

  #moveAway(damage: SegmentDamage): void {
    const aside = join(this.#directory, DAMAGED);
    mkdirSync(aside, { recursive: true, mode: DIRECTORY_MODE });
    const path = join(aside, basename(damage.path));
    try {
      renameSync(damage.path, path);
    } catch (error) {
      // It was removed by hand.
      if (!isErrno(error, 'ENOENT')) throw error;
    }
    this.#log.error(
      `The alert store: ${damage.message}. It was moved to '${path}', and its alerts are read from logs/alerts again.`,
    );
    const others = readdirSync(aside).sort();
    for (const name of others.slice(0, -MOST_DAMAGED)) rmSync(join(aside, name), { force: true });
  }

  #dropGapsBefore(place: AlertPlace): void {
    const left = this.#gaps.filter(({ end }) => comparePlaces(end, place) > 0);
    this.#gaps.splice(0, this.#gaps.length, ...left);
  }
}

/** Segments and those that grow, in the order of writing. */
export function inOrder(sealed: readonly AlertSegment[], growing: readonly AlertSegment[]): AlertSegment[] {
  const filled = growing.filter(({ rows }) => rows > 0);
  return [...sealed, ...filled].sort((a, b) => comparePlaces(a.from, b.from));
}
