import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../chaos/random.js';
import { removeTree } from '../support/remove-tree.js';

/** Names that a path may have besides plain ones. */
const ODD_NAMES = [
  'with blanks in it',
  'it\'s "quoted"',
  'back\\slash',
  'ünïcödé-目録',
  '-dash',
  '$(echo)',
  'tab\there',
];
const MODES = [0o600, 0o640, 0o644, 0o755, 0o4711] as const;
const MOST_BYTES = 6000;
/** Operations between two pauses. */
const AT_A_TIME = 20;
/** Files of a directory that is made at once, and directories kept at most. */
const MOST_OF_TREE = 12;
const MOST_DIRECTORIES = 400;
/** Files of a tree that is seldom moved and never deleted as a whole. */
const LARGE_TREE = 60;
/** The history of a path keeps its last operations. */
const MOST_HISTORY = 20;

/**
 * Changes files in directories that are watched: creates, modifies, renames, deletes, alone and by whole trees. It knows what
 * is there by what it did, and writes down what it does to which path.
 */
export class FileChurn {
  /** Operations so far; one on a tree counts each of its files. */
  operations = 0;
  readonly kinds = new Map<string, number>();
  readonly #roots: readonly string[];
  readonly #staging: string;
  readonly #random: Random;
  readonly #pauseMs: number;
  readonly #history = new Map<string, string[]>();
  #directories: string[];
  #files: string[] = [];
  /** Where each file stands in the list. */
  #places = new Map<string, number>();
  #number = 0;

  /**
   * @param staging a directory that nobody watches, on the same file system
   * @param pauseMs between some operations and the next ones
   */
  constructor(roots: readonly string[], staging: string, random: Random, pauseMs: number) {
    this.#roots = roots;
    this.#staging = staging;
    this.#random = random;
    this.#pauseMs = pauseMs;
    this.#directories = [...roots];
  }

  /** Files that are there. */
  get files(): number {
    return this.#files.length;
  }

  /** Last operations on a path. */
  historyOf(path: string): readonly string[] {
    return this.#history.get(path) ?? [];
  }

  /** Makes files, a few in each of some directories. */
  fill(files: number): void {
    while (this.#files.length < files) this.#makeTree();
  }

  /** Does so many operations. */
  async run(operations: number): Promise<void> {
    const end = this.operations + operations;
    while (this.operations < end) await this.#some();
  }

  /** Does operations until the work that goes on meanwhile is done. */
  async during(work: Promise<void>): Promise<void> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    // It is awaited below; until then its failure ends the loop.
    done.catch(() => {});
    while (!isDone) await this.#some();
    await done;
  }

  async #some(): Promise<void> {
    for (let count = 0; count < AT_A_TIME; count += 1) this.#operate();
    await delay(this.#pauseMs);
  }

  #operate(): void {
    const random = this.#random;
    // As many come as go, once there are some.
    const few = this.#files.length < 200;
    const action = random.weighted<() => void>([
      [few ? 60 : 14, () => this.#create()],
      [few ? 30 : 12, () => this.#putInPlace(this.#newPath(), 'moved in')],
      [20, () => this.#withFile((path) => this.#rewrite(path))],
      [8, () => this.#withFile((path) => this.#append(path))],
      [3, () => this.#withFile((path) => this.#truncate(path))],
      [10, () => this.#withFile((path) => this.#putInPlace(path, 'replaced'))],
      [12, () => this.#withFile((path) => this.#rename(path, this.#newPath()))],
      [3, () => this.#withFile((path) => this.#withFile((other) => this.#rename(path, other)))],
      [14, () => this.#withFile((path) => this.#delete(path))],
      [5, () => this.#withFile((path) => this.#chmod(path))],
      [3, () => this.#withFile((path) => this.#touch(path))],
      [2, () => this.#symlink()],
      [2, () => this.#withFile((path) => this.#link(path))],
      [3, () => this.#withFile((path) => this.#recreate(path))],
      [this.#directories.length < MOST_DIRECTORIES ? 3 : 0, () => this.#makeTree()],
      [2, () => this.#renameDirectory()],
      [2, () => this.#deleteDirectory()],
    ]);
    action();
  }

  #withFile(action: (path: string) => void): void {
    if (this.#files.length > 0) action(this.#random.pick(this.#files));
  }

  #content(): Buffer {
    const random = this.#random;
    if (random.chance(0.03)) return Buffer.alloc(0);
    const text = `${String(++this.#number)} ${String(random.next())} `;
    return Buffer.alloc(random.integer(1, MOST_BYTES), text);
  }

  #newName(): string {
    const number = String(++this.#number);
    return this.#random.chance(0.05) ? `${this.#random.pick(ODD_NAMES)} ${number}` : `f${number}`;
  }

  #newPath(): string {
    return join(this.#someDirectory(), this.#newName());
  }

  /** As often in one root as in another, however much lies below them. */
  #someDirectory(): string {
    const root = this.#random.pick(this.#roots);
    return this.#random.pick(this.#directories.filter((directory) => isWithin(directory, root)));
  }

  #create(): void {
    const path = this.#newPath();
    writeFileSync(path, this.#content());
    this.#note('created', path);
    this.#add(path);
  }

  /** Written elsewhere and moved here: it is there at once as it is. */
  #putInPlace(path: string, kind: string): void {
    const staged = join(this.#staging, String(++this.#number));
    writeFileSync(staged, this.#content());
    renameSync(staged, path);
    this.#note(kind, path);
    this.#add(path);
  }

  #rewrite(path: string): void {
    if (!isRegular(path)) return;
    writeFileSync(path, this.#content());
    this.#note('rewritten', path);
  }

  #append(path: string): void {
    if (!isRegular(path)) return;
    appendFileSync(path, `one more ${String(++this.#number)}\n`);
    this.#note('appended', path);
  }

  #truncate(path: string): void {
    if (!isRegular(path)) return;
    truncateSync(path, this.#random.integer(0, 100));
    this.#note('truncated', path);
  }

  #rename(path: string, to: string): void {
    if (path === to) return;
    renameSync(path, to);
    this.#note(`renamed to ${to}`, path, 'renamed');
    this.#note(`renamed from ${path}`, to, 'renamed');
    // Two names of one file: the system does nothing.
    if (isThere(path)) return;
    this.#remove(path);
    this.#add(to);
  }

  #delete(path: string): void {
    unlinkSync(path);
    this.#note('deleted', path);
    this.#remove(path);
  }

  /** Gone and back at once, as another file. */
  #recreate(path: string): void {
    unlinkSync(path);
    writeFileSync(path, this.#content());
    this.#note('recreated', path);
  }

  #chmod(path: string): void {
    if (!isRegular(path)) return;
    chmodSync(path, this.#random.pick(MODES));
    this.#note('chmod', path);
  }

  #touch(path: string): void {
    if (!isRegular(path)) return;
    const seconds = this.#random.integer(1_000_000_000, 1_800_000_000);
    utimesSync(path, seconds, seconds);
    this.#note('touched', path);
  }

  #symlink(): void {
    const path = this.#newPath();
    symlinkSync(`nowhere-${String(++this.#number)}`, path);
    this.#note('symlink', path);
    this.#add(path);
  }

  #link(path: string): void {
    if (!isRegular(path)) return;
    const to = this.#newPath();
    linkSync(path, to);
    this.#note(`link to ${path}`, to, 'link');
    this.#add(to);
  }

  /** A directory with some files, made at once, as a package is unpacked. */
  #makeTree(): void {
    const directory = join(this.#someDirectory(), `d${String(++this.#number)}`);
    const inner = join(directory, 'inner');
    const directories = this.#random.chance(0.5) ? [directory, inner] : [directory];
    mkdirSync(directories.at(-1) ?? directory, { recursive: true });
    this.#directories.push(...directories);
    for (let file = this.#random.integer(1, MOST_OF_TREE); file > 0; file -= 1) {
      const path = join(this.#random.pick(directories), this.#newName());
      writeFileSync(path, this.#content());
      this.#note('made in a tree', path);
      this.#add(path);
    }
  }

  #renameDirectory(): void {
    const from = this.#innerDirectory();
    if (from === undefined) return;
    // Few of the large ones: the other operations are to be seen beside them.
    if (this.#filesWithin(from).length > LARGE_TREE && !this.#random.chance(0.05)) return;
    const outside = this.#directories.filter((directory) => !isWithin(directory, from));
    const to = join(this.#random.pick(outside), `r${String(++this.#number)}-${basename(from).slice(0, 20)}`);
    renameSync(from, to);
    const moved = (path: string): string => to + path.slice(from.length);
    this.#directories = this.#directories.map((path) => (isWithin(path, from) ? moved(path) : path));
    for (const path of this.#filesWithin(from)) {
      this.#note(`its directory renamed to ${to}`, path, 'renamed with its directory');
      this.#note(`its directory renamed from ${from}`, moved(path), 'renamed with its directory');
      this.#remove(path);
      this.#add(moved(path));
    }
  }

  #deleteDirectory(): void {
    const directory = this.#innerDirectory();
    if (directory === undefined || this.#filesWithin(directory).length > LARGE_TREE) return;
    removeTree(directory);
    this.#directories = this.#directories.filter((path) => !isWithin(path, directory));
    for (const path of this.#filesWithin(directory)) {
      this.#note('deleted with its directory', path);
      this.#remove(path);
    }
  }

  #innerDirectory(): string | undefined {
    const inner = this.#directories.filter((path) => !this.#roots.includes(path));
    return inner.length === 0 ? undefined : this.#random.pick(inner);
  }

  #filesWithin(directory: string): string[] {
    return this.#files.filter((path) => isWithin(path, directory));
  }

  #note(what: string, path: string, kind = what): void {
    this.operations += 1;
    this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + 1);
    const time = new Date().toISOString().slice(11, 23);
    this.#history.set(path, [...this.historyOf(path), `${time} ${what}`].slice(-MOST_HISTORY));
  }

  #add(path: string): void {
    if (this.#places.has(path)) return;
    this.#places.set(path, this.#files.length);
    this.#files.push(path);
  }

  #remove(path: string): void {
    const place = this.#places.get(path);
    const last = this.#files.pop();
    this.#places.delete(path);
    if (place === undefined || last === undefined || last === path) return;
    this.#files[place] = last;
    this.#places.set(last, place);
  }
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

/** Whether what it stands for can be written to: links of this churn lead nowhere. */
function isRegular(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
