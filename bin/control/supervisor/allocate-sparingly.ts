/**
 * Settings of the allocator of glibc, which other systems do not look at. A thread that meets another one in the allocator
 * gets an arena of its own, and what it has freed stays there: collecting garbage and compiling leave some megabytes in each
 * of a dozen. And once a large block was freed, later ones come from the heap instead of from the system: one that LMDB asks
 * for, 16 MiB of zeros that are hardly ever used, is then filled with them.
 */
const ALLOCATOR: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '2',
  /** Bytes: what it begins with anyway, and stays with as it is set. */
  MALLOC_MMAP_THRESHOLD_: '131072',
};

/** An environment in which processes hold less memory, unless it says already how they are to allocate it. */
export function allocateSparingly(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...ALLOCATOR, ...environment };
}
