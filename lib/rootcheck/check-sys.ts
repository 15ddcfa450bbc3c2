import type { BigIntStats } from 'node:fs';
import { bytesOf } from '../fim/byte-order.js';
import type { CheckContext } from './check-context.js';
import { hiddenFromStats, hiddenInDirectory, rootkitFound, sizeAnomaly, writableByAnyone } from './findings.js';
import type { RootcheckIgnore } from './rootcheck-ignore.js';
import type { TreeCalls, TreeEntry } from './tree-calls.js';
import { TreeFileSystems } from './tree-file-systems.js';
import { countDirectories, isSystemError, lstatOf, type TreeVisitor, walkDirectories } from './walk-directories.js';

/** Where a scan goes (integrity-and-inventory.md 9.2, `sys`); with `scanall` it is everywhere. */
const PLACES = (
  'bin sbin usr/bin usr/sbin dev lib etc root var/log var/mail var/lib var/www usr/lib usr/include tmp boot usr/local ' +
  'var/tmp sys'
).split(' ');
/** Where sizes are compared. */
const MEASURED = ['bin', 'sbin', 'usr/bin', 'usr/sbin', 'dev', 'etc', 'boot'];
/** Where it never goes. */
const NEVER = ['proc', 'sys'];

/** Files above this are not read to compare their size, bytes. */
const MOST_BYTES = 1024n ** 3n;
const CHUNK_BYTES = 256 * 1024;
/** Times that something must be wrong, with nothing changed meanwhile, before it is told. */
const LOOKS = 3;
/** Times it is looked at anew when something changed meanwhile. */
const MOST_LOOKS = 6;

/** The parts of the walk. */
export type SysParts = {
  readonly calls: TreeCalls;
  readonly ignore: RootcheckIgnore;
  /** Names that tell of a rootkit wherever they are. */
  readonly anywhere: ReadonlyMap<string, string>;
};

/** Walks the system's directories and looks for what does not fit together (integrity-and-inventory.md 9.2, `sys`). */
export async function checkSys(context: CheckContext, parts: SysParts): Promise<void> {
  const { base, scanAll, skipNfs } = context.settings;
  const top = lstatOf(parts.calls, base === '' ? '/' : base);
  const walk = new SysWalk(context, parts, new TreeFileSystems(parts.calls, top?.dev, skipNfs));
  const roots = scanAll ? [base === '' ? '/' : base] : PLACES.map((place) => `${base}/${place}`);
  for (const root of roots) await walkDirectories(context, parts.calls, root, walk);
}

class SysWalk implements TreeVisitor {
  readonly #context: CheckContext;
  readonly #calls: TreeCalls;
  readonly #ignore: RootcheckIgnore;
  readonly #anywhere: ReadonlyMap<string, string>;
  readonly #fileSystems: TreeFileSystems;
  readonly #never: ReadonlySet<string>;
  readonly #measured: readonly string[];
  readonly #dev: string;
  readonly #chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  #deviceOfDev: bigint | undefined;

  constructor(context: CheckContext, { calls, ignore, anywhere }: SysParts, fileSystems: TreeFileSystems) {
    const { base, readAll } = context.settings;
    this.#context = context;
    this.#calls = calls;
    this.#ignore = ignore;
    this.#anywhere = anywhere;
    this.#fileSystems = fileSystems;
    this.#never = new Set(NEVER.map((name) => `${base}/${name}`));
    this.#measured = readAll ? [`${base}/`] : MEASURED.map((place) => `${base}/${place}/`);
    this.#dev = `${base}/dev`;
  }

  enters(path: string, stats: BigIntStats): boolean {
    // A directory without a size is none of a file system on a disk.
    if (this.#never.has(path) || stats.size === 0n || this.#ignore.ignores(path)) return false;
    if (path === this.#dev) this.#deviceOfDev = stats.dev;
    // What is mounted below /dev are shared memory, queues and the like, which belong to whoever made them.
    else if (path.startsWith(`${this.#dev}/`) && stats.dev !== this.#deviceOfDev) return false;
    return this.#fileSystems.traits(path, stats.dev).walked;
  }

  async entry(path: string, { name }: TreeEntry, directory: string): Promise<void> {
    if (this.#never.has(path) || this.#ignore.ignores(path)) return;
    const rootkit = this.#anywhere.get(name);
    if (rootkit !== undefined) await this.#context.report(rootkitFound(rootkit, path));
    let stats: BigIntStats | undefined;
    try {
      stats = this.#calls.lstat(bytesOf(path));
    } catch (error) {
      if (!isSystemError(error)) throw error;
      return;
    }
    if (stats === undefined) {
      if (await this.#isHidden(path, name, directory)) await this.#context.report(hiddenFromStats(path));
      return;
    }
    if (!stats.isFile()) return;
    if (stats.uid === 0n && (stats.mode & 0o002n) !== 0n) await this.#context.report(writableByAnyone(path));
    const measured = this.#measured.some((place) => path.startsWith(place));
    if (measured && this.#fileSystems.traits(path, stats.dev).exactSizes && (await this.#hasOtherSize(path))) {
      await this.#context.report(sizeAnomaly(path));
    }
  }

  async leaves(path: string, stats: BigIntStats, subdirectories: number): Promise<void> {
    // One link alone: they are not counted, as where there are too many.
    if (!this.#fileSystems.traits(path, stats.dev).countsLinks || stats.nlink === 1n) return;
    if (BigInt(subdirectories) + 2n === stats.nlink) return;
    let counted = 0;
    let links = 0n;
    const wrong = await this.#insists(path, () => {
      counted = countDirectories(this.#context, this.#calls, path) + 2;
      links = lstatOf(this.#calls, path)?.nlink ?? 1n;
      return links !== 1n && BigInt(counted) !== links;
    });
    if (wrong) await this.#context.report(hiddenInDirectory(path, counted, links));
  }

  /** Whether a name stays listed, and stays without anything behind it. */
  #isHidden(path: string, name: string, directory: string): Promise<boolean> {
    return this.#insists(
      directory,
      () => this.#lists(directory, name) && this.#calls.lstat(bytesOf(path)) === undefined,
    );
  }

  #lists(directory: string, wanted: string): boolean {
    for (const { name } of this.#calls.entries(directory)) {
      this.#context.step();
      if (name === wanted) return true;
    }
    return false;
  }

  /** Whether a file has more or fewer bytes than its size says, however often it is read. */
  async #hasOtherSize(path: string): Promise<boolean> {
    const differs = (): boolean => {
      const descriptor = this.#calls.open(bytesOf(path));
      try {
        const { size } = this.#calls.fstat(descriptor);
        return size <= MOST_BYTES && this.#length(descriptor, size) !== size;
      } finally {
        this.#calls.close(descriptor);
      }
    };
    try {
      if (!differs()) return false;
    } catch (error) {
      if (!isSystemError(error)) throw error;
      return false;
    }
    return this.#insists(path, differs);
  }

  /** Bytes read to the end, or a few more than there should be. */
  #length(descriptor: number, size: bigint): bigint {
    let length = 0n;
    while (length <= size) {
      this.#context.step();
      const read = this.#calls.read(descriptor, this.#chunk, this.#chunk.length);
      if (read === 0) break;
      length += BigInt(read);
    }
    return length;
  }

  /** Whether something is wrong at each of several looks, while what is at the path does not change. */
  async #insists(path: string, isWrong: () => boolean): Promise<boolean> {
    let seen = 0;
    try {
      for (let look = 0; look < MOST_LOOKS; look += 1) {
        await this.#context.pause();
        const before = lstatOf(this.#calls, path);
        if (!isWrong()) return false;
        const after = lstatOf(this.#calls, path);
        seen = before !== undefined && after !== undefined && isSame(before, after) ? seen + 1 : 0;
        if (seen === LOOKS) return true;
      }
    } catch (error) {
      if (!isSystemError(error)) throw error;
    }
    return false;
  }
}

function isSame(before: BigIntStats, after: BigIntStats): boolean {
  return (
    before.dev === after.dev &&
    before.ino === after.ino &&
    before.size === after.size &&
    before.mtimeNs === after.mtimeNs &&
    before.ctimeNs === after.ctimeNs
  );
}
