/** Whether an error is the system's with one of these codes, such as ENOENT. */
export function isErrno(error: unknown, ...codes: readonly string[]): boolean {
  const code = (error as Partial<NodeJS.ErrnoException> | null | undefined)?.code;
  return code !== undefined && codes.includes(code);
}
