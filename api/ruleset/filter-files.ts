import type { ListedFile, ListingStatus } from '../../lib/engine/listing/listing-source.js';

/** Filters that rules, decoders and files share, named as the parameters of the API; what is absent does not filter. */
export type FileFilter = {
  /** `all` is the same as none. */
  readonly status?: ListingStatus | 'all';
  /** Any of these base names, exactly. */
  readonly filename?: readonly string[];
  /** Text that the directory contains. */
  readonly relative_dirname?: string;
  /** The directory must be exactly `relative_dirname` (rules-and-alerts.md 10.1: so for lists of files). */
  readonly exactDirname?: boolean;
};

/** Items whose file meets the filter, in the order given. */
export function filterFiles<Item extends ListedFile>(items: readonly Item[], filter: FileFilter): Item[] {
  const { status = 'all', relative_dirname: dirname, exactDirname = false } = filter;
  const filenames = filter.filename === undefined ? undefined : new Set(filter.filename);
  return items.filter(
    (item) =>
      (status === 'all' || item.status === status) &&
      (filenames === undefined || filenames.has(item.filename)) &&
      (dirname === undefined ||
        (exactDirname ? item.relative_dirname === dirname : item.relative_dirname.includes(dirname))),
  );
}
