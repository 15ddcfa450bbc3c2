import type { ChangeName, FileAttributes } from '../../../lib/events/fim/file-attributes.js';
import type { FimMode } from '../../../lib/events/fim/fim-messages.js';
import { CHECKS } from '../../../lib/fim/checks.js';
import { changedAttributes, type ContentHashes, fileAttributes } from '../../../lib/fim/entry-checksum.js';
import type { ScannedEntry } from '../../../lib/fim/scan/scan-tree.js';
import type { FileRow } from '../store/file-row.js';

/** Names of ids as the host has them. */
export type Names = { user(id: number): string | undefined; group(id: number): string | undefined };

/** What a reading means for the row of its path (integrity-and-inventory.md 3.7). */
export type Decision =
  /** Everything is as it was. */
  | { readonly kind: 'same' }
  /** Its content was not read because of a row that is there no more: it has to be looked at again. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'added'; readonly row: Omit<FileRow, 'number'> }
  /** `changed` empty: nothing that is watched, so there is no event. */
  | { readonly kind: 'changed'; readonly row: FileRow; readonly changed: readonly ChangeName[] };

/** @param now epoch seconds of the reading */
export function decideChange(
  entry: ScannedEntry,
  before: FileRow | undefined,
  names: Names,
  how: { readonly mode: FimMode; readonly now: number },
): Decision {
  const { path, directory, inode, dev, stamp, uid, gid } = entry;
  const { checks } = directory;
  const userName = checks & CHECKS.owner ? names.user(uid) : undefined;
  const groupName = checks & CHECKS.group ? names.group(gid) : undefined;
  let { hashes } = entry;
  if (hashes === undefined) {
    if (before === undefined || before.stamp === undefined || before.stamp !== stamp) return { kind: 'unknown' };
    const { user_name, group_name } = before.attributes;
    // A stamp takes in the time of the last change of whatever attribute; but names are not of the file.
    if (before.checks === checks && user_name === userName && group_name === groupName) return { kind: 'same' };
    hashes = hashesOf(before.attributes);
  }
  const { size, mode: bits, mtime } = entry;
  const facts = { size, mode: bits, uid, gid, userName, groupName, mtime, inode, hashes };
  const attributes = fileAttributes(facts, checks);
  const { mode, now: lastEvent } = how;
  const after = { path, attributes, checks, inode, dev, stamp, lastEvent, mode };
  if (before === undefined) return { kind: 'added', row: after };
  if (
    before.attributes.checksum === attributes.checksum &&
    before.checks === checks &&
    before.stamp === stamp &&
    before.dev === dev
  ) {
    return { kind: 'same' };
  }
  const changed = changedAttributes(before.attributes, attributes, before.checks & checks);
  return { kind: 'changed', row: { ...after, number: before.number }, changed };
}

function hashesOf({ hash_md5, hash_sha1, hash_sha256 }: FileAttributes): ContentHashes {
  return {
    ...(hash_md5 !== undefined && { md5: hash_md5 }),
    ...(hash_sha1 !== undefined && { sha1: hash_sha1 }),
    ...(hash_sha256 !== undefined && { sha256: hash_sha256 }),
  };
}
