import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import type { HostFiles } from '../host/host-files.js';
import { UserFiles } from '../host/user-files.js';
import type { UserHome } from '../host/user-homes.js';
import { readNode } from './node.js';
import { readPython } from './python.js';

/** Where packages are installed for all users; others than root may write to some of them. */
const SYSTEM_PLACES = ['/usr/lib', '/usr/lib64', '/usr/local/lib', '/usr/local/lib64'];

/** Packages of Python and npm that are installed for all users, and those that users have installed for themselves. */
export function readLanguagePackages(files: HostFiles, homes: readonly UserHome[]): InventoryRow[] {
  const rows: InventoryRow[] = [];
  for (const base of SYSTEM_PLACES) {
    const place = new UserFiles(files.at(base), files.notes);
    if (!place.exists) continue;
    rows.push(...pythonBelow(place, '.', base), ...readNode(place, 'node_modules', `${base}/node_modules`));
  }
  for (const { path: home, files: place } of homes) {
    rows.push(...pythonBelow(place, '.local/lib', `${home}/.local/lib`));
    for (const version of place.names('.pyenv/versions')) {
      const path = `.pyenv/versions/${version}/lib`;
      rows.push(...pythonBelow(place, path, `${home}/${path}`));
    }
    const modules = ['.npm-global/lib/node_modules', '.npm-packages/lib/node_modules'];
    for (const version of place.names('.nvm/versions/node')) {
      modules.push(`.nvm/versions/node/${version}/lib/node_modules`);
    }
    for (const path of modules) rows.push(...readNode(place, path, `${home}/${path}`));
  }
  return rows;
}

/** Packages of each version of Python in a directory of libraries. */
function pythonBelow(place: UserFiles, path: string, shown: string): InventoryRow[] {
  const prefix = path === '.' ? '' : `${path}/`;
  return place
    .names(path)
    .filter((name) => /^python\d/.test(name))
    .flatMap((version) =>
      ['dist-packages', 'site-packages'].flatMap((name) =>
        readPython(place, `${prefix}${version}/${name}`, `${shown}/${version}/${name}`),
      ),
    );
}
