import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import type { HostFiles } from '../host/host-files.js';
import { UserFiles } from '../host/user-files.js';
import type { UserHome } from '../host/user-homes.js';
import { readApk } from './apk.js';
import { readDeb } from './deb.js';
import { readLanguagePackages } from './language-packages.js';
import { readPacman } from './pacman.js';
import { readRpm } from './rpm.js';
import { readSnap } from './snap.js';

/** Where snapd mounts packages; other systems have a link here. */
const SNAPS = '/snap';

/** Everything that is installed: table `packages`. @throws Error for a list of the system that cannot be read */
export async function readPackages(files: HostFiles, homes: readonly UserHome[]): Promise<InventoryRow[]> {
  return [
    ...readDeb(files),
    ...(await readRpm(files)),
    ...readPacman(files),
    ...readApk(files),
    ...readSnap(new UserFiles(files.at(SNAPS), files.notes), (name) => files.link(`${SNAPS}/${name}/current`)),
    ...readLanguagePackages(files, homes),
  ];
}
