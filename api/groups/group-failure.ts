import { GroupError, type GroupErrorCode } from '../../lib/groups/group-error.js';
import { ApiError } from '../http/api-error.js';
import type { ErrorCode } from '../http/error-code.js';

const CODES: Readonly<Record<GroupErrorCode, ErrorCode>> = {
  invalid_name: 1722,
  group_exists: 1711,
  reserved_name: 1713,
  taken_by_file: 1713,
  unknown_group: 1710,
  default_group: 1712,
  unknown_file: 1006,
  unreadable_file: 1006,
  too_large: 1006,
  too_many_files: 1727,
};
/** Where the message of the code does not say which file it is about. */
const WITH_DETAIL = new Set<GroupErrorCode>(['unknown_file', 'unreadable_file', 'too_large', 'too_many_files']);

/** What a client is told when the folder of a group refused; other errors stay as they are. */
function groupFailure(error: unknown, group: string): unknown {
  if (!(error instanceof GroupError)) return error;
  const code = CODES[error.code];
  if (error.code === 'group_exists') return new ApiError(code, { extra: group });
  return new ApiError(code, WITH_DETAIL.has(error.code) ? { extra: error.message } : {});
}

/** Does something with the folder of a group. @throws ApiError of its refusal */
export async function withGroup<T>(group: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw groupFailure(error, group);
  }
}
