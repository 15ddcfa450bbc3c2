/** Attributes of an entry as messages carry them: only those that are watched (integrity-and-inventory.md 3.4). */
export type FileAttributes = {
  readonly size?: number;
  readonly perm?: string;
  readonly uid?: string;
  readonly gid?: string;
  readonly user_name?: string;
  readonly group_name?: string;
  readonly inode?: string;
  readonly mtime?: number;
  readonly hash_md5?: string;
  readonly hash_sha1?: string;
  readonly hash_sha256?: string;
  /** Windows only. */
  readonly attributes?: string;
  readonly checksum: string;
};

/** Names of `changed_attributes`, which are not those of the attributes, in their order (integrity-and-inventory.md 4.2). */
export const CHANGE_NAMES = [
  ['size', 'size'],
  ['permission', 'perm'],
  ['uid', 'uid'],
  ['gid', 'gid'],
  ['user_name', 'user_name'],
  ['group_name', 'group_name'],
  ['inode', 'inode'],
  ['mtime', 'mtime'],
  ['md5', 'hash_md5'],
  ['sha1', 'hash_sha1'],
  ['sha256', 'hash_sha256'],
  ['attributes', 'attributes'],
] as const;

/** One of them. */
export type ChangeName = (typeof CHANGE_NAMES)[number][0];
