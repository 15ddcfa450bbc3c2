import { isErrno } from './is-errno.js';

/** What `look` finds at a path; undefined when nothing is there (ENOENT). @throws what it throws else */
export async function ifPresent<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** The same for calls that block. */
export function ifPresentSync<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}
