import { ConfigError } from '../../lib/config/config-error.js';
import type { ListedFile, Listing, ListingProblem } from '../../lib/engine/listing/listing-source.js';
import type { RuleItem } from '../../lib/engine/listing/rule-item.js';
import type { Logger } from '../../lib/log/logger.js';
import type { Caller } from '../auth/authenticator.js';
import { ApiError } from '../http/api-error.js';
import type { ManagerConfiguration } from '../manager/manager-configuration.js';
import type { DecoderItem } from './list-decoders.js';
import type { RulesetListing, RulesetPaths } from './ruleset-listing.js';
import type { RulesetResource } from './ruleset-resource.js';

/** Problems of files that were logged already; more than this and they are logged again. */
const MAX_REMEMBERED_PROBLEMS = 1000;

export type RulesetCatalogueParts = {
  readonly ruleset: RulesetListing;
  readonly configuration: ManagerConfiguration;
  readonly logger: Logger;
};

/** Rules, decoders and their files as far as a caller may see them. */
export class RulesetCatalogue {
  readonly #parts: RulesetCatalogueParts;
  readonly #reported = new Set<string>();

  constructor(parts: RulesetCatalogueParts) {
    this.#parts = parts;
  }

  /** @throws ApiError 1200 or 1500 for the configuration, 4000 when nothing may be seen */
  files(kind: RulesetResource, caller: Caller): ListedFile[] {
    const files = this.#files(kind);
    const allowed = allowedFiles(kind, caller, files);
    return files.filter(({ filename }) => allowed.has(filename));
  }

  /** Files of a name, in whatever directory. @throws ApiError 1200 or 1500 for the configuration, 4000 when they may not be seen */
  filesNamed(kind: RulesetResource, caller: Caller, filename: string): ListedFile[] {
    caller.permissions.allowedOrRefuse(`${kind.name}:read`, kind.resource, [filename]);
    return this.#files(kind).filter((file) => file.filename === filename);
  }

  /** As {@link files}. What cannot be listed is logged once, with file and line. */
  rules(kind: RulesetResource, caller: Caller): RuleItem[] {
    return this.#visible(kind, caller, (paths) => this.#parts.ruleset.rules(paths));
  }

  /** As {@link rules}. */
  decoders(kind: RulesetResource, caller: Caller): DecoderItem[] {
    return this.#visible(kind, caller, (paths) => this.#parts.ruleset.decoders(paths));
  }

  /** Text of a listed file. @throws RangeError when it is too large; the file system's error, also for a link */
  read(file: ListedFile): string {
    return this.#parts.ruleset.read(file);
  }

  #files(kind: RulesetResource): ListedFile[] {
    const { ruleset } = this.#parts;
    const paths = this.#paths(kind);
    return kind.name === 'rules' ? ruleset.ruleFiles(paths) : ruleset.decoderFiles(paths);
  }

  #visible<Item extends ListedFile>(
    kind: RulesetResource,
    caller: Caller,
    list: (paths: RulesetPaths) => Listing<Item>,
  ): Item[] {
    const allowed = allowedFiles(kind, caller, this.#files(kind));
    const { items, problems } = list(this.#paths(kind));
    this.#report(kind, problems);
    return items.filter(({ filename }) => allowed.has(filename));
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

function allowedFiles(kind: RulesetResource, caller: Caller, files: readonly ListedFile[]): Set<string> {
  const names = files.map(({ filename }) => filename);
  return caller.permissions.allowedOrRefuse(`${kind.name}:read`, kind.resource, names);
}
