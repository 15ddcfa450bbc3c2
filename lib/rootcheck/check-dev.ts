import type { CheckContext } from './check-context.js';
import { fileOnDev } from './findings.js';
import type { RootcheckIgnore } from './rootcheck-ignore.js';
import type { TreeCalls } from './tree-calls.js';
import { lstatOf, walkDirectories } from './walk-directories.js';

/** Names and sub-paths that are files for good reasons (integrity-and-inventory.md 9.2, `dev`). */
const USUAL_NAMES: ReadonlySet<string> = new Set([
  'MAKEDEV',
  'README.MAKEDEV',
  'MAKEDEV.README',
  '.udevdb',
  '.udev.tdb',
  '.initramfs-tools',
  'MAKEDEV.local',
  '.udev',
  '.initramfs',
  'oprofile',
  'fd',
  'cgroup',
  '.blkid.tab',
  '.blkid.tab.old',
]);
const USUAL_PATHS = ['shm/sysconfig', 'bus/usb/.usbfs', 'shm', 'gpmctl'];

/**
 * Looks for regular files below `/dev`. What is mounted there is left alone: message queues and huge pages are files, and
 * orchestrators mount files of theirs into the `/dev` of a container.
 */
export async function checkDev(context: CheckContext, calls: TreeCalls, ignore: RootcheckIgnore): Promise<void> {
  const root = `${context.settings.base}/dev`;
  const top = lstatOf(calls, root);
  const usual = new Set(USUAL_PATHS.map((path) => `${root}/${path}`));
  const isUsual = (path: string): boolean =>
    usual.has(path) || USUAL_NAMES.has(path.slice(path.lastIndexOf('/') + 1)) || ignore.ignores(path);
  await walkDirectories(context, calls, root, {
    enters: (path, stats) => path === root || (stats.dev === top?.dev && !isUsual(path)),
    async entry(path, { kind }) {
      if (kind === 'directory' || kind === 'other' || isUsual(path)) return;
      const stats = lstatOf(calls, path);
      if (stats?.isFile() === true && stats.dev === top?.dev) await context.report(fileOnDev(path));
    },
    leaves: () => Promise.resolve(),
  });
}
