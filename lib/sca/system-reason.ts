import { getSystemErrorMap } from 'node:util';

/** Whether it is an error of the system, which may come with any path. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/** What the system says of an error, as C programs word it: `No such file or directory`. */
export function systemReason({ errno, message }: NodeJS.ErrnoException): string {
  const text = errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1];
  return text === undefined ? message : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
