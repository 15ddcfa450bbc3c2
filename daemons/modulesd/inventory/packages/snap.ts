import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import { known, orNone, UNKNOWN } from '../host/known.js';
import type { UserFiles } from '../host/user-files.js';

const MOST_META_BYTES = 1024 * 1024;

/**
 * Packages of snapd: of each the revision that `current` names, whose description its maker has written.
 * @param place the directory `/snap`
 * @param current the revision of a package; undefined for what is none
 */
export function readSnap(place: UserFiles, current: (name: string) => string | undefined): InventoryRow[] {
  return place.names('.').flatMap((name) => {
    const revision = current(name);
    if (revision === undefined || !/^x?\d{1,9}$/.test(revision)) return [];
    const text = place.read(`${name}/${revision}/meta/snap.yaml`, MOST_META_BYTES)?.toString('utf8');
    return text === undefined ? [] : orNone(snapRow(text, `/snap/${name}`));
  });
}

/** @param text of `meta/snap.yaml`, of which the first level is read; undefined for what is no package */
export function snapRow(text: string, location: string): InventoryRow | undefined {
  const values = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name, double, single, plain] =
      /^([a-z-]{1,64}):\s+(?:"([^"]*)"|'([^']*)'|(\S.*))$/.exec(line.trimEnd()) ?? [];
    const value = double ?? single ?? plain;
    // `|` and its like begin a text of several lines.
    if (name !== undefined && value !== undefined && !/^[|>]/.test(value) && !values.has(name)) values.set(name, value);
  }
  const name = values.get('name');
  if (name === undefined) return undefined;
  return {
    format: 'snap',
    name,
    priority: UNKNOWN,
    groups: known(values.get('type')),
    size: 0,
    vendor: UNKNOWN,
    install_time: UNKNOWN,
    version: known(values.get('version')),
    architecture: UNKNOWN,
    multiarch: UNKNOWN,
    source: UNKNOWN,
    description: known(values.get('summary')),
    location,
  };
}
