import type { FileFilter } from './filter-files.js';

/** What the operations call these filters. */
export type FileParameters = {
  readonly status?: 'enabled' | 'disabled' | 'all';
  readonly filename?: readonly string[];
  readonly relative_dirname?: string;
};

/** Filters by status, file name and directory that operations on rules and decoders share. */
export function fileFilter(parameters: FileParameters): FileFilter {
  const { status, filename: filenames, relative_dirname: relativeDirname } = parameters;
  return {
    ...(status === undefined ? {} : { status }),
    ...(filenames === undefined ? {} : { filenames }),
    ...(relativeDirname === undefined ? {} : { relativeDirname }),
  };
}
