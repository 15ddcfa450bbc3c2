/** What is wrong with a group or one of its files. */
export type GroupErrorCode =
  | 'invalid_name'
  | 'group_exists'
  | 'unknown_group'
  | 'default_group'
  | 'reserved_name'
  | 'taken_by_file'
  | 'unknown_file'
  | 'unreadable_file'
  | 'too_large'
  | 'too_many_files';

/** A refusal that concerns the folder of a group. */
export class GroupError extends Error {
  override readonly name = 'GroupError';

  constructor(
    readonly code: GroupErrorCode,
    message: string,
  ) {
    super(message);
  }
}
