import { createHash } from 'node:crypto';
import { CHANGE_NAMES, type ChangeName, type FileAttributes } from '../events/fim/file-attributes.js';
import { CHECKS } from './checks.js';
import { permissionText } from './permission-text.js';

/** Hashes of a content, lowercase hex; those not asked for are missing. */
export type ContentHashes = {
  readonly md5?: string;
  readonly sha1?: string;
  readonly sha256?: string;
};

/** What is recorded for files that are empty, too large to be read, or links (integrity-and-inventory.md 3.4). */
export const EMPTY_HASHES: Required<ContentHashes> = {
  md5: 'd41d8cd98f00b204e9800998ecf8427e',
  sha1: 'da39a3ee5e6b4b0d3255bfef95601890afd80709',
  sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
};

/** A file as it was found, whatever of it is watched. */
export type FileFacts = {
  /** Bytes. */
  readonly size: number;
  /** `st_mode`. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Missing when the id has no name. */
  readonly userName?: string | undefined;
  readonly groupName?: string | undefined;
  /** Epoch seconds. */
  readonly mtime: number;
  /** Decimal: inodes go beyond what a number holds. */
  readonly inode: string;
  readonly hashes: ContentHashes;
};

/** The watched attributes of a file with their checksum (integrity-and-inventory.md 3.4 to 3.6). @param checks of `CHECKS` */
export function fileAttributes(facts: FileFacts, checks: number): FileAttributes {
  const { userName, groupName, hashes } = facts;
  const watched: Omit<FileAttributes, 'checksum'> = {
    ...(checks & CHECKS.size ? { size: facts.size } : undefined),
    ...(checks & CHECKS.permissions ? { perm: permissionText(facts.mode) } : undefined),
    ...(checks & CHECKS.owner ? { uid: String(facts.uid) } : undefined),
    ...(checks & CHECKS.group ? { gid: String(facts.gid) } : undefined),
    ...(checks & CHECKS.owner && userName !== undefined ? { user_name: userName } : undefined),
    ...(checks & CHECKS.group && groupName !== undefined ? { group_name: groupName } : undefined),
    ...(checks & CHECKS.inode ? { inode: facts.inode } : undefined),
    ...(checks & CHECKS.mtime ? { mtime: facts.mtime } : undefined),
    ...(checks & CHECKS.hash_md5 && hashes.md5 !== undefined ? { hash_md5: hashes.md5 } : undefined),
    ...(checks & CHECKS.hash_sha1 && hashes.sha1 !== undefined ? { hash_sha1: hashes.sha1 } : undefined),
    ...(checks & CHECKS.hash_sha256 && hashes.sha256 !== undefined ? { hash_sha256: hashes.sha256 } : undefined),
  };
  return { ...watched, checksum: entryChecksum(watched, facts.inode) };
}

/**
 * Checksum of an entry (integrity-and-inventory.md 3.6): 40 lowercase hex digits.
 * @param inode the real one, decimal: it enters even when it is not watched (15.3)
 */
function entryChecksum(attributes: Omit<FileAttributes, 'checksum'>, inode: string): string {
  return createHash('sha1').update(checksumText(attributes, inode), 'latin1').digest('hex');
}

/** What the checksum is made of; a byte string where the names are. */
export function checksumText(attributes: Omit<FileAttributes, 'checksum'>, inode: string): string {
  const { size = 0, perm = '', uid = '', gid = '', user_name = '', group_name = '', mtime = 0 } = attributes;
  const { hash_md5 = '', hash_sha1 = '', hash_sha256 = '', attributes: windows = '' } = attributes;
  return `${size}:${perm}:${windows}:${uid}:${gid}:${user_name}:${group_name}:${mtime}:${inode}:${hash_md5}:${hash_sha1}:${hash_sha256}`;
}

/**
 * Which of the watched attributes differ (integrity-and-inventory.md 3.7). Empty: nothing that is watched has changed,
 * and no event is sent.
 * @param before those known, whatever was watched then
 * @param after those of now: an attribute that only `before` has is no longer watched and not compared; a name that its
 *   id lost is
 * @param checks what is watched now
 */
export function changedAttributes(before: FileAttributes, after: FileAttributes, checks: number): ChangeName[] {
  return CHANGE_NAMES.filter(([, key]) => isWatched(key, checks) && before[key] !== after[key]).map(([name]) => name);
}

const WATCHED_BY: Readonly<Record<(typeof CHANGE_NAMES)[number][1], number>> = {
  size: CHECKS.size,
  perm: CHECKS.permissions,
  uid: CHECKS.owner,
  gid: CHECKS.group,
  user_name: CHECKS.owner,
  group_name: CHECKS.group,
  inode: CHECKS.inode,
  mtime: CHECKS.mtime,
  hash_md5: CHECKS.hash_md5,
  hash_sha1: CHECKS.hash_sha1,
  hash_sha256: CHECKS.hash_sha256,
  attributes: 0,
};

function isWatched(key: keyof typeof WATCHED_BY, checks: number): boolean {
  return (WATCHED_BY[key] & checks) !== 0;
}
