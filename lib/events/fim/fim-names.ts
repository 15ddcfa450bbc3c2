/** What an event says has happened to an entry (integrity-and-inventory.md 4.2). */
export type FimChangeKind = 'added' | 'modified' | 'deleted';

/** Registry events carry an index from this version of the message on. */
export const INDEXED_VERSION = 3;

/** Members of `audit`: who changed the entry, as whodata tells it. */
export const AUDIT_NAMES = [
  'user_id',
  'user_name',
  'group_id',
  'group_name',
  'process_name',
  'parent_name',
  'cwd',
  'parent_cwd',
  'audit_uid',
  'audit_name',
  'effective_uid',
  'effective_name',
  'ppid',
  'process_id',
] as const;

/** The change that a word on the wire means; undefined for any other. */
export function changeOfName(type: unknown): FimChangeKind | undefined {
  return type === 'added' || type === 'modified' || type === 'deleted' ? type : undefined;
}
