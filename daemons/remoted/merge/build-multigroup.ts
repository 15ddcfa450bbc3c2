import { buildMergedFile, groupHash, type MergedEntry, parseMergedFile } from '../../../lib/agentlink/merged-file.js';
import { MAX_CONFIGURATION_BYTES } from '../../../lib/config/configuration-file.js';
import { NO_AGENT_CONF, withAgentConf } from './needed-files.js';
import { MAX_MERGED_BYTES } from './shared-limits.js';
import { AGENT_CONF, AR_CONF, compareSharedNames } from './shared-names.js';

/** A group of the list with its merged file. */
export type MergedGroup = {
  readonly group: string;
  readonly merged: Buffer;
  /** Whether its first file is the ar.conf that all groups have. */
  readonly hasSharedArConf: boolean;
};

/** The files of several groups are too many or too large together. */
export class MultigroupTooLargeError extends Error {
  override readonly name = 'MultigroupTooLargeError';
}

/**
 * Files of several groups as one (agents-and-groups.md 6.6): those of a later group replace those of an earlier one, the
 * agent.conf files follow each other. The groups' merged files are what they are taken from, so that what one group does
 * not distribute does not come along with two.
 */
export class MultigroupBuilder {
  readonly #files = new Map<string, Buffer>();
  /** Folders of the files by their path, so that a file of one group and a folder of another are told apart. */
  readonly #folders = new Set<string>();
  readonly #conf: Buffer[] = [];

  /** @throws MergedFileError for a merged file that cannot be taken apart; MultigroupTooLargeError */
  add({ group, merged, hasSharedArConf }: MergedGroup): void {
    for (const { name, content } of parseMergedFile(merged).slice(hasSharedArConf ? 1 : 0)) {
      if (name !== AGENT_CONF) {
        this.#put(name, content);
      } else if (!content.equals(NO_AGENT_CONF)) {
        this.#conf.push(Buffer.from(`<!-- Source file: ${group}/${name} -->\n`), content);
      }
    }
    const conf = this.#conf.reduce((sum, { length }) => sum + length, 0);
    if (conf > MAX_CONFIGURATION_BYTES) {
      throw new MultigroupTooLargeError(
        `its agent.conf has more than ${String(MAX_CONFIGURATION_BYTES)} bytes, the most that agents read`,
      );
    }
    const bytes = [...this.#files.values(), ...this.#conf].reduce((sum, { length }) => sum + length, 0);
    if (bytes > MAX_MERGED_BYTES) {
      throw new MultigroupTooLargeError(
        `its files have more than ${String(MAX_MERGED_BYTES)} bytes, the most that is sent to agents`,
      );
    }
  }

  /** The merged file of the list. */
  build(groups: readonly string[], arConf: Buffer | undefined): Buffer {
    const files: MergedEntry[] = [...this.#files].map(([name, content]) => ({ name, content }));
    if (this.#conf.length > 0) files.push({ name: AGENT_CONF, content: Buffer.concat(this.#conf) });
    files.sort((a, b) => compareSharedNames(a.name, b.name));
    const shared: MergedEntry[] = arConf === undefined ? [] : [{ name: AR_CONF, content: arConf }];
    return buildMergedFile(groupHash(groups), [...shared, ...withAgentConf(files)]);
  }

  /** A file takes the place of a folder of the same name and the other way round: agents could not have both. */
  #put(name: string, content: Buffer): void {
    for (let slash = name.indexOf('/'); slash >= 0; slash = name.indexOf('/', slash + 1)) {
      const folder = name.slice(0, slash);
      this.#files.delete(folder);
      this.#folders.add(folder);
    }
    if (this.#folders.delete(name)) {
      for (const other of [...this.#files.keys()]) if (other.startsWith(`${name}/`)) this.#files.delete(other);
      for (const other of [...this.#folders]) if (other.startsWith(`${name}/`)) this.#folders.delete(other);
    }
    this.#files.set(name, content);
  }
}
