import { foldersOf, type Manifest } from './manifest.js';

/** What is to be done with the files here to have those of the cluster. */
export type MergePlan = {
  /** Paths whose content is taken from the cluster. */
  readonly write: readonly string[];
  /** Paths that go. */
  readonly remove: readonly string[];
  /** Those of `write` and `remove` where something is here that nobody else has: it is kept elsewhere. */
  readonly conflicts: ReadonlySet<string>;
};

/**
 * Merges path by path what the cluster has with what is here, on what both had before. What only one side has changed is
 * taken from there; what both have changed is taken from the cluster.
 * @param base undefined when the two never had anything in common: then everything is taken from the cluster
 */
export function mergeSets(base: Manifest | undefined, theirs: Manifest, ours: Manifest): MergePlan {
  const write: string[] = [];
  const remove: string[] = [];
  const conflicts = new Set<string>();
  const kept: string[] = [];
  for (const path of new Set([...theirs.keys(), ...ours.keys(), ...(base?.keys() ?? [])])) {
    const there = theirs.get(path)?.sha256;
    const here = ours.get(path)?.sha256;
    const before = base?.get(path)?.sha256;
    if (there === here) continue;
    if (base !== undefined && there === before) {
      if (here !== undefined) kept.push(path);
      continue;
    }
    (there === undefined ? remove : write).push(path);
    if (here !== undefined && here !== before) conflicts.add(path);
  }
  for (const path of inTheWay(kept, theirs)) {
    remove.push(path);
    conflicts.add(path);
  }
  return { write, remove, conflicts };
}

/** Files kept here where the cluster has a folder, or in what is a file there. */
function inTheWay(kept: readonly string[], theirs: Manifest): string[] {
  const folders = new Set([...theirs.keys()].flatMap(foldersOf));
  return kept.filter((path) => folders.has(path) || foldersOf(path).some((folder) => theirs.has(folder)));
}
