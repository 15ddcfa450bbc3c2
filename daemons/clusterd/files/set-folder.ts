import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { removeTree } from '../../../lib/files/remove-tree.js';
import { syncDirectoryNow } from '../../../lib/files/sync-directory.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { KeptVersions } from './kept-versions.js';
import { foldersOf, type Manifest } from './manifest.js';
import type { MergePlan } from './merge-sets.js';
import { readLocal, type SetScan } from './scan-set.js';
import type { SetBase } from './set-base.js';
import type { SetContents } from './set-contents.js';
import type { SetPlace } from './set-place.js';
import { SetWriter } from './set-writer.js';

/** Folders on their way in and out: no group has such a name (lib/groups/group-folders.ts). */
const INCOMING = '#new-';
const OUTGOING = '#old-';
const FOLDER_MODE = 0o770;
/** Conflicts that are named one by one. */
const MAX_NAMED = 20;

export type SetFolderParts = {
  readonly place: SetPlace;
  readonly contents: SetContents;
  readonly kept: KeptVersions;
  readonly logger: Logger;
};

/** The folder of a set as it is written: made, changed and taken away. What was changed here and goes is kept before. */
export class SetFolder {
  constructor(private readonly parts: SetFolderParts) {}

  /** Makes it as a whole: it is not there yet. @throws MissingContentError, BusError, the file system's error */
  async make(theirs: Manifest): Promise<void> {
    const { place, contents } = this.parts;
    const incoming = join(dirname(place.folder), INCOMING + randomBytes(8).toString('hex'));
    mkdirSync(incoming, { mode: FOLDER_MODE });
    try {
      chmodSync(incoming, FOLDER_MODE);
      const writer = new SetWriter(incoming);
      for (const path of theirs.keys()) writer.stage(path, await contents.file(place, path, theirs));
      writer.switch(() => true);
      writer.sync();
      // An empty folder of that name gives way; one with files in it does not.
      renameSync(incoming, place.folder);
    } catch (error) {
      removeTree(incoming);
      throw error;
    }
    syncDirectoryNow(dirname(place.folder));
  }

  /**
   * Makes the folder what the plan says.
   * @param from the node that the set is of, and whether nothing was in common with the cluster before
   * @returns false when a file changed meanwhile: it is to be looked at anew
   * @throws MissingContentError, BusError, the file system's error
   */
  async change(
    plan: MergePlan,
    theirs: Manifest,
    scan: SetScan,
    from: { readonly node: string; readonly isFirst: boolean },
  ): Promise<boolean> {
    const { place, contents } = this.parts;
    if (!(await this.#keepConflicts(plan, scan, from))) return false;
    const writer = new SetWriter(place.folder);
    const unchanged = (path: string): boolean => writer.isStill(path, scan.files.get(path)?.stamp);
    const written = new Set([...plan.write, ...plan.write.flatMap(foldersOf)]);
    const remove = (paths: readonly string[]): boolean => {
      for (const path of paths) {
        if (!unchanged(path)) return false;
        writer.remove(path);
      }
      return true;
    };
    // A file where a folder is to be, and files where a file is to be, go before.
    const inTheWay = plan.remove.filter((path) => written.has(path) || foldersOf(path).some((at) => written.has(at)));
    try {
      if (!remove(inTheWay)) return false;
      writer.tidy(place.tops ?? []);
      for (const path of plan.write) writer.stage(path, await contents.file(place, path, theirs));
      if (!writer.switch(unchanged)) return false;
      if (!remove(plan.remove.filter((path) => !inTheWay.includes(path)))) return false;
      writer.tidy(place.tops ?? []);
      writer.sync();
      return true;
    } finally {
      writer.discard();
    }
  }

  /** @returns false when a file changed meanwhile */
  async #keepConflicts(
    { conflicts }: MergePlan,
    scan: SetScan,
    { node, isFirst }: { readonly node: string; readonly isFirst: boolean },
  ): Promise<boolean> {
    if (conflicts.size === 0) return true;
    const how = isFirst ? `are other ones in the cluster (node '${node}')` : `were changed here and by node '${node}'`;
    return this.#keepVersions([...conflicts], scan, how);
  }

  async #keepVersions(paths: readonly string[], scan: SetScan, how: string): Promise<boolean> {
    const { place, kept, logger } = this.parts;
    const folder = kept.begin();
    const names: string[] = [];
    for (const path of paths) {
      const file = scan.files.get(path);
      const content = file === undefined ? undefined : await readLocal(place, file);
      if (content === undefined) return false;
      await kept.keep(folder, `${place.shown}/${path}`, content);
      names.push(path);
    }
    const shown = names.slice(0, MAX_NAMED).map((path) => `${place.shown}/${path}`);
    const more = names.length > MAX_NAMED ? ` and ${String(names.length - MAX_NAMED)} more` : '';
    logger.warn(
      `Files ${how}: those of the cluster count, the ones of this node are kept in ${folder}: ${shown.join(', ')}${more}.`,
    );
    return true;
  }

  /** Takes it away: the group was removed elsewhere. @returns false when a file changed meanwhile @throws the file system's error */
  async remove(group: string, scan: SetScan, base: SetBase): Promise<boolean> {
    const { place, logger } = this.parts;
    const own = [...scan.files.values()].filter(({ path, sha256 }) => base.files.get(path)?.sha256 !== sha256);
    const paths = own.map(({ path }) => path);
    const how = `of the group '${group}', which was removed in the cluster, were changed here`;
    if (paths.length > 0 && !(await this.#keepVersions(paths, scan, how))) return false;
    const writer = new SetWriter(place.folder);
    if (![...scan.files.values()].every(({ path, stamp }) => writer.isStill(path, stamp))) return false;
    const outgoing = join(dirname(place.folder), OUTGOING + randomBytes(8).toString('hex'));
    renameSync(place.folder, outgoing);
    syncDirectoryNow(dirname(place.folder));
    removeTree(outgoing);
    logger.info(`The group '${group}' was removed in the cluster, and its folder here.`);
    return true;
  }
}
