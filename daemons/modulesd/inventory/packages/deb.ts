import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import type { HostFiles } from '../host/host-files.js';
import { count, known, orNone, UNKNOWN } from '../host/known.js';

const STATUS = '/var/lib/dpkg/status';
/** Where images without a package manager keep one file a package. */
const STATUS_DIRECTORY = '/var/lib/dpkg/status.d';
const KILOBYTE = 1024;

/** Packages of dpkg. @throws the file system's error */
export function readDeb(files: HostFiles): InventoryRow[] {
  const rows = parseDebStatus(files.required(STATUS)?.toString('utf8') ?? '');
  for (const name of files.names(STATUS_DIRECTORY)) {
    if (name.endsWith('.md5sums')) continue;
    // Files of images have no line that says installed: they are.
    const text = files.text(`${STATUS_DIRECTORY}/${name}`);
    rows.push(...parseDebStatus(text, 'install ok installed'));
  }
  return rows;
}

/**
 * Installed packages of a status file of dpkg.
 * @param otherwise what a package has as status that has none
 */
export function parseDebStatus(text: string, otherwise = ''): InventoryRow[] {
  return text.split(/\n\s*\n/).flatMap((paragraph) => orNone(debRow(fieldsOf(paragraph), otherwise)));
}

function debRow(fields: ReadonlyMap<string, string>, otherwise: string): InventoryRow | undefined {
  const name = fields.get('package') ?? '';
  const [, , state] = (fields.get('status') ?? otherwise).split(' ');
  if (name === '' || state !== 'installed') return undefined;
  return {
    format: 'deb',
    name,
    priority: known(fields.get('priority')),
    groups: known(fields.get('section')),
    // dpkg has kilobytes, agents send bytes (agent-transcript.md 9).
    size: count(fields.get('installed-size')) * KILOBYTE,
    vendor: known(fields.get('maintainer')),
    install_time: UNKNOWN,
    version: known(fields.get('version')),
    architecture: known(fields.get('architecture')),
    multiarch: known(fields.get('multi-arch')),
    // A source of another version has that behind it, in parentheses.
    source: known(fields.get('source')?.split(' ', 1)[0]),
    description: known(fields.get('description')),
    location: UNKNOWN,
  };
}

/** First lines of the fields of a paragraph, by their names in lower case. */
function fieldsOf(paragraph: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of paragraph.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0 || /^\s/.test(line)) continue;
    fields.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return fields;
}
