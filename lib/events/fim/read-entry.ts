import { isObject } from '../../json/is-object.js';
import type { JsonMessage, JsonObject } from '../sync/read-json.js';
import type { FimColumns, WholeNumber } from './fim-columns.js';
import { componentOfType, type FimComponent } from './fim-component.js';
import { changeOfName, INDEXED_VERSION } from './fim-names.js';

/** An entry as a message tells it. */
export type FimEntry = {
  readonly component: FimComponent;
  /** Bytes of the path, or the index of a registry entry. */
  readonly path: Buffer;
  readonly columns: FimColumns;
};

/** What an event of queue 8 does (integrity-and-inventory.md 6.1). */
export type FimChange =
  | { readonly kind: 'scan'; readonly mark: 'start' | 'end'; readonly time: number }
  | ({ readonly kind: 'added' | 'modified' } & FimEntry)
  /** Of an agent before 3.11: what it was before is not told. */
  | ({ readonly kind: 'seen' } & FimEntry)
  | { readonly kind: 'deleted'; readonly component: FimComponent; readonly path: Buffer };

const WHOLE = /^-?\d{1,20}$/;

/** Reads an event. @param seconds when it was received @returns undefined when it is malformed */
export function readEvent(message: JsonMessage, seconds: number): FimChange | undefined {
  const { type, data } = message.value;
  if (!isObject(data)) return undefined;
  if (type === 'scan_start' || type === 'scan_end') {
    const time = wholeNumber(data['timestamp']);
    const mark = type === 'scan_start' ? 'start' : 'end';
    return typeof time === 'number' && time >= 0 ? { kind: 'scan', mark, time } : undefined;
  }
  if (type !== 'event') return undefined;
  const { attributes, path, index } = data;
  const kind = changeOfName(data['type']);
  if (!isObject(attributes) || typeof path !== 'string' || path === '') return undefined;
  if (kind === undefined) return undefined;
  const component = typeof attributes['type'] === 'string' ? componentOfType(attributes['type']) : undefined;
  if (component === undefined) return undefined;
  const isIndexed = component !== 'fim_file' && Number(data['version']) >= INDEXED_VERSION;
  const name = isIndexed ? index : path;
  if (typeof name !== 'string' || name === '') return undefined;
  const key = message.bytes(name);
  if (kind === 'deleted') return { kind, component, path: key };
  return { kind, component, path: key, columns: readColumns(message, component, data, attributes, path, seconds) };
}

/**
 * Reads a state (4.3).
 * @returns undefined when it is malformed; `ignored` for a registry entry without a version, as the reference does (7.1)
 */
export function readState(message: JsonMessage, seconds: number): FimEntry | 'ignored' | undefined {
  const { data } = message.value;
  if (!isObject(data)) return undefined;
  const { attributes, index, path } = data;
  if (!isObject(attributes) || typeof index !== 'string' || index === '') return undefined;
  const component = typeof attributes['type'] === 'string' ? componentOfType(attributes['type']) : undefined;
  if (component === undefined) return undefined;
  if (component !== 'fim_file' && typeof data['version'] !== 'number') return 'ignored';
  const file = typeof path === 'string' ? path : index;
  return {
    component,
    path: message.bytes(index),
    columns: readColumns(message, component, data, attributes, file, seconds),
  };
}

/** Unknown names are ignored: an agent that has learned another column loses nothing (15, trap 7). */
function readColumns(
  message: JsonMessage,
  component: FimComponent,
  data: JsonObject,
  attributes: JsonObject,
  file: string,
  seconds: number,
): FimColumns {
  const text = (value: unknown): string | undefined => {
    if (typeof value === 'string') return message.text(value);
    return typeof value === 'number' ? String(value) : undefined;
  };
  const { perm } = attributes;
  const date = wholeNumber(data['timestamp']);
  return {
    checksum: text(attributes['checksum']) ?? '',
    date: typeof date === 'number' ? date : seconds,
    type: component === 'fim_file' ? 'file' : component.slice('fim_'.length),
    file: component === 'fim_file' ? undefined : message.text(file),
    arch: text(data['arch']),
    valueName: text(data['value_name']),
    valueType: text(attributes['value_type']),
    size: wholeNumber(attributes['size']),
    // Windows tells its access list as an object.
    perm: isObject(perm) ? message.text(JSON.stringify(perm)) : text(perm),
    uid: text(attributes['uid']),
    gid: text(attributes['gid']),
    md5: text(attributes['hash_md5']),
    sha1: text(attributes['hash_sha1']),
    sha256: text(attributes['hash_sha256']),
    uname: text(attributes['user_name']),
    gname: text(attributes['group_name']),
    attributes: text(attributes['attributes']),
    symbolicPath: text(attributes['symbolic_path'] ?? attributes['symlink_path']),
    mtime: wholeNumber(attributes['mtime']),
    // A text that is no number is stored as 0 (7.1).
    inode:
      typeof attributes['inode'] === 'string'
        ? (wholeNumber(attributes['inode']) ?? 0)
        : wholeNumber(attributes['inode']),
  };
}

/** A whole number, exact: one that a number cannot hold stays a text. Undefined for anything else. */
export function wholeNumber(value: unknown): WholeNumber | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? Math.trunc(value) : undefined;
  if (typeof value !== 'string' || !WHOLE.test(value)) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
