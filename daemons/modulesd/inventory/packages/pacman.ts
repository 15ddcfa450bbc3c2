import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import type { HostFiles } from '../host/host-files.js';
import { count, known, orNone, UNKNOWN } from '../host/known.js';

const LOCAL = '/var/lib/pacman/local';

/** Packages of pacman. */
export function readPacman(files: HostFiles): InventoryRow[] {
  return files.names(LOCAL).flatMap((name) => orNone(pacmanRow(files.text(`${LOCAL}/${name}/desc`))));
}

/** @param text of `desc`: names between percent signs, and values below them; undefined for what is no package */
export function pacmanRow(text: string): InventoryRow | undefined {
  const values = new Map<string, string[]>();
  let name = '';
  for (const line of text.split('\n')) {
    const [, title] = /^%([A-Z0-9]+)%$/.exec(line) ?? [];
    if (title !== undefined) {
      name = title;
      values.set(name, []);
    } else if (line !== '') {
      values.get(name)?.push(line);
    }
  }
  const value = (key: string): string => values.get(key)?.[0] ?? '';
  if (value('NAME') === '') return undefined;
  return {
    format: 'pacman',
    name: value('NAME'),
    priority: UNKNOWN,
    groups: known(values.get('GROUPS')?.join(',')),
    size: count(value('SIZE')),
    vendor: known(value('PACKAGER')),
    install_time: known(value('INSTALLDATE')),
    version: known(value('VERSION')),
    architecture: known(value('ARCH')),
    multiarch: UNKNOWN,
    source: known(value('BASE')),
    description: known(value('DESC')),
    location: UNKNOWN,
  };
}
