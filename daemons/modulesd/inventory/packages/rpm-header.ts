import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import { count, known, UNKNOWN } from '../host/known.js';

/** Most entries of a header, and bytes of its values: what rpm itself lets pass. */
const MOST_ENTRIES = 65_536;
const MOST_BYTES = 256 * 1024 * 1024;
const ENTRY_BYTES = 16;

const TAG = {
  name: 1000,
  version: 1001,
  release: 1002,
  epoch: 1003,
  summary: 1004,
  installTime: 1008,
  size: 1009,
  vendor: 1011,
  packager: 1015,
  group: 1016,
  architecture: 1022,
  source: 1044,
  longSize: 5009,
} as const;

/** A header may say ten thousand times that a text of megabytes is a value: only what is shown is read. */
const WANTED: ReadonlySet<number> = new Set(Object.values(TAG));

const INT32 = 4;
const INT64 = 5;
const TEXT_TYPES: ReadonlySet<number> = new Set([6, 8, 9]);

/** A package, from a header of the database of rpm; undefined for what is none, and for keys of signatures. */
export function parseRpmHeader(blob: Uint8Array): InventoryRow | undefined {
  const values = headerValues(Buffer.from(blob.buffer, blob.byteOffset, blob.length));
  if (values === undefined) return undefined;
  const text = (tag: number): string => String(values.get(tag) ?? '');
  const name = text(TAG.name);
  if (name === '' || name === 'gpg-pubkey') return undefined;
  const epoch = Number(values.get(TAG.epoch) ?? 0);
  const installed = Number(values.get(TAG.installTime) ?? 0);
  const version = `${epoch > 0 ? `${String(epoch)}:` : ''}${text(TAG.version)}-${text(TAG.release)}`;
  return {
    format: 'rpm',
    name,
    priority: UNKNOWN,
    groups: known(text(TAG.group)),
    // A text where a number should be is none.
    size: count(String(values.get(TAG.longSize) ?? values.get(TAG.size) ?? 0)),
    vendor: known(text(TAG.vendor) || text(TAG.packager)),
    install_time: installed > 0 ? String(installed) : UNKNOWN,
    version,
    architecture: known(text(TAG.architecture)),
    multiarch: UNKNOWN,
    source: known(text(TAG.source)),
    description: known(text(TAG.summary).split('\n', 1)[0]),
    location: UNKNOWN,
  };
}

/** First value of each entry: numbers and texts. A header is a count of entries, one of bytes, the entries and their bytes. */
function headerValues(blob: Buffer): Map<number, string | number> | undefined {
  if (blob.length < 8) return undefined;
  const entries = blob.readUInt32BE(0);
  const bytes = blob.readUInt32BE(4);
  const store = 8 + entries * ENTRY_BYTES;
  if (entries > MOST_ENTRIES || bytes > MOST_BYTES || store + bytes > blob.length) return undefined;
  const values = new Map<number, string | number>();
  for (let at = 8; at < store; at += ENTRY_BYTES) {
    const tag = blob.readUInt32BE(at);
    if (!WANTED.has(tag) || values.has(tag)) continue;
    const value = valueOf(blob, blob.readUInt32BE(at + 4), store + blob.readUInt32BE(at + 8));
    if (value !== undefined) values.set(tag, value);
  }
  return values;
}

function valueOf(blob: Buffer, type: number, at: number): string | number | undefined {
  if (type === INT32 && at + 4 <= blob.length) return blob.readUInt32BE(at);
  if (type === INT64 && at + 8 <= blob.length) return Number(blob.readBigUInt64BE(at));
  if (!TEXT_TYPES.has(type) || at >= blob.length) return undefined;
  const end = blob.indexOf(0, at);
  return blob.toString('utf8', at, end < 0 ? blob.length : end);
}
