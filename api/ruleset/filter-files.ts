import type { ListedFile, ListingStatus } from '../../lib/engine/listing/listing-source.js';

/** Filters that rules, decoders and files share; what is absent does not filter. */
export type FileFilter = {
  /** `all` is the same as none. */
  readonly status?: ListingStatus | 'all';
  /** Any of these base names, exactly. */
  readonly filenames?: readonly string[];
  /** Text that the directory contains. */
  readonly relativeDirname?: string;
  /** The directory must be exactly `relativeDirname` (rules-and-alerts.md 10.1: so for lists of files). */
  readonly exactDirname?: boolean;
};

/** Items whose file meets the filter, in the order given. */
export function filterFiles<Item extends ListedFile>(items: readonly Item[], filter: FileFilter): Item[] {
  const { status = 'all', relativeDirname, exactDirname = false } = filter;
  const filenames = filter.filenames === undefined ? undefined : new Set(filter.filenames);
  return items.filter(
    (item) =>
      (status === 'all' || item.status === status) &&
      (filenames === undefined || filenames.has(item.filename)) &&
      (relativeDirname === undefined ||
        (exactDirname ? item.relative_dirname === relativeDirname : item.relative_dirname.includes(relativeDirname))),
  );
}
