import { isObject } from '../../json/is-object.js';
import type { JsonMessage } from './read-json.js';

/** What a check of a range is called; a left part names what comes behind it. */
export type SyncCheckType = 'integrity_check_global' | 'integrity_check_left' | 'integrity_check_right';

/** A check of a range as an agent sends it (integrity-and-inventory.md 4.3); paths as bytes. */
export type SyncCheck = {
  readonly type: SyncCheckType;
  readonly begin: Buffer;
  readonly end: Buffer;
  /** First path behind a left part. */
  readonly tail: Buffer | undefined;
  readonly checksum: string;
  readonly id: number;
};

/** @returns what is wrong, or the check */
export function readSyncCheck(type: SyncCheckType, message: JsonMessage): SyncCheck | string {
  const { data } = message.value;
  const id = readSyncId(data);
  if (!isObject(data) || id === undefined) return 'Cannot perform range checksum: no id';
  const { begin, end, tail, checksum } = data;
  if (typeof begin !== 'string' || typeof end !== 'string' || typeof checksum !== 'string') {
    return 'Cannot perform range checksum: no begin, end or checksum';
  }
  const isLeft = type === 'integrity_check_left';
  // It would delete everything outside of its range (15, trap 11).
  if (isLeft && typeof tail !== 'string') return 'Cannot perform range checksum: a left check without tail';
  return {
    type,
    begin: message.bytes(begin),
    end: message.bytes(end),
    tail: isLeft && typeof tail === 'string' ? message.bytes(tail) : undefined,
    checksum,
    id,
  };
}

/** Number of a synchronisation, from the `data` of its messages; undefined where there is none. */
export function readSyncId(data: unknown): number | undefined {
  const id = isObject(data) ? data['id'] : undefined;
  return typeof id === 'number' && Number.isFinite(id) ? id : undefined;
}
