import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import { known, orNone, UNKNOWN } from '../host/known.js';
import type { UserFiles } from '../host/user-files.js';

/** Bytes of a description of a package that are read; most have some thousand. */
const MOST_METADATA_BYTES = 1024 * 1024;

/** Packages of Python in a directory of packages. @param shown its path as the rows tell it */
export function readPython(place: UserFiles, path: string, shown: string): InventoryRow[] {
  return place.names(path).flatMap((name) => {
    const file = metadataPath(place, `${path}/${name}`);
    const text = file === undefined ? undefined : place.read(file, MOST_METADATA_BYTES)?.toString('utf8');
    return text === undefined ? [] : orNone(pythonRow(text, `${shown}/${name}`));
  });
}

/** A `.dist-info` or `.egg-info` directory, or an `.egg-info` file. */
function metadataPath(place: UserFiles, path: string): string | undefined {
  if (path.endsWith('.dist-info')) return `${path}/METADATA`;
  if (!path.endsWith('.egg-info')) return undefined;
  return place.names(path).includes('PKG-INFO') ? `${path}/PKG-INFO` : path;
}

/** @param text headers as of a mail; undefined for what is no package */
export function pythonRow(text: string, location: string): InventoryRow | undefined {
  const values = new Map<string, string>();
  for (const line of text.split('\n')) {
    // The description follows behind an empty line.
    if (line.trim() === '') break;
    // No pattern looks at the value: one of a megabyte of blanks would keep it busy for ever.
    const [, name] = /^([A-Za-z-]{1,64}):/.exec(line) ?? [];
    if (name !== undefined && !values.has(name.toLowerCase())) {
      values.set(name.toLowerCase(), line.slice(name.length + 1).trim());
    }
  }
  const value = (...names: readonly string[]): string =>
    names.map((name) => values.get(name) ?? '').find((found) => found !== '' && found !== 'UNKNOWN') ?? '';
  if (value('name') === '') return undefined;
  return {
    format: 'pypi',
    name: value('name'),
    priority: UNKNOWN,
    groups: UNKNOWN,
    size: 0,
    vendor: known(value('author', 'author-email', 'maintainer', 'maintainer-email')),
    install_time: UNKNOWN,
    version: known(value('version')),
    architecture: UNKNOWN,
    multiarch: UNKNOWN,
    source: known(value('home-page')),
    description: known(value('summary')),
    location,
  };
}
