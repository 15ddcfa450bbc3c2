/** What is taken from the mode of a socket: it is for its user and group, nobody else (architecture.md 4 "Privileges"). */
const GROUP_UMASK = 0o117;
/** The same for a socket that is for its user alone. */
const OWNER_UMASK = 0o177;

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
  try {
    if (changeGroup) process.setegid?.(gid);
    return withUmask(GROUP_UMASK, bind);
  } finally {
    if (changeGroup && ownGroup !== undefined) process.setegid?.(ownGroup);
  }
}

/** The same for a socket of mode 0600. @throws what `bind` throws */
export function bindForOwner<T>(bind: () => T): T {
  return withUmask(OWNER_UMASK, bind);
}

function withUmask<T>(umask: number, action: () => T): T {
  const before = process.umask(umask);
  try {
    return action();
  } finally {
    process.umask(before);
  }
}
