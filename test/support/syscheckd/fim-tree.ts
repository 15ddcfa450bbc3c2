import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DirectoryOption, SyscheckDirectory } from '../../../lib/config/sections/syscheck.js';
import { EntryThreads } from '../../../lib/fim/scan/entry-threads.js';
import { FileSystems } from '../../../lib/fim/scan/file-systems.js';
import { IgnoreList } from '../../../lib/fim/scan/path-list.js';
import { type ScannedEntry, type ScanParts, scanTree } from '../../../lib/fim/scan/scan-tree.js';
import { watchedDirectories } from '../../../lib/fim/scan/watched-directories.js';
import { removeTree } from '../remove-tree.js';

/** Depth and diff limit where nothing else is configured. */
export const TRAITS = { recursionLevel: 256, diffSizeLimit: 51_200 };

/** What a scan of a `FimTree` gave; those in the tree relative to it. */
export type TreeScanResult = { readonly entries: Map<string, ScannedEntry>; readonly skipped: Map<string, string> };

/** A directory that is scanned in a test. */
export class FimTree {
  readonly root = mkdtempSync(join(tmpdir(), 'svc-fim-'));
  readonly threads = new EntryThreads({ maxFileBytes: 1024 ** 3 }, 1);

  path(...parts: readonly string[]): string {
    return join(this.root, ...parts);
  }

  /** @param directories paths relative to the tree with their options */
  async scan(
    directories: readonly (readonly [string, ...DirectoryOption[]])[] = [['']],
    parts: Partial<ScanParts> = {},
  ): Promise<TreeScanResult> {
    const entries = new Map<string, ScannedEntry>();
    const skipped = new Map<string, string>();
    const written: SyscheckDirectory[] = directories.map(([path, ...options]) => ({ path: this.path(path), options }));
    const found = scanTree({
      directories: await watchedDirectories(written, TRAITS, {}),
      ignore: new IgnoreList([], {}),
      fileSystems: new FileSystems({ nfs: true, dev: false, sys: true, proc: true }),
      threads: this.threads,
      maxFilesPerSecond: 0,
      onSkipped: (path, reason) => skipped.set(this.#relative(path), reason),
      ...parts,
    });
    for await (const group of found) {
      for (const entry of group) entries.set(this.#relative(entry.path), entry);
    }
    return { entries, skipped };
  }

  #relative(path: string): string {
    return path.startsWith(`${this.root}/`) ? path.slice(this.root.length + 1) : path;
  }

  async remove(): Promise<void> {
    await this.threads.close();
    removeTree(this.root);
  }
}
