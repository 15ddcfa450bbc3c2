import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { RulesetConfig } from '../../lib/config/sections/ruleset.js';
import { listRules } from '../../lib/engine/listing/list-rules.js';
import type { ListedFile, Listing, ListingProblem, ListingSource } from '../../lib/engine/listing/listing-source.js';
import type { RuleItem } from '../../lib/engine/listing/rule-item.js';
import { ifPresentSync } from '../../lib/files/if-present.js';
import { readFileBelow } from '../../lib/files/read-below.js';
import type { Home } from '../../lib/home/home.js';
import { type DecoderItem, listDecoders } from './list-decoders.js';

/** Largest file listed; a file that somebody let grow, or a device behind a link, must not fill the API's memory. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** The `ruleset` section as far as it names files with rules and decoders. */
export type RulesetPaths = Omit<RulesetConfig, 'list'>;

type CachedListing<Item> = {
  readonly stamp: string;
  readonly status: ListedFile['status'];
  readonly listing: Listing<Item>;
};

/**
 * Rules and decoders in the files of a home, for the listing of the API (rules-and-alerts.md 10.1). A file is read again
 * when its size, inode or time of change differs; a listing of an unchanged ruleset costs one `stat` a file.
 */
export class RulesetListing {
  readonly #home: Home;
  readonly #rules = new Map<string, CachedListing<RuleItem>>();
  readonly #decoders = new Map<string, CachedListing<DecoderItem>>();

  constructor(home: Home) {
    this.#home = home;
  }

  /** Files with rules: `rule_include`, then every `*.xml` of each `rule_dir`, in that order, each once. */
  ruleFiles(paths: RulesetPaths): ListedFile[] {
    return this.#files(paths.rule_include, 'ruleset/rules', paths.rule_dir, paths.rule_exclude);
  }

  /** Files with decoders, as `ruleFiles`. */
  decoderFiles(paths: RulesetPaths): ListedFile[] {
    return this.#files(paths.decoder_include, 'ruleset/decoders', paths.decoder_dir, paths.decoder_exclude);
  }

  /** Rules of all files, in the order of the files, and what could not be read. */
  rules(paths: RulesetPaths): Listing<RuleItem> {
    return this.#list(this.ruleFiles(paths), this.#rules, listRules);
  }

  /** Decoders of all files, in the order of the files, and what could not be read. */
  decoders(paths: RulesetPaths): Listing<DecoderItem> {
    return this.#list(this.decoderFiles(paths), this.#decoders, listDecoders);
  }

  /** Absolute path of a listed file. */
  pathOf(file: Pick<ListedFile, 'filename' | 'relative_dirname'>): string {
    const { filename, relative_dirname: directory } = file;
    return isAbsolute(directory) ? join(directory, filename) : this.#home.path(directory, filename);
  }

  /**
   * Text of a listed file. No link is followed below the home, or below a directory elsewhere that the configuration names.
   * @throws RangeError for a file that is too large; the file system's error
   */
  read({ filename, relative_dirname: directory }: Pick<ListedFile, 'filename' | 'relative_dirname'>): string {
    const elsewhere = isAbsolute(directory) || directory.startsWith('..');
    const content = elsewhere
      ? readFileBelow(resolve(this.#home.root, directory), filename, MAX_FILE_BYTES)
      : readFileBelow(this.#home.root, `${directory}/${filename}`, MAX_FILE_BYTES);
    return content.toString('utf8');
  }

  #files(
    includes: readonly string[],
    includeDirectory: string,
    directories: readonly { readonly path: string }[],
    excludes: readonly string[],
  ): ListedFile[] {
    const files = new Map<string, ListedFile>();
    const add = (path: string, status: ListedFile['status']): void => {
      const file = { filename: basename(path), relative_dirname: this.#relative(dirname(path)), status };
      const key = `${file.relative_dirname}/${file.filename}`;
      if (!files.has(key)) {
        files.set(key, file);
      }
    };
    for (const include of includes) {
      add(include.includes('/') ? include : `${includeDirectory}/${include}`, 'enabled');
    }
    const excluded = new Set(excludes.map((path) => basename(path)));
    for (const { path } of directories) {
      for (const name of this.#xmlFiles(path)) {
        add(join(path, name), excluded.has(name) ? 'disabled' : 'enabled');
      }
    }
    return [...files.values()];
  }

  /** Names of `*.xml` in a directory, sorted; a directory that is not there has none. */
  #xmlFiles(path: string): string[] {
    const directory = isAbsolute(path) ? path : this.#home.path(path);
    const names = ifPresentSync(() => readdirSync(directory)) ?? [];
    return names.filter((name) => name.endsWith('.xml')).sort();
  }

  #relative(path: string): string {
    if (!isAbsolute(path)) {
      return join(path);
    }
    const inside = relative(this.#home.root, path);
    return inside === '' || inside.startsWith('..') ? path : inside;
  }

  #list<Item>(
    files: readonly ListedFile[],
    cache: Map<string, CachedListing<Item>>,
    read: (source: ListingSource) => Listing<Item>,
  ): Listing<Item> {
    const items: Item[] = [];
    const problems: ListingProblem[] = [];
    const seen = new Set<string>();
    for (const file of files) {
      const path = this.pathOf(file);
      seen.add(path);
      const { listing } = this.#cached(path, file, cache, read);
      // Not push(...): a file may hold more rules than a call takes arguments.
      for (const item of listing.items) {
        items.push(item);
      }
      problems.push(...listing.problems);
    }
    for (const path of cache.keys()) {
      if (!seen.has(path)) {
        cache.delete(path);
      }
    }
    return { items, problems };
  }

  #cached<Item>(
    path: string,
    file: ListedFile,
    cache: Map<string, CachedListing<Item>>,
    read: (source: ListingSource) => Listing<Item>,
  ): Pick<CachedListing<Item>, 'listing'> {
    const { filename, relative_dirname, status } = file;
    try {
      // Synchronous on purpose: some hundred calls take less than a millisecond, and a tenth of the promises' time.
      const { size, mtimeMs, ctimeMs, ino } = statSync(path);
      const stamp = `${String(size)} ${String(mtimeMs)} ${String(ctimeMs)} ${String(ino)}`;
      const before = cache.get(path);
      if (before?.stamp === stamp && before.status === status) {
        return before;
      }
      const fresh = { stamp, status, listing: read({ file, content: this.read(file) }) };
      cache.set(path, fresh);
      return fresh;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { listing: { items: [], problems: [{ filename, relative_dirname, line: 0, message }] } };
    }
  }
}
