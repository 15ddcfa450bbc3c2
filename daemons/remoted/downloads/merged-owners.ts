import { readdir } from 'node:fs/promises';
import { MERGED_FILE } from '../../../lib/agentlink/merged-file.js';
import type { Home } from '../../../lib/home/home.js';
import type { MergedRecord } from './merged-record.js';
import { fileHash } from './place-download.js';

/**
 * Which groups have a downloaded merged file in force, so that nothing is merged for them here (agents-and-groups.md 8).
 * After a download that fails the files of the group's own folder are merged; where it has none, the merged file that was
 * downloaded last stays: agents do not lose their configuration to a server that is away.
 */
export class MergedOwners {
  readonly #home: Home;
  readonly #record: MergedRecord;
  readonly #owned = new Set<string>();

  constructor(home: Home, record: MergedRecord) {
    this.#home = home;
    this.#record = record;
  }

  has(group: string): boolean {
    return this.#owned.has(group);
  }

  /** Takes up what an earlier process has downloaded, where it is still in place. */
  async start(): Promise<void> {
    await this.#record.load();
    for (const group of this.#record.groups()) {
      if (await this.isInPlace(group)) this.#owned.add(group);
    }
  }

  /**
   * Forgets groups that files.yml lists no longer with a merged file.
   * @returns those that are merged here from now on
   */
  async keepOnly(listed: ReadonlySet<string>): Promise<string[]> {
    const gone = this.#record.groups().filter((group) => !listed.has(group));
    for (const group of gone) {
      this.#owned.delete(group);
      await this.#record.set(group, undefined);
    }
    return gone;
  }

  /** A merged file is about to be put in place. */
  claim(group: string): void {
    this.#owned.add(group);
  }

  /** @param sha256 of the merged file in place */
  async succeeded(group: string, sha256: string): Promise<void> {
    this.#owned.add(group);
    await this.#record.set(group, sha256);
  }

  async failed(group: string): Promise<void> {
    if (!this.#owned.has(group)) return;
    if (!(await this.isInPlace(group)) || (await this.#hasOwnFiles(group))) this.#owned.delete(group);
  }

  /** Whether the merged file of the group is the one that was downloaded last. */
  async isInPlace(group: string): Promise<boolean> {
    const recorded = this.#record.get(group);
    if (recorded === undefined) return false;
    return (await fileHash(this.#home.path('etc', 'shared', group, MERGED_FILE))) === recorded;
  }

  /** Whether there is anything that could be merged instead (6.4). */
  async #hasOwnFiles(group: string): Promise<boolean> {
    const names = await readdir(this.#home.path('etc', 'shared', group)).catch((): string[] => []);
    return names.some((name) => !name.startsWith('.') && !name.startsWith(MERGED_FILE) && !name.endsWith('.tmp'));
  }
}
