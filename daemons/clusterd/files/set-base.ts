import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { manifestFiles } from '../../../lib/cluster/record-kinds.js';
import { writeFileDurably } from '../../../lib/files/write-file-durably.js';
import { type Manifest, manifestId, manifestOf } from './manifest.js';
import type { SetPlace } from './set-place.js';

const stored = z.object({ key: z.string(), revision: z.number().int().min(0), files: manifestFiles });

/** A set of the cluster that is in force here: what the next change of either side is compared with. */
export type SetBase = { readonly revision: number; readonly id: string; readonly files: Manifest };

/** A longer key is named by its sum: file systems take 255 bytes. */
const MAX_NAME = 200;

/**
 * What this node has taken over of each set, on the disk: written when all of it is in place, so that a process that dies in
 * the middle does it again.
 */
export class SetBases {
  readonly #directory: string;

  /** @param directory `{home}/queue/cluster/files`; made when needed */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Undefined when there is none, or it cannot be read: then all is taken from the cluster, and nothing is lost. */
  load(place: SetPlace): SetBase | undefined {
    try {
      const { key, revision, files } = stored.parse(JSON.parse(readFileSync(this.#path(place.key), 'utf8')));
      if (key !== place.key) return undefined;
      const manifest = manifestOf(place, files);
      return { revision, id: manifestId(manifest), files: manifest };
    } catch {
      return undefined;
    }
  }

  /** @throws the file system's error */
  async keep({ key }: SetPlace, { revision, files }: SetBase): Promise<void> {
    mkdirSync(this.#directory, { recursive: true, mode: 0o750 });
    const text = JSON.stringify({ key, revision, files: [...files.values()] });
    await writeFileDurably(this.#path(key), text, { mode: 0o640 });
  }

  forget(key: string): void {
    rmSync(this.#path(key), { force: true });
  }

  /** Forgets all: this node has just joined, and has nothing in common with the cluster yet. */
  clear(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #path(key: string): string {
    const name = key.length > MAX_NAME ? hash('sha256', key) : key.replace('/', '@');
    return join(this.#directory, `${name}.json`);
  }
}
