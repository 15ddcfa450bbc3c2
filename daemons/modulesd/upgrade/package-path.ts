import { relative, resolve, sep } from 'node:path';
import { PACKAGE_FOLDER, PackageError } from './package-file.js';

/**
 * The path below `var/upgrade` of a package that somebody named: with its whole path, from the home, or by its mere name.
 * @param root of the home
 * @throws PackageError when it lies elsewhere
 */
export function packagePath(root: string, path: string): string {
  const folder = resolve(root, PACKAGE_FOLDER);
  const below = relative(folder, resolve(path.includes(sep) ? root : folder, path));
  if (below === '' || below === '..' || below.startsWith(`..${sep}`)) {
    throw new PackageError(`packages are taken from ${PACKAGE_FOLDER} of the manager, and '${path}' is elsewhere`);
  }
  return below;
}
