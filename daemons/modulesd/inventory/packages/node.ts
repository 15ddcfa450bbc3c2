import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import { isObject } from '../../../../lib/json/is-object.js';
import { known, orNone, textOf, UNKNOWN } from '../host/known.js';
import type { UserFiles } from '../host/user-files.js';

const MOST_MANIFEST_BYTES = 1024 * 1024;

/** Packages of npm in a `node_modules`, without those that they bring themselves. @param shown its path as the rows tell it */
export function readNode(place: UserFiles, path: string, shown: string): InventoryRow[] {
  return place.names(path).flatMap((name) => {
    if (name.startsWith('.')) return [];
    const names = name.startsWith('@') ? place.names(`${path}/${name}`).map((inner) => `${name}/${inner}`) : [name];
    return names.flatMap((whole) => {
      const manifest = place.json(`${path}/${whole}/package.json`, MOST_MANIFEST_BYTES);
      return orNone(nodeRow(manifest, `${shown}/${whole}/package.json`));
    });
  });
}

/** @param manifest parsed `package.json`; undefined for what is no package */
export function nodeRow(manifest: unknown, location: string): InventoryRow | undefined {
  if (!isObject(manifest) || textOf(manifest['name']) === '') return undefined;
  const { author } = manifest;
  return {
    format: 'npm',
    name: textOf(manifest['name']),
    priority: UNKNOWN,
    groups: UNKNOWN,
    size: 0,
    vendor: known(isObject(author) ? textOf(author['name']) : textOf(author)),
    install_time: UNKNOWN,
    version: known(textOf(manifest['version'])),
    architecture: UNKNOWN,
    multiarch: UNKNOWN,
    source: known(textOf(manifest['homepage'])),
    description: known(textOf(manifest['description'])),
    location,
  };
}
