import { basename, dirname, resolve } from 'node:path';
import {
  DiskRulesetFileSystem,
  type ReadFailure,
  type RulesetFileSystem,
} from '../../../lib/engine/load/ruleset-file-system.js';
import type { ChangedFile } from './tests-order.js';

const NOT_FOUND: ReadFailure = { errno: 2, text: 'No such file or directory' };

/** The files of a home as they would be with some of them changed: nothing is written. */
export class ChangedFiles implements RulesetFileSystem {
  readonly #root: string;
  readonly #disk: DiskRulesetFileSystem;
  /** By absolute path. */
  readonly #changes = new Map<string, string | null>();

  /** @param changes paths relative to the root */
  constructor(root: string, changes: readonly ChangedFile[]) {
    this.#root = root;
    this.#disk = new DiskRulesetFileSystem(root);
    for (const { path, content } of changes) this.#changes.set(resolve(root, path), content);
  }

  list(directory: string): readonly string[] | undefined {
    const path = resolve(this.#root, directory);
    const names = new Set(this.#disk.list(directory));
    for (const [file, content] of this.#changes) {
      if (dirname(file) !== path) continue;
      if (content === null) names.delete(basename(file));
      else names.add(basename(file));
    }
    return names.size === 0 ? this.#disk.list(directory) : [...names];
  }

  read(path: string): string | ReadFailure {
    const changed = this.#changes.get(resolve(this.#root, path));
    if (changed === undefined) return this.#disk.read(path);
    // Texts of rulesets are byte strings.
    return changed === null ? NOT_FOUND : Buffer.from(changed, 'utf8').toString('latin1');
  }
}
