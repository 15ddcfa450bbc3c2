import { type BigIntStats, readdirSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { lookAt, lookAtLink } from './file-identity.js';

/** The clock of file times stands still for so long at most, milliseconds: the longest tick of a kernel. */
const TICK_MS = 10;
/** Entries of a directory that are looked through. */
const MAX_ENTRIES = 10_000;
/** Files of one name that are taken up: more rotations than anybody makes between two looks. */
const MAX_FILES = 1000;

/** A file with a name that rotation gives. */
export type RotatedFile = { readonly path: string; readonly stats: BigIntStats };

/**
 * Files that were made after another one was seen to have a name, and have a name of rotation now: they had it between two
 * looks and hold what nobody has read. Those of a file system that does not say when a file was made are
 * not found.
 *
 * @param path the name
 * @param other when the other one was made, nanoseconds, and when it was seen last to have the name, milliseconds
 * @param before when the one was made that has the name now; undefined when none has
 * @returns oldest first
 */
export function findPassedOver(
  path: string,
  other: { readonly born: bigint; readonly seen: number },
  before: bigint | undefined,
): RotatedFile[] {
  const about = lookAt(dirname(path));
  // A directory that something was renamed in changed after it was made; both times are the same where the first is not known.
  if (about === undefined || about.birthtimeNs >= about.ctimeNs) {
    return [];
  }
  const seen = BigInt(Math.trunc(other.seen) - TICK_MS) * 1_000_000n;
  const after = seen > other.born ? seen : other.born;
  return findRotated(path)
    .filter(({ stats }) => wasMadeBetween(stats, after, before))
    .sort((a, b) => Number(a.stats.birthtimeNs - b.stats.birthtimeNs))
    .slice(0, MAX_FILES);
}

/**
 * Files of the same directory with a name that rotation makes of one. Links are none: whoever may write there must not have
 * other files read.
 */
export function findRotated(path: string): RotatedFile[] {
  const directory = dirname(path);
  let names: string[];
  try {
    names = readdirSync(directory).slice(0, MAX_ENTRIES);
  } catch {
    return [];
  }
  const rotated = rotatedName(basename(path));
  return names
    .filter((name) => rotated.test(name))
    .flatMap((name) => {
      const candidate = join(directory, name);
      const stats = lookAtLink(candidate);
      return stats?.isFile() === true ? [{ path: candidate, stats }] : [];
    });
}

function wasMadeBetween({ birthtimeNs }: BigIntStats, after: bigint, before: bigint | undefined): boolean {
  return birthtimeNs > 0n && birthtimeNs >= after && (before === undefined || birthtimeNs <= before);
}

/** `app.log.1`, `app.log-20261126`, `app-2026-11-26.log`: the name with numbers behind it, or before its extension. */
export function rotatedName(name: string): RegExp {
  const extension = extname(name);
  const stem = name.slice(0, name.length - extension.length);
  const numbers = String.raw`[._-]\d[\d._T:-]*`;
  const inside = extension === '' ? '' : `|${literal(stem)}${numbers}${literal(extension)}`;
  return new RegExp(`^(?:${literal(name)}${numbers}${inside})$`);
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}
