import {
  chmodSync,
  copyFileSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';

/** What an installation needs of a built checkout, beside node_modules. */
const PARTS = [
  ...['package.json', 'LICENSE', 'dist', 'etc', 'systemd'],
  ...['api/openapi.yaml', 'api/errors.yaml', 'api/mitre/attack-objects.json', 'api/mitre/descriptions.json'],
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs'],
];

/** Never installed: tests and what the compiler keeps for itself. */
const LEFT_OUT = [
  /^dist\/(test|programs\/(test|product)-|api\/console\/browser)/,
  /\.tsbuildinfo$/,
  /\.ts$/,
  /\.d\.ts$/,
  /tsconfig\.json$/,
];

/**
 * Programs of zeromq that were built for another system or processor: a third of everything. Other packages with parts for
 * many systems are installed with those for this one alone, so nothing here can be moved to another anyway.
 */
function isForeign(path: string): boolean {
  const match = /^node_modules\/zeromq\/build\/([^/]+)(?:\/([^/]+))?/.exec(path);
  const [, system, processor] = match ?? [];
  if (system === undefined || system === 'manifest.json') return false;
  return system !== process.platform || (processor !== undefined && processor !== process.arch);
}

const lockfile = z.object({
  packages: z.record(z.string(), z.object({ dev: z.boolean().optional() })),
});

/** Owner of installed files; undefined leaves them to whoever installs. */
export type ProductOwner = { readonly uid: number; readonly gid: number } | undefined;

/**
 * Copies the product from a built checkout to `target`, which is replaced as a whole: until the copy is complete the
 * old one stays in place.
 * @throws the file system's error
 */
export function installProduct(source: string, target: string, owner: ProductOwner): void {
  const fresh = `${target}.new`;
  const old = `${target}.old`;
  rmSync(fresh, { recursive: true, force: true });
  rmSync(old, { recursive: true, force: true });
  const copier = new TreeCopier(source, fresh, owner);
  const programs = programNames(source).map((name) => join('bin', name));
  for (const part of [...PARTS, ...programs, ...runtimePackages(source)]) {
    if (existsSync(join(source, part))) copier.copy(part);
  }
  if (existsSync(target)) renameSync(target, old);
  renameSync(fresh, target);
  rmSync(old, { recursive: true, force: true });
}

/** Names of the programs of a product: files of bin/ without an extension. */
export function programNames(product: string): string[] {
  return readdirSync(join(product, 'bin'), { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[a-z][a-z0-9_-]*$/.test(entry.name))
    .map(({ name }) => name);
}

/** Directories of node_modules that the product needs when it runs, as the lockfile has them. */
function runtimePackages(source: string): string[] {
  const { packages } = lockfile.parse(JSON.parse(readFileSync(join(source, 'package-lock.json'), 'utf8')));
  return Object.entries(packages)
    .filter(([path, { dev }]) => path.startsWith('node_modules/') && dev !== true)
    .map(([path]) => path);
}

class TreeCopier {
  readonly #source: string;
  readonly #target: string;
  readonly #owner: ProductOwner;

  constructor(source: string, target: string, owner: ProductOwner) {
    this.#source = source;
    this.#target = target;
    this.#owner = owner;
    this.#directory('');
  }

  /** @param path below source and target alike */
  copy(path: string): void {
    const from = join(this.#source, path);
    const to = join(this.#target, path);
    const stats = lstatSync(from);
    if (isForeign(path) || LEFT_OUT.some((pattern) => pattern.test(path))) return;
    this.#parents(path);
    if (stats.isDirectory()) {
      this.#directory(path);
      for (const name of readdirSync(from)) {
        // Nested packages are in the lockfile's own list, so development ones stay out.
        if (name === 'node_modules') continue;
        this.copy(join(path, name));
      }
    } else if (stats.isSymbolicLink()) {
      symlinkSync(readlinkSync(from), to);
      this.#own(to);
    } else if (stats.isFile()) {
      copyFileSync(from, to);
      chmodSync(to, (stats.mode & 0o100) === 0 ? 0o640 : 0o750);
      this.#own(to);
    }
  }

  #parents(path: string): void {
    const parent = dirname(path);
    if (parent === '.' || existsSync(join(this.#target, parent))) return;
    this.#parents(parent);
    this.#directory(parent);
  }

  #directory(path: string): void {
    const to = join(this.#target, path);
    if (existsSync(to)) return;
    mkdirSync(to, { mode: 0o750 });
    chmodSync(to, 0o750);
    this.#own(to);
  }

  #own(path: string): void {
    if (this.#owner !== undefined) lchownSync(path, this.#owner.uid, this.#owner.gid);
  }
}
