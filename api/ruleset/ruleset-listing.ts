import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { RulesetConfig } from '../../lib/config/sections/ruleset.js';
import { listRules } from '../../lib/engine/listing/list-rules.js';
import type { ListedFile, Listing, ListingSource } from '../../lib/engine/listing/listing-source.js';
import type { RuleItem } from '../../lib/engine/listing/rule-item.js';
import { ifPresentSync } from '../../lib/files/if-present.js';
import { readFileBelow } from '../../lib/files/read-below.js';
import type { Home } from '../../lib/home/home.js';
import { type DecoderItem, listDecoders } from './list-decoders.js';

/** Largest file listed; a file that somebody let grow, or a device behind a link, must not fill the API's memory. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/**
 * How long what was seen of the files holds, milliseconds: looking at all of a ruleset again takes longer than any answer that
 * is ready. What the API itself changes is seen at once.
 */
const LOOK_AGAIN_MS = 250;

/** The `ruleset` section as far as it names files with rules and decoders. */
export type RulesetPaths = Omit<RulesetConfig, 'list'>;

type CachedListing<Item> = {
  readonly stamp: string;
  readonly status: ListedFile['status'];
  readonly listing: Listing<Item>;
};

/** All files of one kind as they were seen last. */
type SeenFiles<Item> = {
  readonly paths: RulesetPaths;
  readonly at: number;
  readonly files: readonly ListedFile[];
  /** Undefined until somebody wants more than the names. */
  listing: Listing<Item> | undefined;
};

/** What is known of the files of one kind. */
class KnownFiles<Item> {
  readonly byPath = new Map<string, CachedListing<Item>>();
  seen: SeenFiles<Item> | undefined;
  /** The last listing, and the parts it was put together of. */
  whole: { readonly parts: readonly Listing<Item>[]; readonly listing: Listing<Item> } | undefined;
}

/**
 * Rules and decoders in the files of a home, for the listing of the API (rules-and-alerts.md 10.1). A file is read again
 * when its size, inode or time of change differs, which is looked at a few times a second; an unchanged ruleset is the same
 * object again and again.
 */
export class RulesetListing {
  readonly #home: Home;
  readonly #monotonic: () => number;
  readonly #rules = new KnownFiles<RuleItem>();
  readonly #decoders = new KnownFiles<DecoderItem>();

  /** @param monotonic milliseconds of a clock that never goes back */
  constructor(home: Home, monotonic: () => number) {
    this.#home = home;
    this.#monotonic = monotonic;
  }

  /** Files with rules: `rule_include`, then every `*.xml` of each `rule_dir`, in that order, each once. */
  ruleFiles(paths: RulesetPaths): readonly ListedFile[] {
    return this.#lookAtRules(paths).files;
  }

  /** Files with decoders, as `ruleFiles`. */
  decoderFiles(paths: RulesetPaths): readonly ListedFile[] {
    return this.#lookAtDecoders(paths).files;
  }

  /** Rules of all files, in the order of the files, and what could not be read. */
  rules(paths: RulesetPaths): Listing<RuleItem> {
    const seen = this.#lookAtRules(paths);
    return (seen.listing ??= this.#list(seen.files, this.#rules, listRules));
  }

  /** Decoders of all files, in the order of the files, and what could not be read. */
  decoders(paths: RulesetPaths): Listing<DecoderItem> {
    const seen = this.#lookAtDecoders(paths);
    return (seen.listing ??= this.#list(seen.files, this.#decoders, listDecoders));
  }

  /** Files were changed: the next request looks at them. */
  changed(): void {
    this.#rules.seen = undefined;
    this.#decoders.seen = undefined;
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

  #lookAtRules(paths: RulesetPaths): SeenFiles<RuleItem> {
    return this.#lookAt(this.#rules, paths, () =>
      this.#files(paths.rule_include, 'ruleset/rules', paths.rule_dir, paths.rule_exclude),
    );
  }

  #lookAtDecoders(paths: RulesetPaths): SeenFiles<DecoderItem> {
    return this.#lookAt(this.#decoders, paths, () =>
      this.#files(paths.decoder_include, 'ruleset/decoders', paths.decoder_dir, paths.decoder_exclude),
    );
  }

  #lookAt<Item>(known: KnownFiles<Item>, paths: RulesetPaths, find: () => ListedFile[]): SeenFiles<Item> {
    const now = this.#monotonic();
    const { seen } = known;
    if (seen !== undefined && seen.paths === paths && now - seen.at < LOOK_AGAIN_MS) return seen;
    return (known.seen = { paths, at: now, files: find(), listing: undefined });
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

  /** The same object as before when the files are. */
  #list<Item>(
    files: readonly ListedFile[],
    known: KnownFiles<Item>,
    read: (source: ListingSource) => Listing<Item>,
  ): Listing<Item> {
    const seen = new Set<string>();
    const parts = files.map((file) => {
      const path = this.pathOf(file);
      seen.add(path);
      return this.#cached(path, file, known.byPath, read).listing;
    });
    for (const path of known.byPath.keys()) {
      if (!seen.has(path)) {
        known.byPath.delete(path);
      }
    }
    const before = known.whole;
    const same = before?.parts.length === parts.length && parts.every((part, index) => part === before.parts[index]);
    if (before !== undefined && same) return before.listing;
    const listing = {
      items: parts.flatMap(({ items }) => items),
      problems: parts.flatMap(({ problems }) => problems),
    };
    known.whole = { parts, listing };
    return listing;
  }

  #cached<Item>(
    path: string,
    file: ListedFile,
    cache: Map<string, CachedListing<Item>>,
    read: (source: ListingSource) => Listing<Item>,
  ): CachedListing<Item> {
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
      const stamp = `unreadable: ${message}`;
      const before = cache.get(path);
      if (before?.stamp === stamp) return before;
      const listing = { items: [], problems: [{ filename, relative_dirname, line: 0, message }] };
      const failed = { stamp, status, listing };
      cache.set(path, failed);
      return failed;
    }
  }
}
