import { type BigIntStats, lstatSync, statSync } from 'node:fs';

/** What a file is, whatever its name. */
export type InodeIdentity = { readonly device: string; readonly inode: string };

/** A file that is followed: `generation` tells apart files that had one inode one after the other, and one that was cut. */
export type FileIdentity = InodeIdentity & { readonly generation: string };

/** `device:inode` */
export function inodeKey({ device, inode }: InodeIdentity): string {
  return `${device}:${inode}`;
}

export function identityOf(stats: BigIntStats): InodeIdentity {
  return { device: String(stats.dev), inode: String(stats.ino) };
}

export function isSameInode(identity: InodeIdentity, stats: BigIntStats): boolean {
  return identity.inode === String(stats.ino) && identity.device === String(stats.dev);
}

/** Stats with all digits of the inode; undefined when the file is not there, or cannot be looked at. */
export function lookAt(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The same of a link itself, and not of what it stands for. */
export function lookAtLink(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
