import type { ParameterValues } from '../http/parameter-values.js';
import type { FileFilter } from './filter-files.js';

/** Filters by status, file name and directory that operations on rules and decoders share. */
export function fileFilter(parameters: ParameterValues): FileFilter {
  const status = parameters.text('status');
  const filenames = parameters.texts('filename');
  const relativeDirname = parameters.text('relative_dirname');
  return {
    ...(status === 'enabled' || status === 'disabled' ? { status } : {}),
    ...(filenames === undefined ? {} : { filenames }),
    ...(relativeDirname === undefined ? {} : { relativeDirname }),
  };
}
