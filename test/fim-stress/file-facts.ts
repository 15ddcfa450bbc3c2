import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { EMPTY_HASHES } from '../../lib/fim/entry-checksum.js';
import { permissionText } from '../../lib/fim/permission-text.js';

/** What is known of a file, each as alerts write it behind `_after`; `mtime` in epoch seconds. */
export type FileFacts = Readonly<Record<(typeof FACTS)[number], string>>;

/** Their names, in the order of alerts (integrity-and-inventory.md 6.4). */
export const FACTS = ['size', 'perm', 'uid', 'gid', 'md5', 'sha1', 'sha256', 'mtime', 'inode'] as const;

/** A file as it is read from the disk; it is not read again while it has the same stamp. */
type Remembered = { readonly stamp: string; readonly facts: FileFacts };

/** Reads what is on the disk below some directories, in its own way: nothing of the product looks for files here. */
export class FilesOnDisk {
  readonly #roots: readonly string[];
  #remembered = new Map<string, Remembered>();

  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  /** Regular files and links by path. */
  read(): Map<string, FileFacts> {
    const seen = new Map<string, Remembered>();
    for (const root of this.#roots) this.#enter(root, seen);
    this.#remembered = seen;
    return new Map([...seen].map(([path, { facts }]) => [path, facts]));
  }

  #enter(directory: string, seen: Map<string, Remembered>): void {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = `${directory}/${entry.name}`;
      if (entry.isDirectory()) this.#enter(path, seen);
      else if (entry.isFile() || entry.isSymbolicLink()) seen.set(path, this.#look(path));
    }
  }

  #look(path: string): Remembered {
    const stats = lstatSync(path, { bigint: true });
    const stamp = `${stats.dev}:${stats.ino}:${stats.size}:${stats.ctimeNs}:${stats.mtimeNs}`;
    const before = this.#remembered.get(path);
    return before?.stamp === stamp ? before : { stamp, facts: factsOf(path, stats) };
  }
}

function factsOf(path: string, stats: BigIntStats): FileFacts {
  return {
    size: String(stats.size),
    perm: permissionText(Number(stats.mode)),
    uid: String(stats.uid),
    gid: String(stats.gid),
    ...(stats.isFile() ? hashes(readFileSync(path)) : EMPTY_HASHES),
    mtime: String(stats.mtimeNs / 1_000_000_000n),
    inode: String(stats.ino),
  };
}

function hashes(content: Buffer): Record<'md5' | 'sha1' | 'sha256', string> {
  const digest = (name: string): string => createHash(name).update(content).digest('hex');
  return { md5: digest('md5'), sha1: digest('sha1'), sha256: digest('sha256') };
}

/** Names of the facts that differ; all of them when one side is missing. */
export function differingFacts(one: FileFacts | undefined, other: FileFacts | undefined): string[] {
  if (one === undefined && other === undefined) return [];
  if (one === undefined || other === undefined) return [one === undefined ? 'missing' : 'gone'];
  return FACTS.filter((name) => one[name] !== other[name]);
}
