import { type BigIntStats, readdirSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { lookAt } from './file-identity.js';

/** Entries of a directory that are looked through. */
const MAX_ENTRIES = 10_000;
/** Files of one name that are taken up: more rotations than anybody makes between two looks. */
const MAX_FILES = 1000;

/** A file that had a followed name while nobody looked. */
export type PassedOver = { readonly path: string; readonly stats: BigIntStats };

/**
 * Files that were made after the one that was followed under a name, and were renamed since, as rotation does: they had the
 * name between two looks and hold what nobody has read. Those of a file system that does not say when a file was made are
 * not found.
 *
 * @param path the name
 * @param after when the file that was followed was made, nanoseconds
 * @param before when the one was made that has the name now; undefined when none has
 * @param isKnown whether a file is followed, or was
 * @returns oldest first
 */
export function findPassedOver(
  path: string,
  after: bigint,
  before: bigint | undefined,
  isKnown: (stats: BigIntStats) => boolean,
): PassedOver[] {
  const directory = dirname(path);
  const about = lookAt(directory);
  // A directory that something was renamed in changed after it was made; both times are the same where the first is not known.
  if (about === undefined || about.birthtimeNs >= about.ctimeNs) {
    return [];
  }
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
      const stats = lookAt(candidate);
      return stats?.isFile() === true && wasMadeBetween(stats, after, before) && !isKnown(stats)
        ? [{ path: candidate, stats }]
        : [];
    })
    .sort((a, b) => Number(a.stats.birthtimeNs - b.stats.birthtimeNs))
    .slice(0, MAX_FILES);
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
