/** What is taken from the mode of a socket: it is for its user and group, nobody else (design.md 4 "Privileges"). */
const SOCKET_UMASK = 0o117;

/**
 * Runs `bind`, which makes a unix socket, so that the socket has mode 0660 and the group from its first moment. A chmod or
 * chown by path afterwards would go to whatever somebody who may write to the directory has put there in the meantime.
 * @param bind makes the socket before it returns: umask and group are those of the whole process
 * @param gid group of the socket, where it is not the process's own; only root may name any
 * @throws what `bind` throws
 */
export function bindForGroup<T>(bind: () => T, gid?: number): T {
  const ownGroup = process.getegid?.();
  const changeGroup = gid !== undefined && gid !== ownGroup;
  const umask = process.umask(SOCKET_UMASK);
  try {
    if (changeGroup) process.setegid?.(gid);
    return bind();
  } finally {
    if (changeGroup && ownGroup !== undefined) process.setegid?.(ownGroup);
    process.umask(umask);
  }
}
