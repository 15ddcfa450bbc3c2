import type { LegacySum } from '../../../events/fim/legacy-fim.js';
import { ctime } from '../../../time/ctime.js';

const RIGHTS = ['---', '--x', '-w-', '-wx', 'r--', 'r-x', 'rw-', 'rwx'] as const;
/** Longest line of a change, its end included. */
const LONGEST_LINE = 256;

/** What happened to a file, as alerts of agents before 3.11 say it (integrity-and-inventory.md 4.5). Ends with a newline. */
export function legacyFimLog(
  path: string,
  change: 'added' | 'modified' | 'deleted',
  before: LegacySum,
  after: LegacySum,
): string {
  if (change !== 'modified') return `File '${path}' was ${change}.\n`;
  const lines = [`File '${path}' checksum changed.`];
  const line = (old: string | undefined, now: string | undefined, start: string, middle: string): void => {
    if (old === undefined || now === undefined || old === now) return;
    lines.push(`${start}'${old}'${middle}'${now}'`.slice(0, LONGEST_LINE - 1));
  };
  line(before.size, after.size, 'Size changed from ', ' to ');
  line(letters(before.perm), letters(after.perm), 'Permissions changed from ', ' to ');
  line(owner(before.uname, before.uid), owner(after.uname, after.uid), 'Ownership was ', ', now it is ');
  line(owner(before.gname, before.gid), owner(after.gname, after.gid), 'Group ownership was ', ', now it is ');
  line(time(before.mtime), time(after.mtime), 'Old modification time was: ', ', now it is ');
  line(before.inode, after.inode, 'Old inode was: ', ', now it is ');
  line(before.md5, after.md5, 'Old md5sum was: ', '\nNew md5sum is : ');
  line(before.sha1, after.sha1, 'Old sha1sum was: ', '\nNew sha1sum is : ');
  line(before.sha256, after.sha256, 'Old sha256sum was: ', '\nNew sha256sum is : ');
  line(before.win_attributes, after.win_attributes, 'Old attributes were: ', '\nNow they are ');
  return lines.map((text) => `${text}\n`).join('');
}

/** `rw-r--r--` of `100644`; the text of a Windows agent as it is. */
function letters(perm: string | undefined): string | undefined {
  if (perm === undefined || !/^[0-7]{6,7}$/.test(perm)) return perm;
  const rights = Array.from(perm.slice(-3), (digit) => RIGHTS[Number(digit)] ?? '');
  const special = Number(perm.at(-4));
  return rights
    .map((text, place) => ((special >> (2 - place)) & 1 ? `${text.slice(0, 2)}${place === 2 ? 't' : 's'}` : text))
    .join('');
}

/** `root (0)`, or the number alone. */
function owner(name: string | undefined, id: string | undefined): string | undefined {
  return id === undefined || name === undefined ? id : `${name} (${id})`;
}

function time(seconds: string | undefined): string | undefined {
  const text = ctime(seconds ?? '');
  return text === '' ? seconds : text;
}
