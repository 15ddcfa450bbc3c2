import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import type { HostFiles } from '../host/host-files.js';
import { count, known, UNKNOWN } from '../host/known.js';

/** Packages of apk. @throws the file system's error */
export function readApk(files: HostFiles): InventoryRow[] {
  return parseApk(files.required('/lib/apk/db/installed')?.toString('utf8') ?? '');
}

/** @param text paragraphs of lines with a letter, a colon and a value */
export function parseApk(text: string): InventoryRow[] {
  return text.split(/\n\s*\n/).flatMap((paragraph) => {
    const values = new Map<string, string>();
    for (const line of paragraph.split('\n')) {
      // Lines about files use some letters again, behind those of the package.
      if (line.startsWith('F:')) break;
      if (line[1] === ':') values.set(line.slice(0, 1), line.slice(2));
    }
    const name = values.get('P') ?? '';
    if (name === '') return [];
    return [
      {
        format: 'apk',
        name,
        priority: UNKNOWN,
        groups: UNKNOWN,
        size: count(values.get('I')),
        vendor: known(values.get('m')),
        install_time: UNKNOWN,
        version: known(values.get('V')),
        architecture: known(values.get('A')),
        multiarch: UNKNOWN,
        source: known(values.get('o')),
        description: known(values.get('T')),
        location: UNKNOWN,
      },
    ];
  });
}
