import { closeSync, constants, openSync, writeSync } from 'node:fs';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;

/**
 * Opens a file for writing in a directory that the service user may write to, while this process may be root: a link
 * planted under the name is refused (ELOOP), so no file elsewhere can be cut or written through it.
 * @returns the descriptor
 * @throws the file system's error
 */
export function openOwnFile(path: string, how: 'append' | 'truncate', mode = 0o640): number {
  return openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW | (how === 'append' ? O_APPEND : O_TRUNC), mode);
}

/** Writes a small file in the same way. @throws the file system's error */
export function writeOwnFile(path: string, content: string): void {
  const fd = openOwnFile(path, 'truncate');
  try {
    writeSync(fd, content);
  } finally {
    closeSync(fd);
  }
}
