import { lstatSync } from 'node:fs';
import type { HostFiles } from '../host/host-files.js';

/** Where systemd looks for units, the first of a name counts (systemd.unit(5)). */
const DIRECTORIES = [
  '/etc/systemd/system',
  '/run/systemd/system',
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
  '/lib/systemd/system',
];
const SERVICE = '.service';

/** A unit as its files and links say. */
export type FoundUnit = {
  readonly name: string;
  /** Its file, which may be that of a template. */
  readonly path: string;
  readonly isMasked: boolean;
  /** Another name of a unit. */
  readonly isAlias: boolean;
  /** A link to it stands in a directory of what wants or requires it. */
  readonly isWanted: boolean;
};

/** Services of the host by their names, those made from templates where something wants them or `active` has them. */
export function findUnits(files: HostFiles, active: ReadonlySet<string>): ReadonlyMap<string, FoundUnit> {
  const paths = new Map<string, string>();
  const wanted = new Set<string>();
  for (const directory of DIRECTORIES) {
    for (const name of files.names(directory)) {
      const path = `${directory}/${name}`;
      if (name.endsWith(SERVICE)) {
        if (!paths.has(name)) paths.set(name, path);
      } else if (/\.(?:wants|requires|upholds)$/.test(name)) {
        for (const link of files.names(path)) if (link.endsWith(SERVICE)) wanted.add(link);
      }
    }
  }
  const units = new Map<string, FoundUnit>();
  for (const name of new Set([...paths.keys(), ...wanted, ...active])) {
    const path = paths.get(name) ?? paths.get(templateOf(name));
    if (path === undefined || name.endsWith(`@${SERVICE}`)) continue;
    const isMasked = files.link(path) === '/dev/null' || isEmptyFile(files, path);
    units.set(name, { name, path, isMasked, isAlias: isAlias(files, name, path), isWanted: wanted.has(name) });
  }
  return units;
}

/** `getty@.service` of `getty@tty1.service`. */
function templateOf(name: string): string {
  return name.replace(/@.*\.service$/, `@${SERVICE}`);
}

/** A link to a file of another name. */
function isAlias(files: HostFiles, name: string, path: string): boolean {
  const target = files.link(path);
  const file = target?.slice(target.lastIndexOf('/') + 1);
  return file !== undefined && file !== 'null' && file !== name && file !== templateOf(name);
}

function isEmptyFile(files: HostFiles, path: string): boolean {
  try {
    const stats = lstatSync(files.at(path));
    return stats.isFile() && stats.size === 0;
  } catch {
    return false;
  }
}
