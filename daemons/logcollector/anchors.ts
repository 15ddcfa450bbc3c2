import type { FileHandle } from 'node:fs/promises';
import { hashHead, readTail } from './fingerprint.js';
import type { SavedFile } from './position-store.js';

/** An earlier position, and the bytes that stood before it, in hex. */
export type Anchor = { readonly offset: string; readonly tail: string };

/** Anchors of one file, which is in the positions of every file. */
const MAX_ANCHORS = 32;
/** Distances from the position are told apart by powers of this number. */
const SCALE = 4;
/** Bytes before an anchor that must be there for it to prove anything, as hex digits. */
const MIN_PROOF_DIGITS = 32;

/**
 * The anchors to keep beside a position: many close to it, few far away. Of each scale of distance the oldest is kept,
 * which moves on to the next scale, and the newest, which then takes its place.
 * @param anchors oldest first
 * @param offset the position itself
 */
export function thinAnchors(anchors: readonly Anchor[], offset: number): Anchor[] {
  const behind = anchors.filter((anchor) => Number(anchor.offset) < offset);
  const scaleOf = (anchor: Anchor | undefined): number =>
    anchor === undefined ? -1 : Math.floor(Math.log(offset - Number(anchor.offset)) / Math.log(SCALE));
  return behind
    .filter((anchor, at) => {
      const scale = scaleOf(anchor);
      return scaleOf(behind[at - 1]) !== scale || scaleOf(behind[at + 1]) !== scale;
    })
    .slice(-MAX_ANCHORS);
}

/**
 * How far a file, whose position does not hold any more, is still the one that was read. A log is not synced by whoever
 * writes it: a power cut takes its last half minute, and new lines stand where others were read.
 * @returns the offset of the last anchor that is found; 0 when there is none
 */
export async function lastIntact(handle: FileHandle, size: number, saved: SavedFile): Promise<number> {
  const hashed = Number(saved.hashed ?? saved.offset);
  for (const { offset: digits, tail } of [...(saved.anchors ?? [])].reverse()) {
    const offset = Number(digits);
    if (offset > size || tail.length < MIN_PROOF_DIGITS || (await readTail(handle, offset)) !== tail) {
      continue;
    }
    return hashed > offset || (await hashHead(handle, hashed)) === saved.hash ? offset : 0;
  }
  return 0;
}
