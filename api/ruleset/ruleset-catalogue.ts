import { ConfigError } from '../../lib/config/config-error.js';
import type { ListedFile, Listing, ListingProblem } from '../../lib/engine/listing/listing-source.js';
import type { RuleItem } from '../../lib/engine/listing/rule-item.js';
import type { Logger } from '../../lib/log/logger.js';
import { ApiError } from '../http/api-error.js';
import type { ManagerConfiguration } from '../manager/manager-configuration.js';
import type { PermittedIds } from '../rbac/permitted-ids.js';
import type { DecoderItem } from './list-decoders.js';
import type { RulesetListing, RulesetPaths } from './ruleset-listing.js';
import type { RulesetResource } from './ruleset-resource.js';

/** Problems of files that were logged already; more than this and they are logged again. */
const MAX_REMEMBERED_PROBLEMS = 1000;

/** Different parts of a listing that are kept: each is as long as the ruleset, at most. */
const MAX_FILTERED = 32;

export type RulesetCatalogueParts = {
  readonly ruleset: RulesetListing;
  readonly configuration: ManagerConfiguration;
  readonly logger: Logger;
};

/** Rules, decoders and their files as far as a caller may see them. */
export class RulesetCatalogue {
  readonly #parts: RulesetCatalogueParts;
  readonly #reported = new Set<string>();
  /** What callers see of a listing that do not see all of it, by the files that they see. */
  readonly #filtered = new WeakMap<Listing<ListedFile>, Map<string, readonly ListedFile[]>>();

  constructor(parts: RulesetCatalogueParts) {
    this.#parts = parts;
  }

  /** @throws ApiError 1200 or 1500 for the configuration, 4000 when nothing may be seen */
  files(kind: RulesetResource, permitted: PermittedIds): ListedFile[] {
    const files = this.#files(kind);
    const allowed = allowedFiles(permitted, files);
    return files.filter(({ filename }) => allowed.has(filename));
  }

  /** Files of a name that may be seen, in whatever directory. @throws ApiError 1200 or 1500 for the configuration */
  filesNamed(kind: RulesetResource, filename: string): ListedFile[] {
    return this.#files(kind).filter((file) => file.filename === filename);
  }

  /**
   * As {@link files}. What cannot be listed is logged once, with file and line. The same object for all who see the same of
   * the same ruleset, and for nobody else.
   */
  rules(kind: RulesetResource, permitted: PermittedIds): readonly RuleItem[] {
    return this.#visible(kind, permitted, (paths) => this.#parts.ruleset.rules(paths));
  }

  /** As {@link rules}. */
  decoders(kind: RulesetResource, permitted: PermittedIds): readonly DecoderItem[] {
    return this.#visible(kind, permitted, (paths) => this.#parts.ruleset.decoders(paths));
  }

  /** Text of a listed file. @throws RangeError when it is too large; the file system's error, also for a link */
  read(file: ListedFile): string {
    return this.#parts.ruleset.read(file);
  }

  #files(kind: RulesetResource): readonly ListedFile[] {
    const { ruleset } = this.#parts;
    const paths = this.#paths(kind);
    return kind.name === 'rules' ? ruleset.ruleFiles(paths) : ruleset.decoderFiles(paths);
  }

  #visible<Item extends ListedFile>(
    kind: RulesetResource,
    permitted: PermittedIds,
    list: (paths: RulesetPaths) => Listing<Item>,
  ): readonly Item[] {
    const files = this.#files(kind);
    const allowed = allowedFiles(permitted, files);
    const listing = list(this.#paths(kind));
    this.#report(kind, listing.problems);
    if (files.every(({ filename }) => allowed.has(filename))) return listing.items;
    let filtered = this.#filtered.get(listing);
    if (filtered === undefined) this.#filtered.set(listing, (filtered = new Map<string, readonly ListedFile[]>()));
    // Names of files have no slash.
    const key = [...allowed].sort().join('/');
    const known = filtered.get(key);
    // The map is that of the very listing, so what is in it are its items.
    if (known !== undefined) return known as readonly Item[];
    const items = listing.items.filter(({ filename }) => allowed.has(filename));
    if (filtered.size >= MAX_FILTERED) filtered.clear();
    filtered.set(key, items);
    return items;
  }

  #paths(kind: RulesetResource): RulesetPaths {
    try {
      return this.#parts.configuration.ruleset();
    } catch (error) {
      if (error instanceof ConfigError) throw new ApiError(kind.errors.configuration, { extra: error.message });
      throw error;
    }
  }

  #report(kind: RulesetResource, problems: readonly ListingProblem[]): void {
    for (const { relative_dirname, filename, line, message } of problems) {
      const place = `${relative_dirname}/${filename}${line > 0 ? `, line ${line}` : ''}`;
      const text = `${kind.title} cannot be listed: ${place}: ${message}`;
      if (this.#reported.has(text)) continue;
      if (this.#reported.size >= MAX_REMEMBERED_PROBLEMS) this.#reported.clear();
      this.#reported.add(text);
      this.#parts.logger.warn(text);
    }
  }
}

function allowedFiles(permitted: PermittedIds, files: readonly ListedFile[]): ReadonlySet<string> {
  return permitted.of(files.map(({ filename }) => filename));
}
