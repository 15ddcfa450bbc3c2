/** One line for people out of anything that was thrown; network and file errors in words. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path } = error as NodeJS.ErrnoException;
  const { address, port } = error as { address?: unknown; port?: unknown };
  const where = typeof port === 'number' ? `${typeof address === 'string' ? address : '*'} port ${port}` : path;
  switch (code) {
    case 'EADDRINUSE':
      return `${where ?? 'an address'} is already in use by another process`;
    case 'EADDRNOTAVAIL':
      return `${where ?? 'an address'} is not an address of this host`;
    case 'EACCES':
    case 'EPERM':
      return `${where ?? 'an operation'}: permission denied`;
    case 'EROFS':
      return `${where ?? 'a file'}: read-only file system`;
    case 'ENOSPC':
      return `${where ?? 'a file'}: no space left on device`;
    default:
      return error.message.split('\n', 1)[0] ?? error.name;
  }
}
