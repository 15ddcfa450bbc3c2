import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MERGED_FILE } from '../../../lib/agentlink/merged-file.js';
import { ifPresentSync } from '../../../lib/files/if-present.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { MultigroupBuilder } from './build-multigroup.js';
import { MergedOnDisk } from './merged-on-disk.js';
import { ProblemLog } from './problem-log.js';
import type { GroupCheckParts, SharedGroup } from './shared-group.js';

const FOLDER_MODE = 0o770;

/** A list of several groups that agents have, and the merged file made for it in var/multigroups. */
export class SharedMultigroup {
  readonly merged: MergedOnDisk;
  readonly #problems: ProblemLog;
  #signature = '';

  /** @param folder absolute; made when needed */
  constructor(
    readonly groups: readonly string[],
    readonly folder: string,
    logger: Logger,
  ) {
    this.merged = new MergedOnDisk(folder);
    this.#problems = new ProblemLog(logger, `multigroup '${groups.join(',')}'`);
  }

  /**
   * Builds the merged file when one of the groups changed or somebody else wrote to the folder.
   * @param merges whether the file is built here; otherwise it is only read
   * @param find the group of a name; undefined for one that is gone
   */
  async look(
    looking: GroupCheckParts,
    merges: boolean,
    find: (group: string) => SharedGroup | undefined,
  ): Promise<void> {
    try {
      if (merges) await this.#build(looking, find);
      else if (!this.merged.isSame()) await this.merged.read(looking.breather);
      this.#problems.report([], () => true);
    } catch (error) {
      this.#signature = '';
      const list = this.groups.join(',');
      const text = `The merged file of multigroup '${list}' stays as it is: ${describeError(error)}`;
      const mended = `The merged file of multigroup '${list}' is kept up to date again.`;
      this.#problems.report([{ path: this.merged.path, level: 'error', text, mended }], () => true);
    }
  }

  async #build(looking: GroupCheckParts, find: (group: string) => SharedGroup | undefined): Promise<void> {
    const { arConf, breather, logger } = looking;
    const groups = this.groups.map(find).filter((group) => group !== undefined);
    // A group that has never been read would be missing: the list waits for it.
    if (groups.length === 0 || groups.some(({ merged }) => merged.sum === undefined)) return;
    const signature = [...groups.map(({ name, merged }) => `${name}:${String(merged.sum)}`), arConf.sum].join(' ');
    const strange = this.#strangeEntries();
    const isTouched = this.#signature !== '' && (strange.length > 0 || !this.merged.isSame());
    if (isTouched) {
      logger.warn(`Multigroup '${this.groups.join(',')}' was modified from outside, so it was regenerated.`);
    } else if (signature === this.#signature && strange.length === 0) {
      return;
    }
    // Whatever the umask says: tools read it as members of the group.
    if (mkdirSync(this.folder, { recursive: true, mode: FOLDER_MODE }) !== undefined) {
      chmodSync(this.folder, FOLDER_MODE);
    }
    for (const name of strange) rmSync(join(this.folder, name), { recursive: true, force: true });
    const builder = new MultigroupBuilder();
    for (const { name, merged, hasSharedArConf } of groups) {
      const content = looking.held(merged.sum ?? '') ?? (await merged.content(breather));
      // Somebody else changed it a moment ago: the group is looked at, and this list after it.
      if (content === undefined) return;
      builder.add({ group: name, merged: content, hasSharedArConf });
      await breather.breathe();
    }
    const content = builder.build(this.groups, arConf.content);
    if ((await this.merged.write(content, breather, false)) && this.merged.sum !== undefined) {
      looking.built(this.merged.sum, content);
    }
    this.#signature = signature;
  }

  /** What does not belong into the folder. */
  #strangeEntries(): string[] {
    const names = ifPresentSync(() => readdirSync(this.folder)) ?? [];
    return names.filter((name) => name !== MERGED_FILE);
  }
}
