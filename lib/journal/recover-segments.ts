import { closeSync, fstatSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ifPresentSync } from '../files/if-present.js';
import type { DamageReport } from './journal-error.js';
import { SEGMENT_HEADER_BYTES } from './journal-limits.js';
import { decodeSegmentHeader, segmentFirst, type SegmentHeader } from './segment-header.js';
import { SegmentDamage, SegmentReader } from './segment-reader.js';
import type { Segment } from './segment-table.js';

/** What is found in the directory of a journal. */
export type RecoveredSegments = {
  readonly segments: readonly Segment[];
  /** Position of the next record: behind everything that any file ever held. */
  readonly nextPosition: number;
  /** Whether the newest segment cannot go on at `nextPosition`. */
  readonly needsSegment: boolean;
  /**
   * The last file, where a crash left none with a header: it says that those before it were not needed any more, and stays until
   * another one is begun.
   */
  readonly begun: string | undefined;
  /** Undefined when every file is as it was left. */
  readonly damage: DamageReport | undefined;
};

/** Positions known from elsewhere. */
export type KnownPositions = {
  /** Up to here records were acknowledged, and more may have been. */
  readonly marked: number;
  /** Up to here nobody needs the records any more. */
  readonly committed: number;
};

type SegmentFile = {
  readonly path: string;
  readonly first: number;
  readonly size: number;
  readonly header: SegmentHeader | undefined;
};

/**
 * Reads the headers of all segments and the whole newest one. Nothing is changed, but for files that a crash left
 * without a header, which are removed beside others.
 * @throws the system's error when directory or files cannot be read
 */
export function recoverSegments(directory: string, { marked, committed }: KnownPositions): RecoveredSegments {
  const files = readSegments(directory);
  let floor = Math.max(marked, committed);
  const empty: string[] = [];
  for (let last = files.at(-1); last !== undefined && isWithoutRecords(last); last = files.at(-1)) {
    // Made just before a crash: it holds no record, but its position was given away.
    floor = Math.max(floor, last.first);
    empty.push(last.path);
    files.pop();
  }
  const begun = files.length === 0 ? empty.shift() : undefined;
  for (const path of empty) removeQuietly(path);
  const segments = files.map((file, index) => toSegment(file, files[index + 1]));
  const newest = segments.at(-1);
  if (newest === undefined) {
    const reason = 'the files of the journal are not there';
    const lost = { kind: 'lost', file: directory, offset: 0, bytes: 0, from: committed, to: floor, reason } as const;
    // What lies between is no record where a crash left what was never acknowledged.
    const isLost = begun === undefined ? floor > 0 : committed < marked;
    return { segments, nextPosition: floor, needsSegment: true, begun, damage: isLost ? lost : undefined };
  }
  const fileEnd = newest.end;
  const scan = scanSegment(newest);
  // Either may be gone: the mark is never synced, and records can be damaged.
  const known = Math.max(marked, scan.safe);
  const safe = Math.max(known, committed);
  // Damage of nothing but records that were safe does not end the segment: readers, too, go on behind it.
  const tail = scan.damage.find(({ to }) => to > safe || to === fileEnd);
  newest.end = tail?.from ?? fileEnd;
  const nextPosition = Math.max(fileEnd, floor, safe);
  const needsSegment = newest.end !== nextPosition || newest.key === undefined;
  const at = {
    file: newest.path,
    offset: SEGMENT_HEADER_BYTES + newest.end - newest.first,
    bytes: fileEnd - newest.end,
  };
  let damage: DamageReport | undefined;
  const from = Math.max(newest.end, committed);
  if (from < known) {
    damage = { kind: 'lost', ...at, from, to: known, reason: tail?.reason ?? 'the file ends before' };
  } else if (tail !== undefined) {
    damage = { kind: 'torn', ...at, from: newest.end, to: fileEnd, reason: tail.reason };
  }
  return { segments, nextPosition, needsSegment, begun: undefined, damage };
}

/** Files of segments by position. */
function readSegments(directory: string): SegmentFile[] {
  const files: SegmentFile[] = [];
  for (const name of namesIn(directory)) {
    const first = segmentFirst(name);
    if (first === undefined) continue;
    const path = join(directory, name);
    const fd = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
      const read = readSync(fd, bytes, 0, SEGMENT_HEADER_BYTES, 0);
      const header = decodeSegmentHeader(bytes.subarray(0, read), first);
      files.push({ path, first, size: fstatSync(fd).size, header });
    } finally {
      closeSync(fd);
    }
  }
  return files.sort((a, b) => a.first - b.first);
}

/** @returns nothing for a directory that is not there: it may be on a disk that takes none yet */
function namesIn(directory: string): string[] {
  return ifPresentSync(() => readdirSync(directory)) ?? [];
}

/** Where it fails, the file stays: what is begun in its place removes it again. */
function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Nothing depends on it.
  }
}

function isWithoutRecords({ size, header }: SegmentFile): boolean {
  return size < SEGMENT_HEADER_BYTES || (size === SEGMENT_HEADER_BYTES && header === undefined);
}

function toSegment({ path, first, size, header }: SegmentFile, next: SegmentFile | undefined): Segment {
  const fileEnd = first + Math.max(0, size - SEGMENT_HEADER_BYTES);
  // The next segment knows best: behind that there may be remains of a write that failed, and before it everything must
  // be there.
  const said = next?.header?.previousEnd ?? fileEnd;
  const end = Math.max(first, Math.min(said, next?.first ?? said));
  return { path, first, previousEnd: header?.previousEnd ?? first, key: header?.key, end, bytes: size };
}

/** All damages of a segment, and the highest position that one of its records says was safe. */
function scanSegment(segment: Segment): { readonly damage: readonly SegmentDamage[]; readonly safe: number } {
  const { path, first, key, end } = segment;
  const damage: SegmentDamage[] = [];
  let safe = 0;
  if (key === undefined) return { damage, safe };
  const reader = new SegmentReader({ path, first, key });
  try {
    for (let position = first; position < end;) {
      const found = reader.read(position, end);
      if (found instanceof SegmentDamage) {
        damage.push(found);
        position = found.to;
      } else {
        position = found.next;
        safe = Math.max(safe, reader.safe);
      }
    }
  } finally {
    reader.close();
  }
  return { damage, safe };
}
