/** What of a file is watched, a bit each (integrity-and-inventory.md 2.2). */
export const CHECKS = {
  size: 1,
  permissions: 2,
  owner: 4,
  group: 8,
  mtime: 16,
  inode: 32,
  hash_md5: 64,
  hash_sha1: 128,
  hash_sha256: 256,
} as const;

/** Name of one, as the log of the start prints it. */
export type CheckName = keyof typeof CHECKS;

/** The three hashes. */
export const ALL_HASHES = CHECKS.hash_md5 | CHECKS.hash_sha1 | CHECKS.hash_sha256;

/** Everything: what is watched without any attribute. */
export const ALL_CHECKS = 511;

/** Names of the bits set, in the order of the log. */
export function checkNames(checks: number): CheckName[] {
  return (Object.keys(CHECKS) as CheckName[]).filter((name) => (checks & CHECKS[name]) !== 0);
}
