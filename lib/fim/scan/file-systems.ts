import { readFile, statfs } from 'node:fs/promises';
import { bytesOf } from '../byte-order.js';

/** Which file systems are left out (`skip_nfs` and its like; integrity-and-inventory.md 3.3). */
export type SkippedFileSystems = {
  readonly nfs: boolean;
  readonly dev: boolean;
  readonly sys: boolean;
  readonly proc: boolean;
};

const NFS = 0x6969;
const CIFS = 0xff534d42;
const PROC = 0x9fa0;
const SYSFS = 0x62656572;
const DEVFS = 0x1373;
const TMPFS = 0x01021994;

/** Mounts that are looked through at most: a host has some hundreds. */
const MOST_MOUNTS = 100_000;

/** Says which paths lie on a file system that is not watched; asks the system once for each device. */
export class FileSystems {
  readonly #skip: SkippedFileSystems;
  readonly #mounts: string;
  readonly #known = new Map<string, boolean>();

  constructor(skip: SkippedFileSystems, mounts = '/proc/self/mountinfo') {
    this.#skip = skip;
    this.#mounts = mounts;
  }

  /** Mounts may have changed since the last scan. */
  forget(): void {
    this.#known.clear();
  }

  /** @param path byte string @param dev its device, decimal */
  async skips(path: string, dev: string): Promise<boolean> {
    const known = this.#known.get(dev);
    if (known !== undefined) return known;
    const skips = await this.#ask(path);
    this.#known.set(dev, skips);
    return skips;
  }

  async #ask(path: string): Promise<boolean> {
    let type: number;
    try {
      // Some systems give the magic as a signed number.
      type = (await statfs(bytesOf(path))).type >>> 0;
    } catch {
      // What cannot be asked is looked at: the reading says what is wrong.
      return false;
    }
    switch (type) {
      case NFS:
      case CIFS:
        return this.#skip.nfs;
      case PROC:
        return this.#skip.proc;
      case SYSFS:
        return this.#skip.sys;
      case DEVFS:
        return this.#skip.dev;
      case TMPFS:
        // The tmpfs of /dev is told from others by its device files.
        return this.#skip.dev && !(await this.#isNodev(path));
      default:
        return false;
    }
  }

  async #isNodev(path: string): Promise<boolean> {
    let text: string;
    try {
      text = await readFile(this.#mounts, 'latin1');
    } catch {
      return false;
    }
    return mountOptions(text, path).includes('nodev');
  }
}

/** Options of the mount a path is on. @param mountinfo as of proc(5) @param path byte string */
export function mountOptions(mountinfo: string, path: string): string[] {
  let best: { readonly point: string; readonly options: string[] } | undefined;
  for (const line of mountinfo.split('\n', MOST_MOUNTS)) {
    const words = line.split(' ');
    const point = words[4]?.replace(/\\([0-7]{3})/g, (_all, octal: string) => String.fromCharCode(parseInt(octal, 8)));
    if (point === undefined || !(point === '/' || path === point || path.startsWith(`${point}/`))) continue;
    // Of two mounts on one place the later lies on top.
    if (best === undefined || point.length >= best.point.length) {
      best = { point, options: (words[5] ?? '').split(',') };
    }
  }
  return best?.options ?? [];
}
