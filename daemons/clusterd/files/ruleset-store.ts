import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import {
  RULESET_FOLDERS,
  RULESET_POINTER,
  rulesetFolder,
  rulesetInForce,
} from '../../../lib/cluster/ruleset-in-force.js';
import { ifPresentSync } from '../../../lib/files/if-present.js';
import { removeTree } from '../../../lib/files/remove-tree.js';
import { syncDirectoryNow } from '../../../lib/files/sync-directory.js';
import { writeFileAtomically } from '../../../lib/files/write-file-atomically.js';
import type { Home } from '../../../lib/home/home.js';
import { type Manifest, manifestId } from './manifest.js';
import { SetScanner } from './scan-set.js';
import type { SetContents } from './set-contents.js';
import { placeOf, RULESET, type SetPlace } from './set-place.js';
import { SetWriter } from './set-writer.js';

const FOLDER_MODE = 0o750;
const INCOMING = 'incoming-';

/**
 * Rulesets of the cluster on this node, each whole in a folder that nobody changes, and which of them is in force:
 * svc-analysisd reads that one, so it never sees half of an update, nor what is being edited in etc.
 */
export class RulesetStore {
  readonly #home: Home;
  readonly #contents: SetContents;
  readonly #place: SetPlace;
  /** Those that were found to be whole since the start. */
  readonly #whole = new Set<string>();

  constructor(home: Home, contents: SetContents) {
    this.#home = home;
    this.#contents = contents;
    const place = placeOf(home, RULESET);
    if (place === undefined) throw new TypeError('the ruleset has a place');
    this.#place = place;
  }

  /** Id of the ruleset in force on this node. */
  get inForce(): string | undefined {
    return rulesetInForce(this.#home);
  }

  /**
   * Has a ruleset on the disk, whole.
   * @throws BusError `cluster_unavailable`, MissingContentError, ManifestError, the file system's error
   */
  async have(id: string, files: Manifest): Promise<void> {
    const folder = this.#home.path(rulesetFolder(id));
    if (this.#whole.has(id) || (existsSync(folder) && (await this.#isWhole(id, folder)))) return;
    const incoming = join(this.#directory(), INCOMING + id.slice(0, 16));
    removeTree(incoming);
    mkdirSync(incoming, { recursive: true, mode: FOLDER_MODE });
    const writer = new SetWriter(incoming);
    for (const name of RULESET_FOLDERS) mkdirSync(join(incoming, name), { mode: FOLDER_MODE });
    for (const path of files.keys()) writer.stage(path, await this.#contents.file(this.#place, path, files));
    writer.switch(() => true);
    writer.sync();
    removeTree(folder);
    renameSync(incoming, folder);
    syncDirectoryNow(this.#directory());
    this.#whole.add(id);
  }

  /** Makes one that is on the disk the ruleset of this node. @throws the file system's error */
  enforce(id: string): void {
    if (this.inForce === id) return;
    writeFileAtomically(this.#home.path(RULESET_POINTER), `${id}\n`, { mode: 0o640, durable: true });
    syncDirectoryNow(this.#directory());
  }

  /** Removes all but these. */
  retain(ids: ReadonlySet<string>): void {
    const names = ifPresentSync(() => readdirSync(this.#directory(), { withFileTypes: true })) ?? [];
    for (const entry of names) {
      if (!entry.isDirectory() || ids.has(entry.name)) continue;
      removeTree(join(this.#directory(), entry.name));
      this.#whole.delete(entry.name);
    }
  }

  /** A power cut may have left one that is not. */
  async #isWhole(id: string, folder: string): Promise<boolean> {
    const scan = await new SetScanner({ ...this.#place, shown: rulesetFolder(id), folder })
      .scan()
      .catch(() => undefined);
    if (scan === undefined || scan.torn || manifestId(scan.files) !== id) return false;
    this.#whole.add(id);
    return true;
  }

  #directory(): string {
    return join(this.#home.path(RULESET_POINTER), '..');
  }
}
