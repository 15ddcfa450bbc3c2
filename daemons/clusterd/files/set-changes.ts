import type { SharedRecords } from '../../../lib/cluster/shared-records.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { FileRecords } from './file-records.js';
import type { FileSet, LocalChange } from './file-set.js';
import type { GroupTable } from './group-table.js';
import type { SetContents, SetRecord } from './set-contents.js';

export type SetChangesParts = {
  readonly records: Pick<FileRecords, 'inForce'>;
  readonly shared: Pick<SharedRecords, 'change'>;
  readonly contents: Pick<SetContents, 'bring'>;
  readonly groups: Pick<GroupTable, 'tell'>;
  readonly logger: Logger;
};

/** Brings what was changed here into the cluster: contents first, then the manifest, if nobody was quicker. */
export class SetChanges {
  constructor(private readonly parts: SetChangesParts) {}

  /**
   * Brings what is changed in a set.
   * @returns milliseconds after which to look again; undefined when it is in force @throws BusError, ScanError
   */
  async bring(set: Pick<FileSet, 'published'>, { place, files, base }: LocalChange): Promise<number | undefined> {
    const record = await this.parts.contents.bring(place, files, base?.files);
    if (record === undefined) return 0;
    if (!(await this.#decide(place.key, base?.revision ?? 0, record))) return 0;
    const inForce = this.parts.records.inForce(place.key);
    if (inForce?.record.id !== record.id) return 0;
    await set.published(inForce.revision, files);
    if (place.group !== undefined && base === undefined) this.parts.groups.tell(place.group, true);
    this.parts.logger.info(
      `${place.shown}: what was changed here is in force in the cluster (revision ${String(inForce.revision)}).`,
    );
    return undefined;
  }

  /** The folder of a group was removed. @returns whether it is known to all @throws BusError */
  async bringRemoval(key: string, group: string, revision: number): Promise<boolean> {
    if (!(await this.#decide(key, revision, null))) return false;
    this.parts.groups.tell(group, false);
    this.parts.logger.info(`The group '${group}' was removed here, and in the cluster.`);
    return true;
  }

  /** @returns false when another node was quicker */
  #decide(key: string, basis: number, value: SetRecord | null): Promise<boolean> {
    return this.parts.shared.change(() => {
      const isSame = (this.parts.records.inForce(key)?.revision ?? 0) === basis;
      return { changes: isSame ? [{ kind: 'files', key, value }] : [], result: isSame, isUnbinding: true };
    });
  }
}
